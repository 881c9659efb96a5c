// Tests names that pass from one resource to another while the change of the holder is pending for long: the heir waits, and gets
// the name as soon as it is free.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const LONG_MS = 40_000;

let place: Place;
afterEach(() => place.stop());

const explained = async (ref: string) => (await place.commands.run('explain', ref, '--json')).json?.[0];
const reasonOf = async (ref: string): Promise<unknown> => (await explained(ref))?.condition?.reason;
const letters = async () =>
  (await place.commands.run('dead-letters', 'list', '--json')).json as { ref: string; message: string }[];
const renamePerson = (id: string, value: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value });
const renameGroup = (id: string, value: string) =>
  place.idp.patch(`/Groups/${id}`, { op: 'replace', path: 'displayName', value });
const nameOfExternal = async (externalId: string): Promise<string | undefined> =>
  (await place.platform.state()).users.find((user) => user.externalId === externalId)?.userName;
const groupNames = async (): Promise<string[]> =>
  (await place.platform.state()).groups.map(({ displayName }) => displayName).sort();
const mend = () => place.platform.control('PATCH', '/faults', { rules: [] });

/** Makes all writes to these accounts or groups fail with a status. */
async function fail(path: string, status = 503): Promise<void> {
  const rules = [{ method: 'PATCH', path: `${path}$`, status5xx: { share: 1, status }, times: 10_000 }];
  await place.platform.control('PATCH', '/faults', { rules });
}

async function eventuallyWaits(id: string): Promise<void> {
  await eventually('it waits', async () => (await reasonOf(id)) === 'NameTaken', LONG_MS);
}

test('two people wait in turn for the userName of a person whose rename fails → both get their names soon after the platform recovers, without a dead letter', async () => {
  place = await openPlace({});
  const people: string[] = [];
  for (const name of ['ann', 'bob', 'cyd']) people.push(await place.idp.createUser(`${name}@acme.example`));
  const [ann = '', bob = '', cyd = ''] = people;
  await place.idle();
  await fail(`/Users/${(await place.platform.user('ann@acme.example'))?.scimId ?? ''}`);
  await renamePerson(ann, 'new@acme.example');
  await renamePerson(bob, 'ann@acme.example');
  await renamePerson(cyd, 'bob@acme.example');
  await eventuallyWaits(`User:${bob}`);
  await eventuallyWaits(`User:${cyd}`);
  const found = await explained(`User:${bob}`);
  expect(found.verdict).toBe('onItsWay');
  expect(found.summary).toContain(`it waits until User:${ann} gives up a name or account`);
  expect(found.condition.advice).toContain('as soon as the name is free');
  expect((await place.commands.run('status')).text.replaceAll(/\s+/g, ' ')).toContain(
    `it waits until User:${ann}`,
  );
  const links = await place.key(':links:main');
  const stored = JSON.parse((await place.redis.hget(links, `User:${bob}`)) ?? '') as {
    successionAttempts: number;
  };
  expect(stored.successionAttempts).toBeLessThan(5);
  expect(await letters()).toEqual([]);
  await mend();
  await place.commands.run('sync', `User:${ann}`);
  await eventually(
    'the last has its name',
    async () => (await nameOfExternal('ext-cyd@acme.example')) === 'bob@acme.example',
    10_000,
  );
  expect(await nameOfExternal('ext-bob@acme.example')).toBe('ann@acme.example');
  expect(await reasonOf(`User:${cyd}`)).toBeUndefined();
}, 120_000);

test('a new group waits for the name of a group whose rename fails → the new group is created once the name is free', async () => {
  place = await openPlace({});
  const first = await place.idp.createGroup('first', []);
  await place.idle();
  const scimId = (await place.platform.state()).groups[0]?.scimId ?? '';
  await fail(`/Groups/${scimId}`);
  await renameGroup(first, 'former');
  const second = await place.idp.createGroup('first', []);
  await eventuallyWaits(`Group:${second}`);
  await mend();
  await place.commands.run('sync', `Group:${first}`);
  await eventually('both', async () => (await groupNames()).join() === 'first,former', 10_000);
  expect(await letters()).toEqual([]);
}, 120_000);

test('a group waits for the name of a group whose rename fails → reconcile ends before its deadline', async () => {
  place = await openPlace({});
  const first = await place.idp.createGroup('first', []);
  const second = await place.idp.createGroup('second', []);
  await place.idle();
  const { groups } = await place.platform.state();
  await fail(`/Groups/${groups.find(({ displayName }) => displayName === 'first')?.scimId ?? ''}`);
  await renameGroup(first, 'former');
  await renameGroup(second, 'first');
  await eventuallyWaits(`Group:${second}`);
  const { code, text } = await place.commands.run('reconcile', '--yes', '--deadline', '30s');
  expect(code).not.toBe(0);
  expect(text).not.toContain('deadline');
}, 120_000);

test('a group whose rename is a dead letter blocks a second group, which blocks a third → explain names the first group, and its retry renames all three', async () => {
  place = await openPlace({});
  const ids: string[] = [];
  for (const name of ['first', 'second', 'third']) ids.push(await place.idp.createGroup(name, []));
  const [first = '', second = '', third = ''] = ids;
  await place.idle();
  const { groups } = await place.platform.state();
  await fail(`/Groups/${groups.find(({ displayName }) => displayName === 'first')?.scimId ?? ''}`, 422);
  await renameGroup(first, 'former');
  await eventually('a dead letter', async () => (await letters()).length === 1, LONG_MS);
  await renameGroup(second, 'first');
  await eventually('two dead letters', async () => (await letters()).length === 2, LONG_MS);
  await renameGroup(third, 'second');
  await eventually('three dead letters', async () => (await letters()).length === 3, LONG_MS);
  const { condition } = await explained(`Group:${third}`);
  expect(condition.message).toContain(`the group of Group:${second}, whose own change was refused`);
  expect(condition.message).toContain(`waits for the name of Group:${first}`);
  expect(condition.advice).toContain('this change follows by itself');
  await mend();
  expect((await place.commands.run('dead-letters', 'retry', `Group:${first}`)).code).toBe(0);
  await eventually('all', async () => (await groupNames()).join() === 'first,former,second', 20_000);
  expect(await letters()).toEqual([]);
}, 120_000);

test("three groups that are dead letters want each other's names → a retry of one renames all three", async () => {
  place = await openPlace({});
  const ids: string[] = [];
  for (const name of ['n1', 'n2', 'n3']) ids.push(await place.idp.createGroup(name, []));
  await place.idle();
  const wanted = ['n2', 'n3', 'n1'];
  const rules = [{ method: 'PATCH', path: '/Groups', status5xx: { share: 1, status: 422 }, times: 10_000 }];
  await place.platform.control('PATCH', '/faults', { rules });
  for (const id of ids) await renameGroup(id, `between ${id}`);
  await eventually('no name is written', async () => (await letters()).length === 3, LONG_MS);
  for (const [index, id] of ids.entries()) await renameGroup(id, wanted[index] ?? '');
  await eventually('three dead letters', async () => (await letters()).length === 3, LONG_MS);
  await place.idle();
  await mend();
  const before = new Map(
    (await place.platform.state()).groups.map((each) => [each.scimId, each.displayName]),
  );
  await place.commands.run('dead-letters', 'retry', `Group:${ids[0] ?? ''}`);
  await eventually('no dead letter', async () => (await letters()).length === 0, LONG_MS);
  await place.idle();
  for (const { scimId, displayName } of (await place.platform.state()).groups)
    expect(displayName).toBe(wanted[Number(before.get(scimId)?.slice(1)) - 1]);
}, 120_000);
