// Tests put_group.lua and delete_group.lua: names, members, and member values without a user.
import { startLocalRedis } from '../../../src/demo/local-redis.ts';
import { add, drop, idOf, openStore, replace, type Store } from './rig.ts';

const G = idOf('group');
const ADA = idOf('ada');
const BOB = idOf('bob');

describe('groups in the directory', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
    await store.putUser(ADA, { userName: 'Ada@X.com', externalId: 'A-1' });
    await store.putUser(BOB, { userName: 'bob@x.com', externalId: 'B-1' });
    await store.settleAll();
  });
  afterEach(() => store.close());

  it('a stored group is readable by group and by member, and each membership is pending at the target', async () => {
    await expect(store.putGroup(G, 'Sales', [add(ADA, BOB)])).resolves.toMatchObject({
      kind: 'stored',
      version: 1,
    });
    await expect(store.membersOf(G)).resolves.toEqual([ADA, BOB]);
    await expect(store.state.directory.lookup('Group', 'members.value', ADA)).resolves.toEqual([G]);
    await expect(store.state.directory.groupsOf([ADA, idOf('nobody')])).resolves.toEqual([
      [{ id: G, displayName: 'Sales' }],
      [],
    ]);
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(
      new Map([
        [ADA, '+'],
        [BOB, '+'],
      ]),
    );
    expect([...(await store.marks()).keys()]).toEqual([`Group:${G}`]);
  });

  it('put_group with equal content replies unchanged and leaves version, marks and generation alone', async () => {
    await store.putGroup(G, 'Sales', [add(ADA)]);
    const before = [await store.state.directory.get('Group', G), await store.marks(), await store.families()];
    for (const steps of [
      [add(ADA)],
      [drop(BOB)],
      [replace(ADA)],
      [replace('A-1')],
      [drop('nobody')],
      [],
      [add(), drop()],
    ]) {
      await expect(store.members(G, ...steps)).resolves.toMatchObject({ kind: 'unchanged', version: 1 });
    }
    await expect(store.putGroup(G, 'Sales', [add(ADA)])).resolves.toMatchObject({
      kind: 'unchanged',
      version: 1,
    });
    expect([
      await store.state.directory.get('Group', G),
      await store.marks(),
      await store.families(),
    ]).toEqual(before);
  });

  it('put_group with a taken name, an outdated version or an unknown id replies taken, stale or missing and changes nothing', async () => {
    await store.putGroup(G, 'Sales');
    await expect(store.putGroup(idOf('other'), 'SALES', [add(ADA)])).resolves.toEqual({
      kind: 'taken',
      attribute: 'displayName',
      holder: G,
    });
    await expect(store.membersOf(idOf('other'))).resolves.toEqual([]);
    const change = { id: G, resource: {}, text: '{}', priority: 'edit' as const, now: 1, request: 'r' };
    const { directory } = store.state;
    await expect(directory.putGroup({ ...change, expected: 3 }, [add(ADA)])).resolves.toEqual({
      kind: 'stale',
    });
    await expect(directory.putGroup({ ...change, id: idOf('no'), expected: 3 }, [])).resolves.toEqual({
      kind: 'missing',
    });
    await expect(store.members(idOf('no'), add(ADA))).resolves.toEqual({ kind: 'missing' });
    await expect(store.membersOf(G)).resolves.toEqual([]);
  });

  it('a rename or deletion of a group frees the old name at once', async () => {
    await store.putGroup(G, 'Sales');
    await store.putGroup(G, 'Field');
    await expect(store.putGroup(idOf('other'), 'sales')).resolves.toMatchObject({ kind: 'stored' });
    await store.remove('Group', G);
    await expect(store.putGroup(idOf('third'), 'FIELD')).resolves.toMatchObject({ kind: 'stored' });
    await expect(store.remove('Group', G)).resolves.toEqual({ kind: 'missing' });
  });

  it('several member steps in one put_group call are applied in their order', async () => {
    await store.putGroup(G, 'Sales', [add(ADA)]);
    await store.members(G, drop(ADA), add(BOB), add(ADA), drop(BOB));
    await expect(store.membersOf(G)).resolves.toEqual([ADA]);
  });

  it.each([
    ['id', ADA],
    ['externalId', 'A-1'],
    ['userName in lower case', 'ada@x.com'],
    ['userName in upper case', 'ADA@X.COM'],
  ])('a user is added to a group and removed from it by %s as member value', async (_how, value) => {
    await store.putGroup(G, 'Sales', [add(value, BOB)]);
    await expect(store.membersOf(G)).resolves.toEqual([ADA, BOB]);
    await store.members(G, drop(value));
    await expect(store.membersOf(G)).resolves.toEqual([BOB]);
  });

  it('a member value that looks like a resource id but is an externalId finds the user with that externalId', async () => {
    const oktaId = '00u1a2b3c4d5e6f7g8h9';
    await store.putUser(idOf('okta'), { userName: 'okta@x.com', externalId: oktaId });
    await store.putGroup(G, 'Sales', [add(oktaId)]);
    await expect(store.membersOf(G)).resolves.toEqual([idOf('okta')]);
  });

  it('a user who is given as member by id and by names is added once', async () => {
    await store.putGroup(G, 'Sales', [replace(ADA, 'A-1', 'ada@x.com', ADA)]);
    await expect(store.membersOf(G)).resolves.toEqual([ADA]);
    await expect(store.state.directory.get('Group', G)).resolves.toMatchObject({ version: 1 });
  });

  it('after an addition and a removal of the same member, only the last change is pending', async () => {
    await store.putGroup(G, 'Sales', [add(ADA)]);
    await store.members(G, drop(ADA));
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '-']]));
    await store.members(G, add(ADA));
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '+']]));
    await store.putUser(ADA, { userName: 'Ada@X.com', externalId: 'A-1', title: 'x' });
    expect((await store.begun(`User:${ADA}`)).pendingGroups).toEqual(new Map([[G, '+']]));
  });

  it('deleting a group makes the removal of all members pending and frees its name', async () => {
    await store.putGroup(G, 'Sales', [add(ADA, 'later@x.com')]);
    await store.settleAll();
    await store.remove('Group', G);
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '-']]));
    await expect(store.state.directory.groupsOf([ADA])).resolves.toEqual([[]]);
    await expect(store.members(G, add(BOB))).resolves.toEqual({ kind: 'missing' });
    await store.putUser(idOf('later'), { userName: 'later@x.com' });
    await expect(store.membersOf(G)).resolves.toEqual([]);
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '-']]));
  });
});

describe('members whose user does not exist yet', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());
  const LATE = idOf('late');

  it.each([
    ['externalId', 'L-1'],
    ['userName', 'late@x.com'],
    ['userName in another case', 'LATE@X.com'],
  ])('a group member named by %s joins when the user with that value is created', async (_what, value) => {
    await store.putGroup(G, 'Sales', [add(value)]);
    await expect(store.state.directory.membersOf(G)).resolves.toEqual({ users: [], unresolved: [value] });
    await store.settleAll();
    await store.putUser(LATE, { userName: 'Late@x.com', externalId: 'L-1' });
    await expect(store.state.directory.membersOf(G)).resolves.toEqual({ users: [LATE], unresolved: [] });
    await expect(store.state.directory.get('Group', G)).resolves.toMatchObject({ version: 2 });
    expect([...(await store.marks()).keys()].sort()).toEqual([`Group:${G}`, `User:${LATE}`]);
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[LATE, '+']]));
  });

  it('a group member named by a userName joins when a user is renamed to that userName', async () => {
    await store.putUser(LATE, { userName: 'before@x.com' });
    await store.putGroup(G, 'Sales', [add('Late@x.com')]);
    await store.putUser(LATE, { userName: 'late@x.com' });
    await expect(store.membersOf(G)).resolves.toEqual([LATE]);
  });

  it.each(['before', 'after'])(
    'a member value that is an e-mail address but no userName stays unresolved, also if a user gets the address %s the member is added',
    async (order) => {
      const withMail = { userName: 'late', emails: [{ value: 'mail@x.com' }] };
      if (order === 'before') await store.putUser(LATE, withMail);
      await store.putGroup(G, 'Sales', [add('mail@x.com')]);
      if (order === 'after') await store.putUser(LATE, withMail);
      await store.putUser(LATE, { userName: 'late' });
      await store.putUser(LATE, withMail);
      await expect(store.state.directory.membersOf(G)).resolves.toEqual({
        users: [],
        unresolved: ['mail@x.com'],
      });
    },
  );

  it('a new user joins every group with a reference to it exactly once', async () => {
    const groups = ['g1', 'g2', 'g3'].map(idOf);
    for (const group of groups) await store.putGroup(group, group, [add('L-1', 'late@x.com')]);
    await store.putUser(LATE, { userName: 'late@x.com', externalId: 'L-1' });
    for (const group of groups) {
      await expect(store.state.directory.membersOf(group)).resolves.toEqual({
        users: [LATE],
        unresolved: [],
      });
    }
  });

  it('a member value that the source removed or replaced before its user is created adds no membership when the user is created', async () => {
    await store.putGroup(G, 'Sales', [add('late@x.com', 'L-1')]);
    await store.members(G, drop('late@x.com'));
    await store.members(G, replace('somebody-else'));
    await store.putUser(LATE, { userName: 'late@x.com', externalId: 'L-1' });
    await expect(store.state.directory.membersOf(G)).resolves.toEqual({
      users: [],
      unresolved: ['somebody-else'],
    });
  });

  it('member values with spaces and line breaks are stored as separate members, and a new user joins by an exactly equal value only', async () => {
    await store.putGroup(G, 'Sales', [add('a b', 'a', 'a\nb')]);
    await store.putUser(LATE, { userName: 'x', externalId: 'a\nb' });
    const { users, unresolved } = await store.state.directory.membersOf(G);
    expect([users, unresolved.sort()]).toEqual([[LATE], ['a', 'a b']]);
  });

  it.each(['late@x.com', 'Late@X.com', 'L-1'])(
    'no reference to %s remains in Redis after the member is removed, the group is deleted, or the user is created',
    async (value) => {
      const references = async () =>
        (await store.families()).filter((key) => /^(references|unresolved)/.test(key));
      await store.putGroup(G, 'Sales', [add(value)]);
      await store.members(G, drop(value));
      expect(await references()).toEqual([]);
      await store.members(G, add(value));
      await store.remove('Group', G);
      expect(await references()).toEqual([]);
      await store.putGroup(idOf('other'), 'Other', [add(value)]);
      await store.putUser(LATE, { userName: 'late@x.com', externalId: 'L-1' });
      expect(await references()).toEqual([]);
    },
  );
});

describe('member changes in parallel', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  it('all members that two clients add to a group at the same time are stored', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => idOf(`m${index}x`));
    await Promise.all(ids.map((id) => store.putUser(id, { userName: id })));
    await store.putGroup(G, 'Sales');
    const change = { id: G, priority: 'edit' as const, now: 1, request: 'r' };
    const outcomes = await Promise.all(
      ids.map((id, index) =>
        (index % 2 ? store.state : store.rival).directory.changeMembers({ ...change, steps: [add(id)] }),
      ),
    );
    await expect(store.membersOf(G)).resolves.toEqual([...ids].sort());
    const versions = outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.version : 0));
    expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
  });

  it('a group that is deleted while a member is added has no members afterwards', async () => {
    await store.putUser(ADA, { userName: 'ada' });
    for (let round = 0; round < 20; round++) {
      const group = idOf(`g${round}x`);
      await store.putGroup(group, group);
      const change = { id: group, now: 1, request: 'r' };
      await Promise.all([
        store.rival.directory.changeMembers({ ...change, steps: [add(ADA)] }),
        store.remove('Group', group),
      ]);
      if (await store.state.directory.get('Group', group)) await store.remove('Group', group);
      await expect(store.membersOf(group)).resolves.toEqual([]);
    }
    await expect(store.state.directory.lookup('Group', 'members.value', ADA)).resolves.toEqual([]);
  });

  it('changing members takes the same number of Redis commands for a group of 10 and of 10,000', async () => {
    // Commands of other tests must not be counted.
    const redis = await startLocalRedis({ env: {} });
    const store = await openStore({ url: redis.url });
    await store.putUser(ADA, { userName: 'ada' });
    const commandsOf = async (size: number): Promise<Record<string, number>> => {
      const group = idOf(`size${size}x`);
      await store.putGroup(group, group);
      const members = Array.from({ length: size }, (_, index) => `filler${index}`);
      await store.redis.sadd(store.keys.key('members', group), ...members);
      const before = await commandCounts(store);
      await store.members(group, add(ADA));
      await store.members(group, drop(ADA));
      const after = await commandCounts(store);
      return Object.fromEntries(
        Object.entries(after).flatMap(([command, calls]) => {
          const spent = calls - (before[command] ?? 0);
          return spent > 0 && command !== 'info' ? [[command, spent]] : [];
        }),
      );
    };
    const small = await commandsOf(10);
    const large = await commandsOf(10_000);
    expect(large).toEqual(small);
    expect(large).not.toHaveProperty('smembers');
    await store.close();
    await redis.stop();
  });
});

async function commandCounts(store: Store): Promise<Record<string, number>> {
  const stats = await store.redis.info('commandstats');
  return Object.fromEntries(
    [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name, calls]) => [name, Number(calls)]),
  );
}
