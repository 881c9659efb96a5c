// Tests groups that others deleted at the platform while changes of their members wait for a decision.
import '../support/load-modules.ts';
import { join } from 'node:path';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const [ANN, BOB, CID, DAN] = ['ann', 'bob', 'cid', 'dan'].map((name) => `${name}@acme.example`) as [
  string,
  string,
  string,
  string,
];
const NONE = { count: 0, percent: 0 };

let place: Place;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, removeMembers: NONE } } });
  const { idp } = place;
  const ids = [];
  for (const name of [ANN, BOB, CID, DAN]) ids.push(await idp.createUser(name));
  const [ann = '', bob = '', cid = ''] = ids;
  const ops = await idp.createGroup('ops', ids);
  await idp.createGroup('sales', [ann, bob]);
  await place.idle();
  await idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  for (const user of [bob, cid])
    await idp.patch(`/Groups/${ops}`, { op: 'remove', path: `members[value eq "${user}"]` });
  await eventually('three changes are held', async () =>
    (await told('approvals', 'list')).includes('held 1 to deactivate, 2 to take out of groups'),
  );
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json as { id: string }[];
  await place.commands.run('approvals', 'reject', approval?.id ?? '', '--person', CID, '--yes');
  await place.idle();
  const { groups } = await place.platform.state();
  for (const { scimId } of groups) await byHand(place, 'DELETE', `/Groups/${scimId}`);
}, 60_000);
afterEach(() => place.stop());

const { told } = commandsAt(() => place);
const membersOf = async (name: string): Promise<string[] | undefined> =>
  (await place.platform.group(name))?.members.toSorted();

test('groups deleted at the platform are created again → plan lists the memberships that apply writes, without that of a held leaver', async () => {
  const file = join(place.commands.folder, 'plan.json');
  const plan = await told('plan', '--out', file);
  for (const added of [`${DAN} in ops`, `${BOB} in sales`])
    expect(plan).toContain(`+ addMember person ${added}`);
  expect(plan).not.toContain(`+ addMember person ${ANN}`);
  const dry = await told('sync', ANN, '--dry-run');
  const [, unwritten = ''] = dry.split('differs and is not written');
  expect(unwritten).toContain(`addMember ${ANN} in ops`);
  await place.commands.run('apply', file, '--yes');
  await place.idle();
  expect(await membersOf('ops')).toEqual([DAN]);
  expect(await membersOf('sales')).toEqual([BOB]);
}, 60_000);

test('somebody deletes a group with held and rejected removals at the platform → the sync that creates it again ends these removals', async () => {
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await membersOf('ops')).toEqual([DAN]);
  const { text, code } = await place.commands.run('plan');
  expect(text).toContain('groups: 2 in all: 2 linked (2 shown by the platform), 0 missing');
  expect(text).not.toContain('reconcile, which looks at what is missing');
  expect(code).toBe(0);
  const exceptions = await told('exceptions');
  expect(exceptions).toContain(ANN);
  expect(exceptions).not.toContain('ops');
  expect(await told('explain', 'ops')).not.toContain('It is an exception');
}, 60_000);

test('somebody deletes a group with a held removal at the platform → explain and sync --dry-run of the member no longer announce the removal', async () => {
  const explained = await told('explain', BOB);
  expect(explained).not.toContain('1 group still to be left');
  expect(explained).not.toContain('holds :');
  expect(explained).toContain('At the platform it is not in ops: the next reconcile takes');
  expect(await told('sync', BOB, '--dry-run')).not.toContain('removeMember');
}, 60_000);
