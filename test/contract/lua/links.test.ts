// Tests links, blocked resources, several targets, the request budget, and the Redis keys that remain in the end.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBudget } from '../../../src/directory/outbox/budget.ts';
import { PRIORITY_SPAN, type Ref } from '../../../src/directory/records.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { eventually } from '../../support/eventually.ts';
import { add, drop, idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const CAT = idOf('cat');
const DAN = idOf('dan');
const G = idOf('group');
const USER: Ref = `User:${ADA}`;
const GROUP: Ref = `Group:${G}`;

describe('links and pending memberships', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
    await store.putUser(ADA, { userName: 'ada' });
    await store.putUser(BOB, { userName: 'bob' });
    await store.putGroup(G, 'Sales', [add(ADA, BOB)]);
    await store.settleAll();
  });
  afterEach(() => store.close());

  it("forgetLink with the link's platform id removes link and reverse link, and with another id it removes nothing", async () => {
    await expect(store.state.links.holderOf('main', 'User', `p-${ADA}`)).resolves.toBe(USER);
    await store.outbox.forgetLink(USER, 'another id');
    await expect(store.state.links.get('main', USER)).resolves.toMatchObject({ id: `p-${ADA}` });
    expect((await store.marks()).size).toBe(0);
    await store.outbox.forgetLink(USER, `p-${ADA}`);
    await expect(store.state.links.get('main', USER)).resolves.toEqual({});
    await expect(store.state.links.holderOf('main', 'User', `p-${ADA}`)).resolves.toBeUndefined();
    expect([...(await store.marks()).keys()]).toEqual([USER]);
  });

  it('of two syncs that found the same unlinked account, the first gets the link, and the second fails and stores nothing', async () => {
    await store.putUser(CAT, { userName: 'cat' });
    await store.putUser(DAN, { userName: 'dan' });
    const first = await store.begun(`User:${CAT}`);
    const second = await store.begun(`User:${DAN}`);
    await store.outbox.save(first, { id: 'p-found' }, { linked: true });
    await expect(store.outbox.save(second, { id: 'p-found' }, { linked: true })).rejects.toThrow('another');
    await expect(store.outbox.save(second, { id: 'p-found' })).rejects.toThrow('lost the lease');
    await expect(store.state.links.holderOf('main', 'User', 'p-found')).resolves.toBe(`User:${CAT}`);
    await expect(store.state.links.get('main', `User:${DAN}`)).resolves.toEqual({});
    expect([...(await store.marks()).keys()]).toContain(`User:${DAN}`);
  });

  it('a sync whose link is forgotten while it runs does not store the link again', async () => {
    await store.outbox.mark([USER], 'edit');
    const running = await store.begun(USER);
    await store.outbox.forgetLink(USER, `p-${ADA}`);
    await store.outbox.ack(running, { id: `p-${ADA}` }, { kind: 'synced' });
    await expect(store.state.links.get('main', USER)).resolves.toEqual({});
    expect([...(await store.marks()).keys()]).toEqual([USER]);
    await expect(store.begun(USER)).resolves.toMatchObject({ link: {} });
  });

  it('a sync that ends by removing its link keeps the reverse link of an account that another user has taken over', async () => {
    await store.outbox.mark([USER, `User:${BOB}`], 'edit');
    const former = await store.begun(USER);
    const heir = await store.begun(`User:${BOB}`);
    await store.outbox.save(heir, { id: `p-${ADA}` }, { linked: true, takenFrom: USER });
    await store.outbox.ack(former, { id: `p-${ADA}` }, { kind: 'synced', forget: true });
    await expect(store.state.links.holderOf('main', 'User', `p-${ADA}`)).resolves.toBe(`User:${BOB}`);
  });

  it('a save that takes over the account of another user also takes over the pending removals of that user', async () => {
    const signs = () => store.redis.hgetall(store.keys.key('pendingMembers', `main:${G}`));
    await store.members(G, drop(ADA));
    await store.putUser(CAT, { userName: 'cat' });
    await store.putUser(DAN, { userName: 'dan' });
    const takenFrom = USER;
    const other = await store.begun(`User:${CAT}`);
    await store.outbox.save(other, { id: 'p-other' }, { linked: true, takenFrom });
    expect(await signs()).toEqual({ [ADA]: '-' });
    await expect(store.state.links.get('main', USER)).resolves.toMatchObject({ id: `p-${ADA}` });
    const heir = await store.begun(`User:${DAN}`);
    await store.outbox.save(heir, { id: `p-${ADA}` }, { linked: true, takenFrom });
    expect(await signs()).toEqual({ [DAN]: '-' });
    await expect(store.state.links.get('main', USER)).resolves.toEqual({});
  });

  it('an imported link of an account whose outdated reverse link names a deleted user leaves the link of that user to another account', async () => {
    const [own, other] = [`p-${ADA}`, 'p-other'];
    await store.putUser(CAT, { userName: 'cat' });
    await store.redis.hset(store.keys.key('linked', 'main'), `User:${other}`, USER);
    await store.remove('User', ADA);
    const cat: Ref = `User:${CAT}`;
    await expect(store.outbox.adoptLink(cat, { id: other }, 'import')).resolves.toBe('imported');
    await expect(store.state.links.get('main', USER)).resolves.toMatchObject({ id: own });
    await expect(store.state.links.holderOf('main', 'User', other)).resolves.toBe(cat);
    // The account of the deleted user can be imported too; it has one link then.
    await expect(store.outbox.adoptLink(`User:${BOB}`, { id: own }, 'import')).resolves.toBe('imported');
    await expect(store.state.links.get('main', USER)).resolves.toEqual({});
  });

  it.each([undefined, '{'])(
    'a stored user whose link was lost or is damaged keeps its account (%s)',
    async (text) => {
      const links = store.keys.key('links', 'main');
      if (text === undefined) await store.redis.hdel(links, USER);
      else await store.redis.hset(links, USER, text);
      const adopted = store.outbox.adoptLink(`User:${BOB}`, { id: `p-${ADA}` }, 'import');
      await expect(adopted).resolves.toBe('taken');
    },
  );

  it('listing the links of a target returns each link once', async () => {
    const refs: Ref[] = [];
    for await (const { ref } of store.state.links.all('main')) refs.push(ref);
    expect(refs.sort()).toEqual([GROUP, USER, `User:${BOB}`].sort());
  });

  it('a save with `rewriteMemberships` makes every membership of the saved user or group pending again', async () => {
    await store.outbox.mark([USER, GROUP], 'edit');
    await store.outbox.save(await store.begun(USER), { id: 'new' }, { rewriteMemberships: true });
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '+']]));
    await store.outbox.save(
      await store.begun(GROUP),
      { id: 'new' },
      { rewriteMemberships: true, surplus: [BOB, idOf('gone')] },
    );
    const pending = await store.outbox.pendingMembers(G);
    expect(pending).toEqual(
      new Map([
        [ADA, '+'],
        [BOB, '+'],
        [idOf('gone'), '-'],
      ]),
    );
  });

  it('a save with `requeueGroups` makes a group due at once if the saved user is its only pending member, and otherwise a moment later', async () => {
    await store.outbox.mark([USER], 'edit');
    const work = await store.begun(USER);
    await store.outbox.save(work, {}, { rewriteMemberships: true });
    await store.outbox.save(work, {}, { requeueGroups: true });
    await expect(store.claimRefs()).resolves.toContain(GROUP);
    await store.outbox.ack(await store.begun(GROUP), {}, { kind: 'synced' });
    await store.outbox.mark([`User:${BOB}`], 'edit');
    const other = await store.begun(`User:${BOB}`);
    await store.outbox.save(other, {}, { rewriteMemberships: true, requeueGroups: true });
    await expect(store.claimRefs()).resolves.not.toContain(GROUP);
    expect((await store.marks()).has(GROUP)).toBe(true);
  });

  it('a group whose members get accounts during its sync is due a moment later, and after a change at the source at once', async () => {
    const due = async () =>
      Number(await store.redis.zscore(store.keys.key('dirty', 'main'), GROUP)) % PRIORITY_SPAN;
    const claimed = async (refs: Ref[]) => {
      await store.outbox.mark(refs, 'edit');
      await expect(store.claimRefs()).resolves.toEqual(expect.arrayContaining(refs));
    };
    await store.outbox.mark([USER], 'edit');
    await store.outbox.save(await store.begun(USER), {}, { rewriteMemberships: true });
    await claimed([GROUP, `User:${BOB}`]);
    const group = await store.begun(GROUP);
    await store.outbox.save(
      await store.begun(`User:${BOB}`),
      {},
      { rewriteMemberships: true, requeueGroups: true },
    );
    const collected = await due();
    expect(collected).toBeGreaterThan(Date.now());
    await expect(store.outbox.ack(group, {}, { kind: 'later', afterMs: 60_000 })).resolves.toEqual({
      kind: 'changed',
    });
    await expect(due()).resolves.toBe(collected);
    await eventually('it is due', () => Date.now() > collected);

    await claimed([GROUP]);
    const again = await store.begun(GROUP);
    await store.outbox.mark([GROUP], 'edit');
    await store.outbox.ack(again, {}, { kind: 'synced' });
    await expect(store.claimRefs()).resolves.toContain(GROUP);
  });

  it('syncs of a user with a held change keep the scheduled time of its next sync; the first sync after the decision removes this time', async () => {
    const { guardStore } = store.outbox;
    const sync = async () => {
      await store.outbox.mark([USER], 'edit');
      await store.outbox.ack(await store.begun(USER), {}, { kind: 'synced' });
    };
    const alarm = async () => (await store.outbox.resourceStatus(USER)).alarmAt;
    await guardStore.holdAll([{ kind: 'deactivate', ref: USER }], 3_600_000);
    await sync();
    expect(await alarm()).toBeGreaterThan(Date.now());
    await guardStore.decide('reject', (await guardStore.open())?.id ?? '', 'ops');
    await store.outbox.mark([USER], 'edit');
    const work = await store.begun(USER);
    await guardStore.endSync(work, []);
    await store.outbox.ack(work, {}, { kind: 'synced' });
    await expect(alarm()).resolves.toBeNull();
  });

  it('the end of a sync with `dropGrants` deletes the pending additions of the user to groups and keeps the pending removals', async () => {
    await store.putGroup(idOf('old'), 'Old', [add(ADA)]);
    await store.settleAll();
    await store.members(idOf('old'), drop(ADA));
    await store.outbox.mark([USER], 'edit');
    const work = await store.begun(USER);
    await store.outbox.save(work, {}, { rewriteMemberships: true });
    await store.outbox.ack(work, {}, { kind: 'synced', dropGrants: true });
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map());
    await expect(store.outbox.pendingMembers(idOf('old'))).resolves.toEqual(new Map([[ADA, '-']]));
  });

  it('readiness() returns ready for a synced user, and not ready for one with a newer change, out of scope or with a dead letter', async () => {
    const ready = async () => (await store.outbox.readiness([ADA]))[0];
    await expect(ready()).resolves.toMatchObject({ ready: true, underWay: false });
    await store.outbox.mark([USER], 'edit');
    await expect(ready()).resolves.toMatchObject({ ready: false, underWay: true });
    const work = await store.begun(USER);
    await store.outbox.save(work, { id: 'p', observedGeneration: work.generation });
    await expect(ready()).resolves.toMatchObject({ ready: true, underWay: true });
    await store.outbox.save(work, { id: 'p', observedGeneration: work.generation, departed: true });
    await expect(ready()).resolves.toMatchObject({ ready: false });
    const condition = { reason: 'Refused', message: 'no', since: 1 };
    await store.outbox.ack(work, { id: 'p', condition }, { kind: 'blocked' });
    await expect(ready()).resolves.toMatchObject({ ready: false, underWay: false });
    await expect(store.outbox.readiness([])).resolves.toEqual([]);
  });
});

describe('resources with a dead letter', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
    await store.putUser(ADA, { userName: 'ada' });
    await store.claimRefs();
    await store.outbox.ack(await store.begun(USER), {}, { kind: 'blocked' });
  });
  afterEach(() => store.close());

  it('a user whose sync is refused for good is listed as a dead letter and not claimed again', async () => {
    await expect(store.outbox.blocked()).resolves.toEqual([{ ref: USER, since: expect.any(Number) }]);
    await expect(store.outbox.backlog()).resolves.toMatchObject({ dirty: 0, inflight: 0, blocked: 1 });
    await expect(store.claimRefs()).resolves.toEqual([]);
  });

  it('a dead letter leaves the list of dead letters when an operator requests a sync, or when a push changes the user', async () => {
    await store.outbox.mark([USER], 'edit', 'by-hand');
    await expect(store.outbox.blocked()).resolves.toEqual([]);
    await expect(store.claimRefs()).resolves.toEqual([USER]);
    const work = await store.begun(USER);
    expect(work.request).toBe('by-hand');
    await store.outbox.ack(work, {}, { kind: 'blocked' });
    await store.putUser(ADA, { userName: 'ada', title: 'x' });
    await expect(store.outbox.blocked()).resolves.toEqual([]);
  });

  it('dismissing a dead letter returns true, and false the second time', async () => {
    await expect(store.outbox.dismiss(USER)).resolves.toBe(true);
    await expect(store.outbox.dismiss(USER)).resolves.toBe(false);
  });
});

describe('two targets of one connection', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore({ targets: ['main', 'second'] });
  });
  afterEach(() => store.close());

  it('each target gets every change, and a sync at one target leaves marks and pending members of the other target', async () => {
    const second = store.state.outboxes.get('second');
    await store.putUser(ADA, { userName: 'ada' });
    await store.putGroup(G, 'Sales', [add(ADA)]);
    await store.settleAll();
    await expect(store.outbox.backlog()).resolves.toMatchObject({ dirty: 0 });
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map());
    await expect(second?.backlog()).resolves.toMatchObject({ dirty: 2 });
    await expect(second?.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '+']]));
    await expect(store.state.links.get('second', USER)).resolves.toEqual({});
  });

  it('a notification on the Redis channel names the target that has new work', async () => {
    await store.putUser(ADA, { userName: 'ada' }, 'new');
    await store.settleAll();
    const told: string[] = [];
    const listener = store.redis.duplicate();
    listener.on('message', (_channel, target) => told.push(target));
    await listener.subscribe(store.state.channel);
    await store.state.outboxes.get('second')?.mark([USER], 'edit');
    await store.putUser(ADA, { userName: 'ada', title: 'Analyst' });
    await store.redis.ping();
    await listener.unsubscribe();
    listener.disconnect();
    // The second target has a mark already, so that the user's change notifies the first target only.
    expect(told).toEqual(['second', 'main']);
  });
});

describe('the request budget', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const take = () =>
    store.scripts.run('take_budget', `${store.prefix}:{target.main}:`, {
      target: 'main',
      callState: 'main',
      intervalMs: 1000,
      burst: 3,
    });

  it('the request budget of a target lets a burst of three requests run at once, and each further one an interval later', async () => {
    const waits = (await Promise.all(Array.from({ length: 5 }, take))).map(
      ([tag, wait]) => [tag, Number(wait)] as const,
    );
    expect(waits.map(([tag]) => tag)).toEqual(['taken', 'taken', 'taken', 'taken', 'taken']);
    expect(waits.slice(0, 3).map(([, wait]) => wait)).toEqual([0, 0, 0]);
    expect(waits[3]?.[1]).toBeGreaterThan(900);
    expect(waits[4]?.[1]).toBeGreaterThan(1900);
  });

  it('while the request budget is paused after a 429 no request is granted, and an abort signal ends the wait', async () => {
    const options = { prefix: store.prefix, target: 'main', requestsPerSecond: 1, burst: 3 };
    const budget = createBudget({ redis: store.redis, scripts: store.scripts, clock: systemClock }, options);
    await budget.pause(60, { status: 429, asked: true });
    const [tag, wait] = await take();
    expect([tag, Number(wait) > 0 && Number(wait) <= 60]).toEqual(['paused', true]);
    const startedAt = Date.now();
    await budget.take();
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(30);
    await budget.pause(60_000, { status: 429, asked: true });
    const abort = new AbortController();
    const waiting = budget.take(abort.signal);
    abort.abort();
    await expect(waiting).rejects.toThrow('aborted');
  });
});

describe('Redis keys that remain in the end', () => {
  it('every Redis key has the base prefix and is in the table of keys.ts; after all deletions only seven bookkeeping keys remain', async () => {
    const store = await openStore({ rulesReadGroups: true });
    try {
      await store.putUser(ADA, { userName: 'ada', externalId: 'a', emails: [{ value: 'a@x' }] });
      await store.putUser(BOB, { userName: 'bob' });
      await store.putGroup(G, 'Sales', [add(ADA, BOB, 'Waiting@x.com', 'w-1')]);
      await store.claimRefs();
      await store.outbox.ack(await store.begun(`User:${BOB}`), {}, { kind: 'blocked' });
      await store.begun(USER);
      const all = await store.redis.keys(`${store.prefix}*`);
      expect(all.filter((key) => !key.startsWith(store.keys.base))).toEqual([]);
      const documented = documentedFamilies();
      const families = (await store.families()).map((key) => key.split(':')[0] ?? '');
      expect(families.filter((family) => !documented.has(family))).toEqual([]);
      expect(families).toContain('lease');

      // The worker loses its lease and the queue its jobs, so that the resources are delivered again.
      await store.redis.del(store.keys.key('lease', `main:${USER}`));
      const inflight = store.keys.key('inflight', 'main');
      for (const ref of await store.redis.zrange(inflight, '0', '-1'))
        await store.redis.zadd(inflight, 1, ref);
      await store.putGroup(G, 'Field');
      await store.remove('User', ADA);
      await store.settleAll();
      await store.remove('Group', G);
      await store.remove('User', BOB);
      await store.settleAll();
      await expect(store.families()).resolves.toEqual([
        'gone:Group',
        'gone:User',
        'memberCount',
        'sequence',
        'syncedTargets',
        'tenant:main',
        'tombstones',
      ]);
    } finally {
      await store.close();
    }
  });
});

/** Returns the key families of the table in keys.ts: `users, groups`, `order:User, order:Group`, `links:<t>` ... */
function documentedFamilies(): Set<string> {
  const text = readFileSync(join(import.meta.dirname, '../../../src/directory/keys.ts'), 'utf8');
  const rows = [...text.matchAll(/^ \* \| ([^|]+) \|(.*)$/gm)].map(([, names, rest]) => `${names}, ${rest}`);
  return new Set(
    rows.flatMap((row) => [...row.matchAll(/\b([a-z][A-Za-z]+)(?=[:,])/g)].map(([, name]) => name ?? '')),
  );
}
