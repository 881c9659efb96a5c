// Tests that plan and sync --dry-run say when the guard is to hold the deletion of a group because of the number of its members.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HELD = 'to be held by the guard until an operator decides or the approval expires';
const mail = (name: string): string => `${name}@acme.example`;

let place: Place;
const ids = new Map<string, string>();
const groups = new Map<string, string>();
beforeAll(async () => {
  const removeMembers = { count: 2, percent: 100 };
  place = await openPlace({ target: { guard: { removeMembers } } });
  for (const name of ['ann', 'bob', 'cid']) ids.set(name, await place.idp.createUser(mail(name)));
  await place.idp.createUser(mail('dan'), { active: false }).then((id) => ids.set('dan', id));
  const members: Record<string, string[]> = { pair: ['ann', 'bob', 'dan'], team: ['ann', 'bob', 'cid'] };
  for (const [group, names] of Object.entries(members))
    groups.set(
      group,
      await place.idp.createGroup(
        group,
        names.map((name) => ids.get(name) ?? ''),
      ),
    );
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

test('the source deletes a group with more members than the guard allows to remove → plan and sync --dry-run announce a held deletion, and the guard holds it', async () => {
  await place.commands.run('hold', '--by', 'olga');
  await place.idp.send('DELETE', `/Groups/${groups.get('team')}`);
  // A member of the deleted group waits for the decision before joining another one.
  await place.idp.createGroup('extra', [ids.get('ann') ?? '']);
  const plan = await told('plan');
  const dryRun = await told('sync', mail('ann'), '--dry-run');
  await place.commands.run('release');
  await place.idle();
  expect(await place.platform.group('team')).toBeDefined();
  expect((await place.platform.group('extra'))?.members).toEqual([]);
  expect(plan).toMatch(/^.*3 changes\. .*The guard is to hold 2 of them/);
  expect(plan).toContain(HELD);
  expect(dryRun).toContain(HELD);
}, 60_000);

test('the source deletes a group whose members fit into the guard limit → plan does not mention the guard, and the deletion is written', async () => {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect(await place.platform.group('team')).toBeUndefined();
  expect((await place.platform.group('extra'))?.members).toEqual([mail('ann')]);
  await place.commands.run('hold', '--by', 'olga');
  await place.idp.send('DELETE', `/Groups/${groups.get('pair')}`);
  const plan = await told('plan');
  const dryRun = await told('sync', mail('bob'), '--dry-run');
  await place.commands.run('release');
  await place.idle();
  expect(await place.platform.group('pair')).toBeUndefined();
  expect(dryRun).toContain('would write: delete pair (deleted at the source, with all its memberships)');
  expect(dryRun).not.toContain('removeMember');
  expect(plan).toContain('1 change. 1 to delete');
  expect(plan).not.toContain('guard');
}, 60_000);
