// Tests a group of which one removal is held, and another one was approved and fails at the platform: the held one stays listed.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const CID = 'cid@acme.example';
const DAN = 'dan@acme.example';

let place: Place;
let id: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { removeMembers: { count: 0, percent: 0 } } } });
  const members = [await place.idp.createUser(CID), await place.idp.createUser(DAN)];
  const sales = await place.idp.createGroup('Sales', members);
  await place.idle();
  for (const member of members)
    await place.idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${member}"]` });
  await place.idle();
  id = (await run('approvals', 'list', '--json')).json[0].id;
}, 30_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const approveCid = () => run('approvals', 'approve', id, '--person', CID, '--yes');
const heldNames = async (): Promise<string[]> =>
  (await run('exceptions', '--reason', 'Held', '--json')).json.map(({ name }: { name: string }) => name);

test('a group has an approved removal that the platform ignores, and a held one → exceptions, status and explain still show the held removal', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'scim/v2/Groups', times: 9999, ignoreMembers: { share: 1 } }],
  });
  await approveCid();
  await eventually('the removal has failed', async () =>
    (await run('explain', 'Sales', '--json')).json[0].link.attempts > 0 ? true : undefined,
  );
  expect(await heldNames()).toEqual(['Sales']);
  expect((await run('exceptions')).text).toContain('in the group; the guard holds the removal of members. ');
  expect((await run('status', '--json')).json[0]).toMatchObject({
    guard: { held: 1 },
    exceptions: { Held: 1 },
  });

  const dan = await run('explain', DAN, '--all');
  expect(dan.text).toContain('scim-bridge approvals show default.main.');
  expect(dan.text).not.toContain('failed since');
  expect((await run('explain', CID, '--all')).text).toContain('kept 1 of 1 member');
  expect((await run('explain', 'Sales', '--all')).text).not.toContain('It waits until');
}, 60_000);

test('while the target is on hold, one of two held removals of a group is approved → the group stays an exception until the other removal is rejected', async () => {
  await run('hold');
  await approveCid();
  expect(await heldNames()).toEqual(['Sales']);
  await run('approvals', 'reject', id, '--person', DAN, '--yes');
  expect(await heldNames()).toEqual([]);
  expect((await run('exceptions', '--reason', 'Rejected', '--json')).json).toHaveLength(1);
}, 60_000);
