// Tests the members of an adopted group, which was made by hand: what is written, and whom the log and plan name as added.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import type { PlanEntry } from '../../src/reconcile/entry.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann@acme.example', 'bob@acme.example', 'eve@acme.example'];
const EVE = 'eve@acme.example';

let place: Place;
/** Id at the bridge → userName. */
const ids = new Map<string, string>();

/** Changes the platform by hand, with the key of an administrator. */
async function meddle(path: string, body: object): Promise<{ id: string }> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const answer = await fetch(`${platformUrl}/api/scim/v2${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as { id: string };
}

beforeAll(async () => {
  place = await openPlace({ target: { adopt: 'exact' } });
  for (const displayName of ['crew', 'staff', 'late', 'blind', 'mixed']) {
    const members: { value: string }[] = [];
    for (const name of NAMES.filter((each) => each !== EVE)) {
      const userName = `${displayName}-${name}`;
      const { id } = await meddle('/Users', {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName,
        active: true,
      });
      members.push({ value: id });
    }
    await meddle('/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName,
      members,
    });
  }
}, 60_000);
afterAll(() => place.stop());

/** Pushes the people of a group, and returns their ids. */
async function people(group: string): Promise<string[]> {
  const members: string[] = [];
  for (const name of NAMES) {
    const id = await place.idp.createUser(`${group}-${name}`);
    ids.set(id, `${group}-${name}`);
    members.push(id);
  }
  return members;
}

/** Returns the userNames of the members whom the log calls added. */
async function addedTo(group: string): Promise<string[]> {
  const { lines } = await place.commands.run('log', '--resource', group, '--json');
  return lines
    .map((line) => JSON.parse(line) as { operation: string; members: string[] })
    .filter(({ operation }) => operation === 'addMembers')
    .flatMap(({ members }) => members.map((id) => ids.get(id) ?? id))
    .toSorted();
}

/** Returns the names of the members whom a plan adds to the group. */
async function plannedFor(group: string): Promise<string[]> {
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file);
  const [plan] = (JSON.parse(readFileSync(file, 'utf8')) as { plans: { entries: PlanEntry[] }[] }).plans;
  return (plan?.entries ?? [])
    .filter(({ action, name }) => action === 'addMember' && name === group)
    .map(({ member }) => member?.name ?? '');
}

const all = (group: string): string[] => NAMES.map((name) => `${group}-${name}`);
const membersOf = async (group: string): Promise<string[] | undefined> =>
  (await place.platform.group(group))?.members.toSorted();

test('the source pushes an adopted group that lacks one member → only this member is written, and plan and log name only this member as added', async () => {
  const members = await people('crew');
  await place.idle();
  await place.commands.run('hold', '--by', 'olga');
  await place.idp.createGroup('crew', members);
  await expect(plannedFor('crew')).resolves.toEqual([`crew-${EVE}`]);
  await place.commands.run('release', '--by', 'olga');
  await place.idle();
  await expect(addedTo('crew')).resolves.toEqual([`crew-${EVE}`]);
  await expect(membersOf('crew')).resolves.toEqual(all('crew'));
}, 30_000);

test("the members' accounts are adopted later than their adopted group → the log names only the missing member as added", async () => {
  const slow = { method: 'GET', path: '/Users$', latencyMs: 300 };
  await place.platform.control('PATCH', '/faults', { rules: [slow] });
  const members = await people('staff');
  await place.idp.createGroup('staff', members);
  await place.idle();
  await place.platform.control('PATCH', '/faults', { rules: [] });
  await expect(addedTo('staff')).resolves.toEqual([`staff-${EVE}`]);
  await expect(membersOf('staff')).resolves.toEqual(all('staff'));
}, 30_000);

test('the source removes and re-adds a member of an adopted group while reads still show the membership → the addition is written', async () => {
  const unmade = { method: 'POST', path: '/Users$', latencyMs: 9000 };
  await place.platform.control('PATCH', '/faults', { rules: [unmade] });
  const members = await people('late');
  const group = await place.idp.createGroup('late', members);
  const has = (names: string[]) => async () => `${(await membersOf('late'))?.join()}` === names.join();
  const pending = async () => place.redis.hgetall(await place.key(`:pendingMembers:main:${group}`));
  await eventually('the group is adopted', async () => Object.keys(await pending()).length === 1, 10_000);
  await place.platform.control('PATCH', '/faults', { rules: [unmade], staleReadsMs: 5000 });
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${members[0]}"]` });
  await eventually('a member is removed', has(all('late').slice(1, 2)));
  await place.idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: members[0] }] });
  await eventually('the member is added again', has(all('late').slice(0, 2)), 10_000);
  await place.platform.control('PATCH', '/faults', {});
  await place.idle();
  await expect(membersOf('late')).resolves.toEqual(all('late'));
}, 60_000);

test('all members of an adopted group are added when its member list cannot be read', async () => {
  const path = '/Groups/[^/]*$';
  const refused = { method: 'GET', path, status5xx: { share: 1, status: 403 } };
  await place.platform.control('PATCH', '/faults', { rules: [refused] });
  await place.idp.createGroup('blind', await people('blind'));
  await place.idle();
  await place.platform.control('PATCH', '/faults', { rules: [] });
  await expect(membersOf('blind')).resolves.toEqual(all('blind'));
}, 30_000);

test('plan of an adopted group from which the source removed one member lists exactly the additions that the worker then writes', async () => {
  const members = await people('mixed');
  await place.idle();
  await place.commands.run('hold', '--by', 'olga');
  const group = await place.idp.createGroup('mixed', members);
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${members[1]}"]` });
  const planned = await plannedFor('mixed');
  await place.commands.run('release', '--by', 'olga');
  await place.idle();
  const [ann = '', bob = '', eve = ''] = all('mixed');
  await expect(membersOf('mixed')).resolves.toEqual([ann, eve]);
  await expect(addedTo('mixed')).resolves.toEqual(planned.toSorted());
  expect(planned).not.toContain(bob);
}, 30_000);
