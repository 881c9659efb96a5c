// Tests changes of more memberships than one script makes: the result equals that of one script.
import { PRIORITIES, PRIORITY_SPAN } from '../../../src/directory/records.ts';
import { MOST_AT_ONCE } from '../../../src/directory/resources/large-changes.ts';
import { add, drop, idOf, openStores, replace, type StoreOptions } from './rig.ts';

const G = idOf('group');
const COUNT = 2 * MOST_AT_ONCE + 500;

const names = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `person-${from + index}@x.example`);

const open = openStores();
const waiting = async (store: Awaited<ReturnType<typeof open>>): Promise<string[]> =>
  (await store.state.directory.membersOf(G)).unresolved.sort();

describe('a group with more members than one script call changes', () => {
  it('a group with more members than one script call takes is created, replaced, changed and deleted with exactly the pushed members', async () => {
    const store = await open();
    await store.putUser(idOf('ada'), { userName: 'ada@x.example' });
    await store.settleAll();
    await store.putGroup(idOf('other'), 'Taken');
    const all = [...names(COUNT), 'Ada@x.example'];
    await expect(store.putGroup(G, 'Taken', [add(...all)])).resolves.toMatchObject({ kind: 'taken' });
    await expect(waiting(store)).resolves.toEqual([]);
    await expect(store.putGroup(G, 'All', [add(...all)])).resolves.toMatchObject({ kind: 'stored' });
    await expect(waiting(store)).resolves.toEqual(names(COUNT).sort());
    await expect(store.membersOf(G)).resolves.toEqual([idOf('ada')]);

    const known = await store.state.directory.get('Group', G);
    await expect(store.putGroup(G, 'All', [replace(...all)])).resolves.toMatchObject({ kind: 'unchanged' });
    await expect(store.state.directory.get('Group', G)).resolves.toEqual(known);

    const later = [...names(COUNT, 300), 'ada@x.example'];
    await expect(store.putGroup(G, 'Later', [replace(...later)])).resolves.toMatchObject({ kind: 'stored' });
    await expect(waiting(store)).resolves.toEqual(names(COUNT, 300).sort());
    await expect(store.membersOf(G)).resolves.toEqual([idOf('ada')]);

    await store.members(G, drop(...names(COUNT)), add('last@x.example'));
    await expect(waiting(store)).resolves.toEqual([...names(300, COUNT), 'last@x.example'].sort());

    await store.members(G, add(...all));
    await expect(store.members(G, replace('few@x.example'))).resolves.toMatchObject({ kind: 'stored' });
    await expect(waiting(store)).resolves.toEqual(['few@x.example']);

    await store.members(G, add(...all));
    await expect(store.remove('Group', G)).resolves.toEqual({ kind: 'removed' });
    await store.settleAll();
    const left = (await store.families()).filter((family) => /^(members|unresolved|references)/.test(family));
    expect(left).toEqual([]);
  }, 60_000);

  it('replacing a large group returns `stale` for an outdated version and keeps the members, and `missing` for an unknown group', async () => {
    const store = await open();
    await store.putGroup(G, 'All', [add(...names(3))]);
    const change = {
      id: G,
      resource: { displayName: 'All' },
      text: '{"displayName":"All"}',
      now: 1,
      request: 'r',
    };
    const { directory } = store.state;
    const steps = [replace(...names(COUNT, 10))];
    await expect(directory.putGroup({ ...change, expected: 7 }, steps)).resolves.toEqual({ kind: 'stale' });
    await expect(waiting(store)).resolves.toEqual(names(3));
    await expect(store.members(idOf('nobody'), ...steps)).resolves.toEqual({ kind: 'missing' });
    await expect(store.members(idOf('nobody'), add(...names(COUNT)))).resolves.toEqual({ kind: 'missing' });
  });

  it('when another process writes a large group during a replacement of its members, the replacement starts again and is stored', async () => {
    const store = await open();
    await store.putGroup(G, 'All', [add(...names(10))]);
    const ask = store.scripts.ask.bind(store.scripts);
    let portions = 0;
    store.scripts.ask = async (...call) => {
      const answer = await ask(...call);
      const change = { id: G, now: 1, request: 'r', steps: [replace('rival@x.example')] };
      if (++portions === 3) await store.rival.directory.changeMembers(change);
      return answer;
    };
    await expect(store.members(G, replace(...names(COUNT, 5)))).resolves.toMatchObject({ kind: 'stored' });
    expect(portions).toBeGreaterThan(5);
    await expect(waiting(store)).resolves.toEqual(names(COUNT, 5).sort());
  });

  it('a large group stored in portions is due at once after its last portion, or within 5 s if no further portion comes', async () => {
    const store = await open();
    await store.putGroup(G, 'All');
    await store.settleAll();
    const portion = {
      id: G,
      now: 1,
      request: 'r',
      targets: ['main'],
      priority: PRIORITIES.indexOf('edit'),
      most: MOST_AT_ONCE,
      folded: {},
    };
    await store.scripts.ask('put_group', store.keys.base, { ...portion, steps: [add('a')], more: true });
    await expect(store.claimRefs()).resolves.toEqual([]);
    const due =
      Number(await store.redis.zscore(store.keys.key('dirty', 'main'), `Group:${G}`)) % PRIORITY_SPAN;
    expect(due - Date.now()).toBeGreaterThan(0);
    expect(due - Date.now()).toBeLessThanOrEqual(5000);
    await store.scripts.ask('put_group', store.keys.base, { ...portion, steps: [add('b')] });
    await expect(store.claimRefs()).resolves.toEqual([`Group:${G}`]);
  });
});

describe('a group of 2,500 users at a target', () => {
  const MEMBERS = Array.from({ length: 2500 }, (_, index) => idOf(`u${index}-`));
  const PENDING = new Map(MEMBERS.map((user) => [user, '+']));
  const opened = async (options: StoreOptions = {}) => {
    const store = await open(options);
    await Promise.all(MEMBERS.map((user) => store.putUser(user, { userName: user })));
    await store.putGroup(G, 'All', [add(...MEMBERS)]);
    return store;
  };

  it('a save with `rewriteMemberships` makes all 2,500 memberships of a group pending; without the lease it throws and makes none pending', async () => {
    const store = await opened();
    await store.settleAll();
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map());
    await store.members(G, drop(MEMBERS[0] ?? ''));
    await store.settleAll();
    await store.members(G, add(MEMBERS[0] ?? ''));
    const work = await store.begun(`Group:${G}`);
    const save = () => store.outbox.save(work, { id: '7' }, { linked: true, rewriteMemberships: true });
    await store.redis.set(store.keys.key('lease', `main:Group:${G}`), 'another');
    await expect(save()).rejects.toThrow('lost the lease');
    expect((await store.outbox.pendingMembers(G)).size).toBe(1);
    await store.redis.set(store.keys.key('lease', `main:Group:${G}`), work.fence);
    await save();
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(PENDING);
  });

  it('all 2,500 pending memberships of a group are acknowledged, and no script clears more than 1,000 of them', async () => {
    const store = await opened();
    const run = store.scripts.run.bind(store.scripts);
    const portions: number[] = [];
    store.scripts.run = (name, base, args, ...texts) => {
      if (name === 'ack_members') portions.push((args as { users: string[] }).users.length);
      return run(name, base, args, ...texts);
    };
    const work = await store.begun(`Group:${G}`);
    await expect(store.outbox.ackMembers(work, '+', MEMBERS)).resolves.toBe(MEMBERS.length);
    expect((await store.outbox.pendingMembers(G)).size).toBe(0);
    expect(portions).toEqual([1000, 1000, 500]);
  });

  it('if mapping rules read groups, renaming a group marks its 2,500 members, also when the renaming process dies before the last one', async () => {
    const store = await opened({ rulesReadGroups: true });
    await store.settleAll();
    const marked = async () =>
      [...(await store.marks()).keys()].filter((ref) => ref.startsWith('User:')).sort();
    const all = MEMBERS.map((user) => `User:${user}`).sort();
    await store.putGroup(G, 'Renamed');
    await expect(marked()).resolves.toEqual(all);
    await expect(store.families()).resolves.not.toContain('renamed:main');

    await store.settleAll();
    await expect(marked()).resolves.toEqual([]);
    const run = store.scripts.run.bind(store.scripts);
    let portions = 0;
    store.scripts.run = (name, ...rest) => {
      if (name === 'mark_renamed' && ++portions === 2) throw new Error('the process died');
      return run(name, ...rest);
    };
    await expect(store.putGroup(G, 'Renamed again')).rejects.toThrow('the process died');
    expect((await marked()).length).toBeLessThan(MEMBERS.length);
    store.scripts.run = run;
    const claimed: string[] = [];
    for (let refs = await store.claimRefs(); refs.length > 0; refs = await store.claimRefs())
      claimed.push(...refs);
    expect(claimed.sort()).toEqual([...all, `Group:${G}`].sort());
    await expect(store.families()).resolves.not.toContain('renamed:main');
  });

  it('when a group becomes a dead letter, its members whose syncs were delayed become due', async () => {
    const store = await opened();
    const work = await store.begun(`Group:${G}`);
    const dirty = store.keys.key('dirty', 'main');
    // Due time in the year 2255.
    const FAR = 9_000_000_000_000;
    for (const user of MEMBERS) await store.redis.zadd(dirty, 'XX', FAR, `User:${user}`);
    await expect(store.outbox.ack(work, { id: '7' }, { kind: 'blocked' })).resolves.toMatchObject({
      kind: 'cleared',
    });
    expect(await store.redis.zcount(dirty, FAR, '+inf')).toBe(0);
  });
});
