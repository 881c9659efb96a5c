// Tests which removals from groups plan and sync --dry-run announce as held, beside those that the guard then holds.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const HELD = 'to be held by the guard';
const GROUPS = ['east', 'north', 'west'];

let place: Place;
afterEach(() => place.stop());

const { told } = commandsAt(() => place);
const groupsOf = async (name: string) => (await place.platform.user(name))?.groups;
const leave = (group: string, user: string) =>
  place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${user}"]` });

test('a person was added to three groups by hand and two removals are allowed → plan announces all three as held, but sync of the person makes two and holds one', async () => {
  const removeMembers = { count: 2, percent: 100 };
  place = await openPlace({ target: { groups: { members: 'authoritative' }, guard: { removeMembers } } });
  await place.idp.createUser(BOB);
  const ann = await place.idp.createUser(ANN);
  for (const name of GROUPS) await place.idp.createGroup(name, [ann]);
  await place.idle();
  const value = [{ value: (await place.platform.user(BOB))?.scimId }];
  for (const name of GROUPS)
    await byHand(place, 'PATCH', `/Groups/${(await place.platform.group(name))?.scimId}`, {
      op: 'add',
      path: 'members',
      value,
    });
  expect(await told('plan')).toContain('3 memberships to remove. The guard is to hold 3 of them');
  const explained = await told('explain', BOB);
  expect(explained).toContain('the next reconcile that repairs asks the guard, which will hold it');
  const dryRun = await told('sync', BOB, '--dry-run');
  for (const name of GROUPS) expect(dryRun).toContain(`removeMember ${BOB} in ${name}`);
  expect(dryRun).not.toContain(HELD);
  expect(await told('sync', BOB)).toContain('the guard holds the removal from 1 group');
  expect(await groupsOf(BOB)).toHaveLength(1);
}, 60_000);

test('a removal is held, the limit is raised and the source removes another member → plan and sync --dry-run announce no new hold, and only the second removal is written', async () => {
  place = await openPlace({ target: { guard: { removeMembers: { count: 0, percent: 100 } } } });
  const [ann, bob] = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  const crew = await place.idp.createGroup('crew', [ann, bob]);
  await place.idle();
  await leave(crew, ann);
  await place.idle();
  await place.change(({ targets: { main } }) => {
    main.guard = { removeMembers: { count: 2, percent: 100 } };
  });
  await place.commands.run('hold', '--by', 'olga');
  await leave(crew, bob);
  expect(await told('plan')).toContain('1 change. 1 membership to remove. people');
  expect(await told('sync', 'crew', '--dry-run')).not.toContain(HELD);
  await place.commands.run('release');
  await place.idle();
  expect(await groupsOf(BOB)).toEqual([]);
  expect(await groupsOf(ANN)).toEqual(['crew']);
}, 60_000);

test("a group loses a leaver whose deactivation is held, and another member → plan and sync --dry-run announce only the leaver's changes as held, and the other removal is written", async () => {
  const none = { count: 0, percent: 100 };
  const two = { count: 2, percent: 100 };
  place = await openPlace({ target: { guard: { deactivate: none, removeMembers: two } } });
  const ids = new Map<string, string>();
  const people = ['ann', 'bob', 'cid'].map((name) => `${name}@acme.example`);
  for (const name of people) ids.set(name, await place.idp.createUser(name));
  const crew = await place.idp.createGroup('crew', [...ids.values()]);
  await place.idle();
  await place.idp.createGroup('east', [ids.get(ANN) ?? '']);
  await place.idle();
  for (const [index, name] of people.slice(1).entries()) {
    await place.commands.run('hold', '--by', 'olga');
    await leave(crew, ids.get(name) ?? '');
    if (index === 0) await place.idp.send('DELETE', `/Users/${ids.get(ANN)}`);
    for (const command of [
      ['sync', name, '--dry-run'],
      ['sync', 'crew', '--dry-run'],
    ]) {
      const lines = (await place.commands.run(...command)).text.split('\n');
      const heldOf = (who: string): boolean[] =>
        lines.flatMap((line) => (line.includes(`removeMember ${who} in crew`) ? [/held/.test(line)] : []));
      expect([command, heldOf(name)]).toEqual([command, [false]]);
      expect(heldOf(ANN)).not.toContain(false);
    }
    const plan = await told('plan');
    // The deactivation of the leaver, and the memberships in two groups that go with the account.
    if (index === 0) expect(plan).toContain('The guard is to hold 3 of them');
    else expect(plan).not.toContain('guard is to hold');
    await place.commands.run('release');
    await place.idle();
    expect(await groupsOf(name)).toEqual([]);
    expect(await groupsOf(ANN)).toContain('crew');
  }
}, 60_000);
