// Tests what the commands say without a worker about changes that wait for a decision: a worker would change nothing of them.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const NAMES = ['ann', 'bob', 'cid', 'dan', 'eve'];
const mail = (name: string): string => `${name}@acme.example`;
const work = (country: string) => [{ type: 'work', country }];

let place: Place;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({
    target: {
      guard: { removeMembers: NONE, clearAttributes: NONE },
      attributes: {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
      },
    },
  });
  ids = {};
  for (const name of NAMES) ids[name] = await place.idp.createUser(mail(name), { addresses: work('DE') });
  ids.crew = await place.idp.createGroup('crew', [ids.ann ?? '', ids.bob ?? '']);
  await place.idle();
  // From here on no worker runs.
  await place.stopApps();
  await place.start('api');
}, 60_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const reconcile = () => run('reconcile', '--yes', '--deadline', '30s');
const clear = (name: string): Promise<unknown> =>
  place.idp.patch(`/Users/${ids[name]}`, { op: 'remove', path: 'addresses' });

test('the guard holds clearings of attributes without a running worker → reconcile exits 2, and does not say that these wait for a worker', async () => {
  await clear('ann');
  await clear('bob');
  await reconcile();
  for (const name of ['cid', 'dan', 'eve']) await clear(name);
  for (const held of ['3 changes of this run, 3 of 5 in the approval', '5 changes']) {
    const { text, code } = await reconcile();
    expect(text).toContain(`the guard holds ${held}`);
    expect(text).not.toContain('for a worker');
    expect(code).toBe(2);
  }
  const { text } = await run('status');
  expect(text).toContain('0 not applied yet');
  expect(text).toContain('people: 5 in all: 0 linked, 5 held by the guard, 0 missing');
}, 90_000);

test('values wait for the held deletion of a group without a running worker → reconcile, status, explain and sync call these held, not waiting for a worker', async () => {
  await place.idp.send('DELETE', `/Groups/${ids.crew}`);
  for (const name of ['ann', 'bob'])
    await place.idp.patch(`/Users/${ids[name]}`, { op: 'replace', path: 'addresses', value: work('US') });
  const { text, code } = await reconcile();
  expect(text).toContain('the guard holds');
  expect(text).not.toContain('for a worker');
  expect(code).toBe(2);
  const status = await run('status');
  expect(status.text).toContain('0 not applied yet');
  expect(status.text).toMatch(/people: 5 in all: 3 linked \(.*\), 2 held by the guard, 0 missing/);
  const explain = await run('explain', mail('ann'), '--all');
  expect(explain.text).toContain('It waits until crew is left.');
  expect(explain.text).not.toContain('role worker');
  const sync = await run('sync', mail('ann'));
  expect(sync.text).toMatch(
    /held: the guard holds the removal from 1 group: crew: scim-bridge approvals show/,
  );
  expect(sync.code).toBe(2);
}, 90_000);
