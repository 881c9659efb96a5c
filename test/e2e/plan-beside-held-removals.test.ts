// Tests that plan and sync --dry-run say which removals the guard is to hold when they are written.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ONE = { count: 1, percent: 100 };
const NAMES = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay'];
const mail = (name: string): string => `${name}@acme.example`;

let place: Place;
const ids = new Map<string, string>();
let crew = '';
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: ONE, removeMembers: ONE } } });
  for (const name of NAMES) ids.set(name, await place.idp.createUser(mail(name)));
  crew = await place.idp.createGroup('crew', [...ids.values()]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);
const deactivate = (name: string) =>
  place.idp.patch(`/Users/${ids.get(name)}`, { op: 'replace', path: 'active', value: false });
const leaveCrew = (name: string) =>
  place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${ids.get(name)}"]` });
const isOpen = async (name: string) => (await place.platform.user(mail(name)))?.active;

/** Pushes while nothing is written. @returns the plan */
async function whileOnHold(push: () => Promise<unknown>): Promise<string> {
  await place.commands.run('hold', '--by', 'olga');
  await push();
  const plan = await told('plan');
  return plan;
}

async function release(): Promise<void> {
  await place.commands.run('release');
  await place.idle();
}

const HELD = 'to be held by the guard until an operator decides or the approval expires';

test('a plan of removals within the limits does not mention the guard', async () => {
  const plan = await whileOnHold(async () => {
    await deactivate('ann');
    await leaveCrew('bob');
  });
  await release();
  expect(await isOpen('ann')).toBe(false);
  expect(await told('approvals', 'list')).toContain('The guard holds nothing');
  expect(plan).toContain('1 to deactivate');
  expect(plan).not.toContain('guard');
}, 30_000);

test('the limits of the guard are used up → plan and sync --dry-run announce each further removal as held, and the guard holds it', async () => {
  await deactivate('cid');
  await leaveCrew('dan');
  await place.idle();
  const plan = await whileOnHold(async () => {
    await deactivate('eve');
    await leaveCrew('fay');
  });
  const dryRun = await told('sync', mail('eve'), '--dry-run');
  await release();
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  const shown = await told('approvals', 'show', approval.id);
  for (const name of ['eve', 'fay']) expect(shown).toContain(mail(name));
  expect(await isOpen('eve')).toBe(true);
  expect(plan).toContain(
    '2 changes. 1 to deactivate, 1 membership to remove. The guard is to hold 2 of them: an operator has to approve.',
  );
  expect(plan.split(HELD)).toHaveLength(3);
  expect(dryRun).toContain(HELD);
}, 30_000);

test('an approved deactivation is not written yet → plan lists it and does not mention the guard', async () => {
  await place.commands.run('hold', '--by', 'olga');
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  const plan = await told('plan');
  await release();
  expect(await isOpen('eve')).toBe(false);
  expect(plan).toContain('2 to deactivate');
  expect(plan).not.toContain('guard');
}, 30_000);
