// Tests backlog.lua: pending marks of a target and the age of the oldest.
import { EXCEPTION_REASONS } from '../../../src/directory/outbox/exceptions.ts';
import type { Outcome } from '../../../src/directory/outbox/runs.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const ref = (id: string): Ref => `User:${id}`;

const none = Object.fromEntries(EXCEPTION_REASONS.map((reason) => [reason, 0]));

let store: Store;
beforeEach(async () => {
  store = await openStore();
});
afterEach(() => store.close());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const hire = (id: string, title = 'one') => store.putUser(id, { userName: id, title });

test('the backlog of a converged target is empty', async () => {
  expect(await store.outbox.backlog()).toEqual({
    dirty: 0,
    inflight: 0,
    blocked: 0,
    oldestMs: 0,
    onHold: false,
    writes: {},
    now: expect.any(Number),
    due: 0,
    load: null,
    failedRuns: 0,
    expected: null,
    held: { deactivate: 0, delete: 0, removeMembers: 0, clearAttributes: 0 },
    exceptions: { ...none, total: 0, oldestMs: 0, ages: none },
    priorities: { deactivation: 0, edit: 0, new: 0, reconcile: 0 },
  });
});

test('the age of the backlog is the age of its oldest unapplied change, also after a sync without success', async () => {
  await hire(ADA);
  await pause(60);
  await hire(BOB);
  await hire(ADA, 'two');
  const both = await store.outbox.backlog();
  expect(both).toMatchObject({ dirty: 2, inflight: 0 });
  expect(both.oldestMs).toBeGreaterThanOrEqual(60);

  await store.claimRefs();
  expect(await store.outbox.backlog()).toMatchObject({ dirty: 2, inflight: 2 });
  // The sync ended without success, so the change keeps its age.
  const work = await store.begun(ref(ADA));
  await store.outbox.ack(work, {}, { kind: 'later', afterMs: 0 });
  const again = await store.outbox.backlog();
  expect(again.oldestMs).toBeGreaterThanOrEqual(both.oldestMs);

  await store.claimRefs();
  await store.outbox.ack(await store.begun(ref(ADA)), { id: 'p1' }, { kind: 'synced' });
  const bob = await store.outbox.backlog();
  expect(bob.dirty).toBe(1);
  // The times of the oldest changes, because an age grows between two reads.
  expect(bob.now - bob.oldestMs).toBeGreaterThan(again.now - again.oldestMs);
  await store.outbox.ack(await store.begun(ref(BOB)), {}, { kind: 'blocked' });
  expect(await store.outbox.backlog()).toMatchObject({ dirty: 0, oldestMs: 0, blocked: 1 });
});

test('when a user changes again during its sync, the age of the backlog still counts from the first change', async () => {
  await hire(ADA);
  await store.claimRefs();
  const work = await store.begun(ref(ADA));
  await pause(40);
  await hire(ADA, 'two');
  await expect(store.outbox.ack(work, {}, { kind: 'synced' })).resolves.toEqual({ kind: 'changed' });
  expect((await store.outbox.backlog()).oldestMs).toBeGreaterThanOrEqual(40);
});

test("when the Redis key `accepted` was lost, the next delivery of a mark restores the mark's age", async () => {
  await hire(ADA);
  await store.claimRefs();
  await store.redis.del(store.keys.key('accepted', 'main'));
  // The job of the mark is lost.
  await store.redis.zadd(store.keys.key('inflight', 'main'), 1, ref(ADA));
  await pause(40);
  expect(await store.claimRefs()).toEqual([ref(ADA)]);
  expect((await store.outbox.backlog()).oldestMs).toBeGreaterThanOrEqual(40);
});

test('the backlog counts waiting marks by priority, and omits marks that are delivered to the queue', async () => {
  await store.putUser(ADA, { userName: 'ada' }, 'new');
  await store.putUser(BOB, { userName: 'bob', active: false }, 'deactivation');
  await store.outbox.mark([ref(idOf('eve')), ref(idOf('joe'))], 'reconcile');
  const priorities = { deactivation: 1, edit: 0, new: 1, reconcile: 2 };
  expect(await store.outbox.backlog()).toMatchObject({ priorities });
  await store.claimRefs();
  expect((await store.outbox.backlog()).priorities).toEqual({
    deactivation: 0,
    edit: 0,
    new: 0,
    reconcile: 0,
  });
});

test('the backlog reports the hold of the target, held changes and the last comparison', async () => {
  const runs = store.state.runs.get('main');
  await store.outbox.guardStore.hold('operator');
  await store.outbox.guardStore.holdAll([{ kind: 'deactivate', ref: ref(ADA) }], 1000);
  const report = { run: 'plan:1', startedAt: 1000, endedAt: 3000, counts: {}, users: 1, groups: 0 };
  await runs?.end({ ...report, outcome: 'drifted', drift: [{ action: 'update', cause: 'x', count: 2 }] });
  await runs?.noteWrites({ update: 2 });
  await runs?.noteWrites({ update: 1, create: 4 });
  expect(await store.outbox.backlog()).toMatchObject({
    onHold: true,
    held: { deactivate: 1, delete: 0 },
    lastRun: { run: 'plan:1', drift: [{ count: 2 }] },
    lastSuccessAt: 3000,
    writes: { update: 3, create: 4 },
  });
});

test('`failingSince` of the backlog is the end of the first failed or unproven reconcile run since the last success', async () => {
  const runs = store.state.runs.get('main');
  const end = (endedAt: number, outcome: Outcome) =>
    runs?.end({ run: 'plan:1', startedAt: 1000, endedAt, outcome, counts: {}, users: 1, groups: 0 });
  const failing = async () => {
    const { failedRuns, failingSince } = await store.outbox.backlog();
    return [failedRuns, failingSince];
  };
  await end(2000, 'failed');
  await end(3000, 'unproven');
  expect(await failing()).toEqual([2, 2000]);
  await end(4000, 'converged');
  expect(await failing()).toEqual([0, undefined]);
  await end(5000, 'failed');
  expect(await failing()).toEqual([1, 5000]);
});
