// Tests the `synced` sets: a scan of coverage skips resources that are synced and unchanged.
import { createDesiredState, type DesiredState } from '../../../src/directory/desired-state.ts';
import { guard } from './guard-rig.ts';
import { add, drop, idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const G = idOf('group');

describe('the set of synced resources', () => {
  let store: Store;
  const synced = (kind: 'User' | 'Group') =>
    store.redis.smembers(store.keys.key('synced', `main:${kind}`)).then((ids) => ids.sort());
  const loseMarks = () => store.redis.del(store.keys.key('marks', 'main'), store.keys.key('dirty', 'main'));
  /** Scans the users briefly: those in the synced set are counted and not read. */
  async function scan(): Promise<{ linked: number; others: string[] }> {
    const result = { linked: 0, others: [] as string[] };
    for await (const { linked, others } of reader(store.state).briefly('User')) {
      result.linked += linked;
      result.others.push(...others.map(({ ref, state }) => `${ref} ${state}`));
    }
    return result;
  }
  beforeEach(async () => {
    store = await openStore({ rulesReadGroups: true });
    await store.putUser(ADA, { userName: 'ada' });
    await store.putUser(BOB, { userName: 'bob' });
    await store.putGroup(G, 'Sales', [add(BOB)]);
    await store.settleAll();
  });
  afterEach(() => store.close());

  it('a resource without differences is added to the synced set by its sync, and again by a scan', async () => {
    await expect(synced('User')).resolves.toEqual([ADA, BOB]);
    await expect(synced('Group')).resolves.toEqual([G]);
    await reader(store.state).readAllAnew();
    await expect(synced('User')).resolves.toEqual([]);
    await expect(scan()).resolves.toEqual({ linked: 2, others: [] });
    await expect(synced('User')).resolves.toEqual([ADA, BOB]);
  });

  it('a scan returns a changed user as `pending`, and as `stale` once its mark is lost', async () => {
    await store.putUser(ADA, { userName: 'ada', title: 'Countess' });
    await expect(synced('User')).resolves.toEqual([BOB]);
    await expect(scan()).resolves.toEqual({ linked: 1, others: [`User:${ADA} pending`] });
    await loseMarks();
    await expect(scan()).resolves.toEqual({ linked: 1, others: [`User:${ADA} stale`] });
  });

  it('if mapping rules read groups and a member of a renamed group lost its mark, a scan reports the member as stale', async () => {
    await store.putGroup(G, 'Marketing');
    await loseMarks();
    await expect(scan()).resolves.toEqual({ linked: 1, others: [`User:${BOB} stale`] });
  });

  it('a change stored by a process without the target in its settings has no mark, and the next scan returns the user as `stale`', async () => {
    const elsewhere = stateOf(store, ['spare']);
    const change = {
      id: ADA,
      expected: undefined,
      resource: { userName: 'ada' },
      text: '{"userName":"ada","title":"Countess"}',
    };
    await elsewhere.directory.putUser({ ...change, now: Date.now(), request: 'req' });
    await store.putUser(BOB, { userName: 'bob', title: 'Baker' });
    await store.settleAll();
    await expect(scan()).resolves.toEqual({ linked: 1, others: [`User:${ADA} stale`] });
  });

  it('a scan returns every user, even if the stored order of users lacks one of them', async () => {
    await store.redis.zrem(store.keys.key('order', 'User'), ADA);
    await expect(scan()).resolves.toEqual({ linked: 2, others: [] });
  });

  it('a repair of derived data removes the ids of changed and unknown users from the synced set', async () => {
    await store.putUser(ADA, { userName: 'ada', title: 'Countess' });
    await store.redis.sadd(store.keys.key('synced', 'main:User'), ADA, idOf('nobody'));
    await expect(store.state.proof.run({ repair: true, request: 'repair' })).resolves.toMatchObject([
      { family: 'synced', fault: 'surplus', count: 2, repaired: 2 },
    ]);
    await expect(synced('User')).resolves.toEqual([BOB]);
  });

  it('a group with pending members whose mark was lost is returned by a scan as `stale`', async () => {
    await store.members(G, add(ADA));
    await loseMarks();
    const groups: string[] = [];
    for await (const { others } of reader(store.state).briefly('Group'))
      groups.push(...others.map(({ ref, state }) => `${ref} ${state}`));
    expect(groups).toEqual([`Group:${G} stale`]);
  });

  it('a group that waits for the deactivation of a member is returned by a scan as `held` while that is held or marked, and otherwise as `stale`', async () => {
    await store.members(G, drop(BOB));
    await store.outbox.guardStore.take([{ kind: 'deactivate', ref: `User:${BOB}` }], guard(0));
    const work = await store.begun(`Group:${G}`);
    const condition = { reason: 'Held', message: 'waits', since: 1 };
    await store.outbox.ack(work, { id: `p-${G}`, condition }, { kind: 'held' });
    await loseMarks();
    const states = async (): Promise<string[]> => {
      const groups: string[] = [];
      for await (const { others } of reader(store.state).briefly('Group'))
        groups.push(...others.map(({ state }) => state));
      return groups;
    };
    await expect(states()).resolves.toEqual(['held']);
    await store.redis.del(store.keys.key('guardItems', `main:User:${BOB}`));
    await expect(states()).resolves.toEqual(['stale']);
    await store.redis.hset(store.keys.key('marks', 'main'), `User:${BOB}`, '1 1 req');
    await expect(states()).resolves.toEqual(['held']);
  });

  it('a deleted user is removed from the synced set', async () => {
    await store.remove('User', ADA);
    await store.settleAll();
    await expect(synced('User')).resolves.toEqual([BOB]);
    await expect(scan()).resolves.toEqual({ linked: 1, others: [] });
  });
});

test('deleting a nested group marks the outer group, because its members changed', async () => {
  const store = await openStore();
  try {
    const inner = idOf('inner');
    await store.putGroup(inner, 'Inner');
    await store.putGroup(G, 'Outer', [add(inner)]);
    await store.settleAll();
    await store.remove('Group', inner);
    expect([...(await store.marks()).keys()].sort()).toEqual([`Group:${G}`, `Group:${inner}`].sort());
  } finally {
    await store.close();
  }
});

function reader(state: DesiredState) {
  const found = state.coverage.get('main');
  if (!found) throw new Error('no reader of main');
  return found;
}

function stateOf(store: Store, targets: string[]): DesiredState {
  const addressOf = () => 'https://platform.example.com';
  return createDesiredState(
    { redis: store.redis, scripts: store.scripts },
    {
      prefix: store.prefix,
      connection: 'idp',
      targets,
      addressOf,
      rulesReadGroups: true,
      leaseMs: 5000,
      events: undefined,
      uniqueExternalIds: false,
    },
  );
}
