// Tests that apply and reconcile write the memberships of their plan when no worker runs.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const mail = (name: string): string => `${name}@acme.example`;
// The rule reads groups, so a changed membership marks the person too.
const regions = { type: 'string_array', expression: '[groups.display[$match($, /^region-/)]]' };

let place: Place;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({ target: { attributes: { regions } } });
  ids = {};
  for (const name of ['ann', 'bob']) ids[name] = await place.idp.createUser(mail(name));
  for (const name of ['team', 'crew']) ids[name] = await place.idp.createGroup(name, [ids.bob ?? '']);
  await place.idle();
  // From here on no worker runs.
  await place.stopApps();
  await place.start('api');
}, 60_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const membersOf = async (group: string): Promise<string[]> =>
  ((await place.platform.state()).groups.find((each) => each.displayName === group)?.members ?? [])
    .map(String)
    .toSorted();

test('the group of a new person is made before the account → reconcile writes the membership and activates the account', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'POST', path: '/Users$', latencyMs: 1500 }],
  });
  ids.cid = await place.idp.createUser(mail('cid'));
  await place.idp.createGroup('club', [ids.cid]);
  await expect(run('reconcile', '--yes', '--deadline', '40s')).resolves.toMatchObject({ code: 0 });
  await expect(membersOf('club')).resolves.toEqual([mail('cid')]);
  await expect(place.platform.user(mail('cid'))).resolves.toMatchObject({ active: true });
}, 90_000);
