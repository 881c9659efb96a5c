// Tests events.lua and the event stream: a change and its security event are stored in one step (ADR 0015).
import { createRandom } from '../../support/company.ts';
import { add, drop, idOf, openStore, replace, type Store, type StoreOptions } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const TEAM = idOf('team');
const EXTENSION = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ON: StoreOptions = { events: { mostPending: 1000, externalIds: false } };

const ada = { userName: 'ada@x.com', externalId: 'A-1', name: { givenName: 'Ada' }, active: true };

let store: Store;
afterEach(() => store.close());

/** Returns of each pending event: resource with version, types, and paths of changed attributes. */
const emitted = async () =>
  (await store.state.events.oldest(1000)).map(({ kind, resource, what, names, version }) => [
    `${kind}:${resource.replace(/0+$/, '')}@${version ?? 'gone'}`,
    what.join(' '),
    names.join(' '),
  ]);

test('security events contain the paths of changed attributes and no values', async () => {
  store = await openStore(ON);
  await store.putUser(ADA, ada);
  await store.putUser(ADA, { ...ada, name: { givenName: 'Augusta' }, [EXTENSION]: { department: 'R&D' } });
  await store.putUser(ADA, { ...ada, active: false, [EXTENSION]: { department: 'R&D' } });
  await store.putUser(ADA, { ...ada, active: true, [EXTENSION]: { department: 'Sales', division: 'EU' } });
  await store.remove('User', ADA);
  expect(await emitted()).toEqual([
    ['User:ada@1', 'create', 'active externalId name userName'],
    ['User:ada@2', 'put', `name ${EXTENSION}:department`],
    ['User:ada@3', 'put deactivate', 'active name'],
    ['User:ada@4', 'put activate', `active ${EXTENSION}:department ${EXTENSION}:division`],
    ['User:ada@gone', 'delete', ''],
  ]);
  const [kept = ''] = (await store.redis.xrange(store.keys.key('events'), '-', '+')).map(([, fields]) =>
    fields.join(' '),
  );
  for (const value of ['ada@x.com', 'A-1', 'Ada"', 'R&D']) expect(kept).not.toContain(value);
});

test('a write that changes nothing, is refused or conflicts adds no event', async () => {
  store = await openStore(ON);
  await store.putUser(ADA, ada);
  await store.putGroup(TEAM, 'Team', [add(ADA)]);
  const before = await emitted();
  await store.putUser(ADA, ada);
  await store.putUser(BOB, { userName: 'ADA@x.com' });
  await store.members(TEAM, add(ADA), drop(BOB));
  await store.members(TEAM, drop(ADA), add(ADA));
  await store.putGroup(TEAM, 'Team', [replace(ADA)]);
  await store.remove('Group', idOf('nobody'));
  expect(await emitted()).toEqual(before);
});

test('a change of members emits an event of the group, also when the creation or deletion of a user caused it', async () => {
  store = await openStore(ON);
  await store.putGroup(TEAM, 'Team', [add('ada@x.com')]);
  await store.putUser(ADA, ada);
  await store.members(TEAM, add('later@x.com'));
  await store.remove('User', ADA);
  expect(await emitted()).toEqual([
    ['Group:team@1', 'create', 'displayName members'],
    ['User:ada@1', 'create', 'active externalId name userName'],
    ['Group:team@2', 'patch', 'members'],
    ['Group:team@3', 'patch', 'members'],
    ['User:ada@gone', 'delete', ''],
    ['Group:team@4', 'patch', 'members'],
  ]);
  const transactions = (await store.state.events.oldest(10)).map(({ id, transaction }) => [id, transaction]);
  // Creating a user also changes the group that waited for it, and deleting it changes the group: each pair is one transaction.
  expect(transactions[2]?.[1]).toBe(transactions[1]?.[0]);
  expect(transactions[5]?.[1]).toBe(transactions[4]?.[0]);
  expect(new Set(transactions.map(([, transaction]) => transaction)).size).toBe(4);
});

test('if the settings ask for externalIds, each event of a user has the externalId, also the one about its deletion', async () => {
  store = await openStore({ events: { mostPending: 10, externalIds: true } });
  await store.putUser(ADA, ada);
  await store.remove('User', ADA);
  const found = await store.state.events.oldest(10);
  expect(found.map(({ externalId }) => externalId)).toEqual(['A-1', 'A-1']);
});

test('no event is stored while events are switched off', async () => {
  store = await openStore();
  await store.putUser(ADA, ada);
  await store.putGroup(TEAM, 'Team', [add(ADA)]);
  await store.remove('User', ADA);
  expect((await store.families()).filter((family) => family.startsWith('event'))).toEqual([]);
});

test('each version of each resource emits one event in order under concurrent writes', async () => {
  store = await openStore(ON);
  const random = createRandom(7);
  const users = Array.from({ length: 5 }, (_, index) => idOf(`user${index}`));
  const write = async (side: Store['state']['directory'], at: number): Promise<void> => {
    const id = users[Math.floor(random() * users.length)] ?? ADA;
    const common = { id, now: 1, request: 'r' };
    const choice = random();
    if (choice < 0.2) await side.changeMembers({ ...common, id: TEAM, steps: [add(id)] });
    else if (choice < 0.4) await side.changeMembers({ ...common, id: TEAM, steps: [drop(id)] });
    else {
      const resource = { userName: id, title: `t${at % 3}`, active: random() < 0.7 };
      const text = JSON.stringify(resource);
      const there = await side.get('User', id);
      if (!there) await side.createUser({ ...common, resource, text });
      else await side.putUser({ ...common, resource, text, expected: there.version, method: 'patch' });
    }
  };
  await store.putGroup(TEAM, 'Team');
  const sides = [store.state.directory, store.rival.directory];
  await Promise.all(
    sides.map(async (side) => {
      for (let at = 0; at < 60; at++) await write(side, at);
    }),
  );
  const seen = new Map<string, number[]>();
  for (const { resource, version = 0 } of await store.state.events.oldest(1000))
    seen.set(resource, [...(seen.get(resource) ?? []), version]);
  for (const [kind, id] of [['Group', TEAM] as const, ...users.map((user) => ['User', user] as const)]) {
    const { version = 0 } = (await store.state.directory.get(kind, id)) ?? {};
    expect(seen.get(id) ?? []).toEqual(Array.from({ length: version }, (_, index) => index + 1));
  }
});

test('the oldest events are dropped beyond the limits of number and age, and are counted', async () => {
  store = await openStore({ events: { mostPending: 3, externalIds: false } });
  for (let at = 0; at < 5; at++) await store.putUser(ADA, { ...ada, title: `t${at}` });
  expect((await emitted()).map(([of]) => of)).toEqual(['User:ada@3', 'User:ada@4', 'User:ada@5']);
  const { events } = store.state;
  await expect(events.expire(60_000)).resolves.toMatchObject({
    pending: 3,
    dropped: 2,
    droppedAt: expect.any(Number),
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
  await expect(events.expire(5)).resolves.toMatchObject({ pending: 0, dropped: 5, oldestMs: 0 });
});

test('when the receiver acknowledges an event after a failed push, the failure is no longer reported', async () => {
  store = await openStore(ON);
  await store.putUser(ADA, ada);
  const { events } = store.state;
  await events.note('gave no answer');
  expect(await events.delivery()).toMatchObject({ pending: 1, problem: 'gave no answer' });
  await events.acknowledge((await events.oldest(1)).map(({ id }) => id));
  expect(await events.delivery()).toMatchObject({ pending: 0, problem: null });
});

test('an acknowledged event is removed, and a refused one is kept until an operator retries or drops it', async () => {
  store = await openStore(ON);
  for (let at = 0; at < 4; at++) await store.putUser(ADA, { ...ada, title: `t${at}` });
  const { events } = store.state;
  const ids = (await events.oldest(10)).map(({ id }) => id);
  const [first = '', second = '', third = ''] = ids;
  const refused = [{ id: second, err: 'invalid_request', description: 'no' }];
  expect(await events.acknowledge([first, 'no id', '1-1'], refused)).toBe(2);
  expect(await events.acknowledge([first], refused)).toBe(0);
  await expect(events.delivery()).resolves.toMatchObject({ pending: 2, delivered: 1, refused: 1, kept: 1 });
  expect(await events.refusals()).toMatchObject([
    { id: second, resource: ADA, version: 2, refusal: { err: 'invalid_request', description: 'no' } },
  ]);
  expect(await events.resolve('retry')).toBe(1);
  expect((await events.oldest(10)).map(({ version }) => version)).toEqual([3, 4, 2]);
  await events.acknowledge([], [{ id: third, err: 'invalid_request', description: '' }]);
  expect(await events.resolve('drop')).toBe(1);
  await expect(events.delivery()).resolves.toMatchObject({ pending: 2, kept: 0 });
});

test('only one process at a time gets the lease to push events, until it releases or loses the lease', async () => {
  store = await openStore(ON);
  const { events } = store.state;
  expect(await events.lead('one', 10_000)).toBe(true);
  expect(await store.rival.events.lead('two', 10_000)).toBe(false);
  await store.rival.events.resign('two');
  expect(await events.lead('one', 20)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(await store.rival.events.lead('two', 10_000)).toBe(true);
  expect(await events.lead('one', 10_000)).toBe(false);
});
