// Tests what of the guard's limit a deactivation uses that the source takes back before the platform has carried it out.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const [ANN, BOB] = ['ann@acme.example', 'bob@acme.example'] as const;

let place: Place;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 1, percent: 100 } } } });
  ids = { [ANN]: await place.idp.createUser(ANN), [BOB]: await place.idp.createUser(BOB) };
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const setActive = (name: string, value: boolean) =>
  place.idp.patch(`/Users/${ids[name]}`, { op: 'replace', path: 'active', value });
const answer = (status?: number) =>
  place.platform.control('PATCH', '/faults', {
    rules:
      status === undefined
        ? []
        : [{ method: 'PATCH', path: 'scim/v2/Users', times: 9999, status5xx: { share: 1, status } }],
  });
const isActive = async (name: string) => (await place.platform.user(name))?.active;

test('the platform refused a deactivation that the source then took back → the guard still counts it, and holds the next deactivation', async () => {
  await answer(403);
  await setActive(ANN, false);
  await place.idle();
  await setActive(BOB, false);
  await place.idle();
  const [{ id }] = (await run('approvals', 'list', '--json')).json;
  const { text } = await run('approvals', 'show', id);
  expect(text).toMatch(/ counted \S+: ann@acme\.example/);
  expect(text).toContain(
    'counted: the guard allowed the write; scim-bridge log tells whether it succeeded, as far back',
  );
  await answer();
  await setActive(BOB, true);
  await setActive(ANN, true);
  await place.idle();
  await setActive(BOB, false);
  await place.idle();
  expect([await isActive(ANN), await isActive(BOB)]).toEqual([true, true]);
}, 60_000);
