// Tests the outbox scripts: each mark is delivered once, synced under a lease and never lost.
import { LeaseLost } from '../../../src/directory/outbox/work.ts';
import type { DueWork } from '../../../src/directory/outbox/due-work.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { eventually } from '../../support/eventually.ts';
import { add, drop, idOf, openStore, workOf, type Store } from './rig.ts';

const ADA = idOf('ada');
const G = idOf('group');
const USER: Ref = `User:${ADA}`;
const GROUP: Ref = `Group:${G}`;
const SYNCED = { kind: 'synced' } as const;

describe('delivery of dirty marks to the queue', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
    await store.putUser(ADA, { userName: 'ada', title: 'one' });
  });
  afterEach(() => store.close());

  const edit = (title: string) => store.putUser(ADA, { userName: 'ada', title });
  const leave = () => store.putUser(ADA, { userName: 'ada', active: false });
  /** @param room number of delivered marks from which only deactivations are taken */
  const claim = (limit = 10, room = 1000) => store.outbox.claim(limit, room);
  const expireLease = (ref: Ref) => store.redis.pexpire(store.keys.key('lease', `main:${ref}`), 1);
  /** Simulates a lost worker: its lease has expired, and its job is due to be delivered again. */
  const crash = async (ref: Ref) => {
    await expireLease(ref);
    await store.redis.zadd(store.keys.key('inflight', 'main'), 1, ref);
    await eventually(
      'lease over',
      async () => (await store.redis.exists(store.keys.key('lease', `main:${ref}`))) === 0,
    );
  };

  it('a mark is delivered once with a deliveryId, and the ack of its sync clears the mark', async () => {
    const claims = await claim();
    expect(claims).toEqual([{ ref: USER, deliveryId: expect.stringMatching(/^\d+$/), priority: 'new' }]);
    await expect(claim()).resolves.toEqual([]);
    const work = await store.begun(USER);
    expect(work).toMatchObject({ kind: 'User', id: ADA, request: 'req', link: {}, record: { version: 1 } });
    const ack = await store.outbox.ack(work, { id: 'p1' }, SYNCED);
    expect(ack).toMatchObject({ kind: 'cleared' });
    await expect(store.state.links.get('main', USER)).resolves.toEqual({ id: 'p1', basis: '1' });
    await expect(store.outbox.backlog()).resolves.toMatchObject({ dirty: 0, inflight: 0, blocked: 0 });
    await expect(store.outbox.begin(USER, 'edit')).resolves.toEqual({ kind: 'clean' });
    await expect(claim()).resolves.toEqual([]);
  });

  it('when a user changes during its sync, the ack keeps the mark, and the mark is delivered again at once', async () => {
    await claim();
    const work = await store.begun(USER);
    await edit('two');
    await expect(store.outbox.ack(work, { id: 'p1' }, SYNCED)).resolves.toEqual({ kind: 'changed' });
    await expect(claim()).resolves.toMatchObject([{ ref: USER }]);
    const next = await store.begun(USER);
    expect([next.record?.text, next.link]).toEqual([
      expect.stringContaining('two'),
      { id: 'p1', basis: '1' },
    ]);
  });

  it('the lag that the ack of a sync returns counts from the oldest unapplied change', async () => {
    await claim();
    // A mark is `generation since request`.
    const mark = await store.redis.hget(store.keys.key('marks', 'main'), USER);
    const old = (mark ?? '').replace(/^(\d+) \d+/, `$1 ${Date.now() - 60_000}`);
    await store.redis.hset(store.keys.key('marks', 'main'), USER, old);
    await edit('two');
    const ack = await store.outbox.ack(await store.begun(USER), {}, SYNCED);
    expect(ack.kind === 'cleared' && ack.lagMs).toBeGreaterThanOrEqual(60_000);
  });

  it('a change of a user whose job still waits adds no second job, and the waiting job syncs the change', async () => {
    await edit('zero');
    await claim();
    await edit('two');
    await edit('three');
    await expect(claim()).resolves.toEqual([]);
    const work = await store.begun(USER);
    expect(work.record?.text).toContain('three');
    await expect(store.outbox.ack(work, {}, SYNCED)).resolves.toMatchObject({ kind: 'cleared' });
  });

  it('a deactivation is delivered ahead of the waiting job of the same user, and that job then finds no mark', async () => {
    await claim();
    await leave();
    await expect(claim()).resolves.toMatchObject([{ ref: USER, priority: 'deactivation' }]);
    const work = await store.begun(USER, 'deactivation');
    await expect(store.outbox.begin(USER, 'edit')).resolves.toEqual({ kind: 'busy' });
    await store.outbox.ack(work, {}, SYNCED);
    await expect(store.outbox.begin(USER, 'edit')).resolves.toEqual({ kind: 'clean' });
    await expect(claim()).resolves.toEqual([]);
  });

  it('a change of lower priority after a delivered deactivation of the same user adds no second job', async () => {
    await leave();
    await expect(claim()).resolves.toMatchObject([{ priority: 'deactivation' }]);
    await edit('two');
    await store.outbox.mark([USER], 'reconcile');
    await expect(claim()).resolves.toEqual([]);
  });

  it('of two workers that begin a sync of one user, one gets the lease and the other `busy`; after the ack begin returns `clean`', async () => {
    await claim();
    const second = store.rival.outboxes.get('main');
    const begins = await Promise.all([store.outbox.begin(USER, 'edit'), second?.begin(USER, 'edit')]);
    expect(begins.map((begin) => begin?.kind).sort()).toEqual(['begun', 'busy']);
    const first = begins.find((begin) => begin?.kind === 'begun');
    await store.outbox.ack(workOf(first ?? { kind: 'clean' }), {}, SYNCED);
    await expect(store.outbox.begin(USER, 'edit')).resolves.toEqual({ kind: 'clean' });
  });

  it('each mark is claimed by exactly one of two concurrent relays', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => idOf(`u${index}x`));
    await Promise.all(ids.map((id) => store.putUser(id, { userName: id })));
    const rival = store.rival.outboxes.get('main');
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 || !rival ? store.outbox : rival).claim(7, 1000)),
    );
    const refs = claims.flatMap((each) => each.map(({ ref }) => ref));
    expect(refs).toHaveLength(61);
    expect(new Set(refs).size).toBe(61);
  });

  it('a job that was lost in the queue is delivered once more, with the same deliveryId', async () => {
    const [first] = await claim();
    await store.redis.zadd(store.keys.key('inflight', 'main'), 1, USER);
    await expect(claim()).resolves.toEqual([first]);
    await expect(claim()).resolves.toEqual([]);
  });

  it('after a worker crashed, the mark is delivered with a new deliveryId and the former priority', async () => {
    await leave();
    const [first] = await claim();
    await store.begun(USER, 'deactivation');
    await crash(USER);
    const again = await claim();
    expect(again).toMatchObject([{ ref: USER, priority: 'deactivation' }]);
    expect(again[0]?.deliveryId).not.toBe(first?.deliveryId);
    await expect(store.outbox.begin(USER, 'deactivation')).resolves.toMatchObject({ kind: 'begun' });
  });

  it('a user who changes before the worker of its deactivation crashes is delivered once, with the priority of the deactivation', async () => {
    await leave();
    await claim();
    await store.begun(USER, 'deactivation');
    await store.putUser(ADA, { userName: 'ada', active: false, title: 'two' }, 'edit');
    await crash(USER);
    await expect(claim()).resolves.toMatchObject([{ ref: USER, priority: 'deactivation' }]);
    await expect(claim()).resolves.toEqual([]);
  });

  it('after the lease is lost, save and ackMembers throw LeaseLost, ack returns fenced, and nothing is stored', async () => {
    await store.putGroup(G, 'Sales', [add(ADA)]);
    await store.claimRefs();
    const lost = await store.begun(GROUP);
    await store.outbox.save(lost, { id: 'before' }, { linked: true });
    await crash(GROUP);
    const checkFenced = async () => {
      await expect(
        store.outbox.save(lost, { id: 'late' }, { linked: true, rewriteMemberships: true }),
      ).rejects.toThrow(LeaseLost);
      await expect(store.outbox.ack(lost, { id: 'late' }, SYNCED)).resolves.toEqual({ kind: 'fenced' });
      await expect(store.outbox.ackMembers(lost, '+', [ADA])).rejects.toThrow(LeaseLost);
    };
    await checkFenced();
    const heir = await store.begun(GROUP);
    await checkFenced();
    expect(heir.link).toEqual({ id: 'before' });
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '+']]));
    await expect(store.state.links.holderOf('main', 'Group', 'late')).resolves.toBeUndefined();
    await expect(store.outbox.ack(heir, { id: 'mine' }, SYNCED)).resolves.toMatchObject({ kind: 'cleared' });
  });

  it('a save before the lease ends renews the lease for its full time', async () => {
    await claim();
    const work = await store.begun(USER);
    const lease = store.keys.key('lease', `main:${USER}`);
    await store.redis.pexpire(lease, 500);
    await store.outbox.save(work, { id: 'p' });
    expect(await store.redis.pttl(lease)).toBeGreaterThan(4000);
    await expect(claim()).resolves.toEqual([]);
  });

  it('a mark that a sync has delayed is not delivered, but is due at once after a change of the user', async () => {
    await claim();
    await store.outbox.ack(await store.begun(USER), { attempts: 1 }, { kind: 'later', afterMs: 60_000 });
    await expect(claim()).resolves.toEqual([]);
    await expect(store.outbox.backlog()).resolves.toMatchObject({ dirty: 1, inflight: 0, blocked: 0 });
    await edit('two');
    await expect(claim()).resolves.toMatchObject([{ ref: USER, priority: 'edit' }]);
  });

  it.each(['edit', 'reconcile'] as const)(
    'a deactivation that waits for its next attempt is due at once when a mark of priority %s is added',
    async (priority) => {
      await leave();
      await claim();
      await store.outbox.ack(await store.begun(USER, 'deactivation'), {}, { kind: 'later', afterMs: 60_000 });
      await store.outbox.mark([USER], priority);
      await expect(claim()).resolves.toMatchObject([{ ref: USER, priority: 'deactivation' }]);
    },
  );

  it.each(['edit', 'deactivation'] as const)(
    "when a group is written during the sync of a member, the member's mark is kept and delivered again at once (priority %s)",
    async (priority) => {
      await store.putGroup(G, 'Sales', [add(ADA)]);
      await store.claimRefs();
      const user = await store.begun(USER, priority);
      const group = await store.begun(GROUP);
      await store.outbox.ackMembers(group, '+', [ADA]);
      await expect(store.outbox.ack(user, {}, { kind: 'later', afterMs: 60_000 })).resolves.toEqual({
        kind: 'kept',
      });
      await expect(claim()).resolves.toMatchObject([{ ref: USER }]);
    },
  );

  it.each(['edit', 'deactivation'] as const)(
    'a user whose sync was delayed becomes due when a group of the user is written (priority %s)',
    async (priority) => {
      await store.putGroup(G, 'Sales', [add(ADA)]);
      await store.claimRefs();
      await store.outbox.ack(await store.begun(USER, priority), {}, { kind: 'later', afterMs: 60_000 });
      await expect(claim()).resolves.toEqual([]);
      await store.outbox.ackMembers(await store.begun(GROUP), '+', [ADA]);
      await expect(claim()).resolves.toMatchObject([{ ref: USER }]);
    },
  );

  it('a sync that adds a synced user to a group leaves the user without a mark', async () => {
    await store.settleAll();
    await store.putGroup(G, 'Sales', [add(ADA)]);
    await store.outbox.ackMembers(await store.begun(GROUP), '+', [ADA]);
    expect([...(await store.marks()).keys()]).toEqual([GROUP]);
  });

  it('when a push removes a member while the addition is being synced, the removal is pending and the group is synced again', async () => {
    await store.putGroup(G, 'Sales', [add(ADA)]);
    const work = await store.begun(GROUP);
    await store.members(G, drop(ADA));
    await store.outbox.ackMembers(work, '+', [ADA]);
    await expect(store.outbox.pendingMembers(G)).resolves.toEqual(new Map([[ADA, '-']]));
    await expect(store.outbox.ack(work, {}, SYNCED)).resolves.toEqual({ kind: 'changed' });
  });

  it('a group that waits for the removal of a user from another group is marked once this removal is applied', async () => {
    await store.putGroup(G, 'Old', [add(ADA)]);
    await store.settleAll();
    await store.putGroup(idOf('new'), 'New', [add(ADA)]);
    await store.members(G, drop(ADA));
    const readiness = () => store.outbox.readiness([ADA]);
    await expect(readiness()).resolves.toMatchObject([{ ready: false, underWay: false }]);
    await store.claimRefs();
    await store.outbox.ack(await store.begun(`Group:${idOf('new')}`), {}, SYNCED);
    const old: DueWork = await store.begun(GROUP);
    await store.outbox.ackMembers(old, '-', [ADA]);
    await expect(readiness()).resolves.toMatchObject([{ ready: true }]);
    expect([...(await store.marks()).keys()].sort()).toEqual([GROUP, `Group:${idOf('new')}`].sort());
  });

  it('a group that waits for the removal of a user from three other groups is marked only after the last of these removals', async () => {
    const groups = ['first', 'second', 'third'].map(idOf);
    for (const id of groups) await store.putGroup(id, id, [add(ADA)]);
    await store.settleAll();
    await store.putGroup(idOf('new'), 'New', [add(ADA)]);
    for (const id of groups) await store.members(id, drop(ADA));
    await store.claimRefs();
    await store.outbox.ack(await store.begun(`Group:${idOf('new')}`), {}, SYNCED);
    for (const id of groups) {
      const before = await store.marks();
      expect([...before.keys()]).not.toContain(`Group:${idOf('new')}`);
      await store.outbox.ackMembers(await store.begun(`Group:${id}`), '-', [ADA]);
      const marks = await store.marks();
      for (const other of groups) expect(marks.get(`Group:${other}`)).toEqual(before.get(`Group:${other}`));
    }
    expect([...(await store.marks()).keys()]).toContain(`Group:${idOf('new')}`);
    await expect(store.outbox.readiness([ADA])).resolves.toMatchObject([{ ready: true }]);
  });

  it('while the queue is full only deactivations are delivered; with room again other marks follow by priority and age', async () => {
    await edit('zero');
    const put = (name: string, priority: 'edit' | 'new' | 'deactivation') =>
      store.putUser(idOf(name), { userName: name }, priority);
    await put('n1', 'new');
    await put('e1', 'edit');
    await put('d1', 'deactivation');
    const names = (claims: { ref: Ref }[]) =>
      claims.map(({ ref }) => ref.slice('User:'.length).replace(/0+$/, ''));
    await expect(claim(10, 0).then(names)).resolves.toEqual(['d1']);
    await expect(claim(10, 2).then(names)).resolves.toEqual(['ada']);
    await expect(claim(10, 1000).then(names)).resolves.toEqual(['e1', 'n1']);
  });
});
