// Tests plan, sync and explain of a group whose new members wait for their held removals from another group.
import { openPlace, type Place } from '../support/situation.ts';

const removeMembers = { count: 0, percent: 0 };
const EVE = 'eve@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { removeMembers } } });
  const { idp } = place;
  const eve = await idp.createUser(EVE);
  const bob = await idp.createUser('bob@acme.example');
  const finance = await idp.createGroup('Finance', [eve, bob]);
  const sales = await idp.createGroup('Sales', [bob]);
  await place.idle();
  await idp.patch(`/Groups/${finance}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await place.idle();
  await idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: eve }] });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

test('the removal of a person from one group is held → plan lists the addition to another group as waiting, not as a change', async () => {
  const { text } = await place.commands.run('plan', '--all');
  expect(text).toContain('waits for the held removal of the person from another group');
  expect(text).not.toContain('1 membership to add');
});

test('a new member waits for a held removal from another group → sync and explain of the group say so', async () => {
  const { json, code } = await place.commands.run('sync', 'Sales', '--json');
  expect([json].flat()[0]).toMatchObject({ outcome: 'held', message: expect.stringContaining(EVE) });
  expect(code).toBe(2);
  const [found] = (await place.commands.run('explain', 'Sales', '--json')).json;
  expect(found.verdict).toBe('held');
  expect(found.summary).not.toContain('as desired');
});

test('the held removal from the former group is approved → the person is in the new group only', async () => {
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', approval.id, '--yes');
  await place.idle();
  expect((await place.platform.user(EVE))?.groups).toEqual(['Sales']);
});
