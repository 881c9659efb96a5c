// Tests that plan and sync --dry-run announce the changes of a person that wait behind a change that the guard is to hold.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const mail = (name: string): string => `${name}@acme.example`;

let place: Place;
beforeAll(async () => {
  const attributes = { country: { type: 'string', from: 'title' } };
  place = await openPlace({ target: { guard: { deactivate: NONE, removeMembers: NONE }, attributes } });
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

test('a deactivation or removal will be held → plan counts the values and additions that wait for it as held too, and a run writes none', async () => {
  const { idp, platform } = place;
  const bob = await idp.createUser(mail('bob'), { title: 'DE' });
  const eve = await idp.createUser(mail('eve'), { title: 'DE' });
  const south = await idp.createGroup('south', []);
  const north = await idp.createGroup('north', [eve]);
  await place.idle();
  await place.commands.run('hold', '--by', 'olga');
  const title = { op: 'replace', path: 'title', value: 'FR' };
  // Core values are written before the decision about a deactivation, and after the attributes of a person who leaves a group.
  const renamed = { op: 'replace', path: 'displayName', value: 'New Name' };
  await idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: false }, title, renamed);
  await idp.patch(`/Users/${eve}`, title, renamed);
  await idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await idp.patch(`/Groups/${south}`, {
    op: 'add',
    path: 'members',
    value: [{ value: bob }, { value: eve }],
  });
  const plan = await told('plan', '--all');
  expect(plan).toContain(
    '8 changes. 1 to deactivate, 1 membership to remove, 2 memberships to add, 2 to update, 2 attributes to set. The guard is to hold 7 of them',
  );
  expect(await told('sync', mail('bob'), '--dry-run')).toMatch(/setAttribute country \([^)]*to be held/);
  await place.commands.run('release', '--by', 'olga');
  // The bridge is not idle: the mark of eve stays until the decision.
  await eventually('the guard holds both', async () => {
    const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
    return approval?.kinds.deactivate === 1 && approval.kinds.removeMembers === 1;
  });
  expect((await platform.user(mail('bob')))?.displayName).toBe('New Name');
  expect((await platform.user(mail('eve')))?.displayName).not.toBe('New Name');
  for (const name of ['bob', 'eve'])
    expect(await platform.user(mail(name))).toMatchObject({ active: true, attributes: { country: 'DE' } });
  expect((await platform.group('south'))?.members).toEqual([]);
  expect((await platform.group('north'))?.members).toEqual([mail('eve')]);
}, 60_000);
