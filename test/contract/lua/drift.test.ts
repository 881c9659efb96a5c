// Tests apply_drift and its drift notes: the worker receives each note, and the note is deleted when the worker has saved it.
import { hashOfLink, RunLost, type Drift, type DriftNotes } from '../../../src/directory/outbox/drift.ts';
import { isAnew } from '../../../src/directory/outbox/mapped-by.ts';
import type { RunStore } from '../../../src/directory/outbox/runs.ts';
import { add, drop, idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const G = idOf('group');
const LINK = { id: 'p-ada', core: { userName: 'ada', active: true } };

describe('notes of suspected drift', () => {
  let store: Store;
  let notes: DriftNotes;
  let runs: RunStore;
  beforeEach(async () => {
    store = await openStore();
    notes = store.state.drifts.get('main') as DriftNotes;
    runs = store.state.runs.get('main') as RunStore;
    await store.putUser(ADA, { userName: 'ada' });
    await store.putGroup(G, 'Team', [add(ADA)]);
    await store.settleAll();
  });
  afterEach(() => store.close());

  it('a reconcile run that began before a target came back cannot record that all users have the present mapping rules; a later run can', async () => {
    await runs.noteMapped('rules', await runs.mappedBy());
    const before = await runs.mappedBy();
    expect(before).toBe('rules');
    await runs.noteAnew();
    const isNoted = await runs.noteMapped('rules', before);
    const anew = await runs.mappedBy();
    expect([isNoted, isAnew(anew)]).toEqual([false, true]);
    await runs.noteAnew();
    expect(await runs.noteMapped('rules', anew)).toBe(false);
    expect(await runs.noteMapped('rules', await runs.mappedBy())).toBe(true);
    expect(await runs.mappedBy()).toBe('rules');
  });

  const linkOf = async (ref: string) => (await notes.readLinks([ref as 'User:x']))[0]?.text ?? '';
  const drift = async (change: Partial<Drift> = {}): Promise<Drift> => ({
    ref: `User:${ADA}`,
    version: 1,
    link: hashOfLink(await linkOf(change.ref ?? `User:${ADA}`)),
    names: ['displayName'],
    observed: { displayName: 'Theirs' },
    add: [],
    remove: [],
    priority: 'reconcile',
    ...change,
  });
  const suspectedDrift = () => store.redis.hgetall(store.keys.key('suspectedDrift', 'main'));

  it('noting a difference at the platform marks the user with priority reconcile; the next sync reads the note and deletes it', async () => {
    await expect(notes.note([await drift()], 'plan:1')).resolves.toEqual(['applied']);
    await expect(store.outbox.claim(10, 10)).resolves.toMatchObject([{ priority: 'reconcile' }]);
    const work = await store.begun(`User:${ADA}`);
    expect(JSON.parse(work.suspectedDrift)).toEqual(['displayName']);
    expect(work.request).toBe('plan:1');
    await store.outbox.save(work, { ...LINK, unsure: ['displayName'] });
    await expect(suspectedDrift()).resolves.toEqual({});
    await store.outbox.ack(work, LINK, { kind: 'synced' });
    await expect(store.marks()).resolves.toEqual(new Map());
  });

  it('a reconcile run skips an account whose fingerprint is stored, until its user is marked or its link is written', async () => {
    const work = async (): Promise<void> => {
      await store.outbox.mark([`User:${ADA}`], 'edit');
      const begun = await store.begun(`User:${ADA}`);
      await store.outbox.save(begun, LINK, { linked: true });
      await store.outbox.ack(begun, LINK, { kind: 'synced' });
    };
    await work();
    const seen = [
      { platformId: 'p-nobody', print: 'as-then' },
      { platformId: 'p-ada', print: 'as-then' },
    ];
    await expect(notes.unlikePrints(seen)).resolves.toEqual([0, 1]);
    const link = hashOfLink(await linkOf(`User:${ADA}`));
    const print = { ref: `User:${ADA}` as const, platformId: 'p-ada', print: 'as-then' };
    await notes.notePrints([{ ...print, link: hashOfLink('another link') }]);
    await expect(notes.unlikePrints(seen)).resolves.toEqual([0, 1]);
    await notes.notePrints([{ ...print, link }]);
    await expect(notes.unlikePrints(seen)).resolves.toEqual([0]);
    await expect(notes.unlikePrints([{ platformId: 'p-ada', print: 'then' }])).resolves.toEqual([0]);
    await store.outbox.mark([`User:${ADA}`], 'edit');
    await expect(notes.unlikePrints(seen)).resolves.toEqual([0, 1]);
    await work();
    await expect(notes.unlikePrints(seen)).resolves.toEqual([0, 1]);
    await expect(notes.unlikePrints([])).resolves.toEqual([]);
  });

  it('a note of differing attributes that changes during a sync is kept when the sync ends', async () => {
    await notes.note([await drift()], 'plan:1');
    const work = await store.begun(`User:${ADA}`);
    await store.redis.hset(
      store.keys.key('suspectedDrift', 'main'),
      `User:${ADA}`,
      '["displayName","active"]',
    );
    await store.outbox.ack(work, LINK, { kind: 'synced' });
    await expect(suspectedDrift()).resolves.toEqual({ [`User:${ADA}`]: '["displayName","active"]' });
  });

  it('a second note of differing attributes for a marked user is added to the first one, and the mark stays unchanged', async () => {
    await notes.note([await drift()], 'plan:1');
    const before = await store.marks();
    await notes.note([await drift({ names: ['active', 'displayName'] })], 'plan:2');
    await expect(suspectedDrift()).resolves.toEqual({ [`User:${ADA}`]: '["displayName","active"]' });
    await expect(store.marks()).resolves.toEqual(before);
  });

  it('noting a difference that was seen at an older version or link returns `stale` and marks nothing', async () => {
    const seen = await drift();
    await store.putUser(ADA, { userName: 'ada', title: 'new' });
    await expect(notes.note([seen], 'plan:1')).resolves.toEqual(['stale']);
    await store.settleAll();
    await expect(
      notes.note([await drift({ version: 2, link: hashOfLink('{}') })], 'plan:1'),
    ).resolves.toEqual(['stale']);
    await expect(suspectedDrift()).resolves.toEqual({});
    await expect(store.marks()).resolves.toEqual(new Map());
  });

  it('noting a difference of a user that a worker is syncing returns `busy` and marks nothing', async () => {
    await store.outbox.mark([`User:${ADA}`], 'edit');
    const seen = await drift();
    await store.begun(`User:${ADA}`);
    await expect(notes.note([seen], 'plan:1')).resolves.toEqual(['busy']);
    await expect(suspectedDrift()).resolves.toEqual({});
  });

  it('a membership difference that a comparison notes becomes pending only if the stored members of the group require the change', async () => {
    const group = { ref: `Group:${G}` as const, names: [], version: 1 };
    const sign = () => store.redis.hget(store.keys.key('pendingMembers', `main:${G}`), ADA);
    await notes.note([await drift({ ...group, remove: [ADA] })], 'plan:1');
    await expect(sign()).resolves.toBeNull();
    await notes.note([await drift({ ...group, add: [ADA] })], 'plan:1');
    await expect(sign()).resolves.toBe('+');
    await store.members(G, drop(ADA));
    await store.settleAll();
    await notes.note([await drift({ ...group, version: 2, add: [ADA] })], 'plan:1');
    await expect(sign()).resolves.toBeNull();
    await notes.note([await drift({ ...group, version: 2, remove: [ADA] })], 'plan:1');
    await expect(sign()).resolves.toBe('-');
  });

  it('lookup by platform id returns the linked user with its link and mark, and undefined for an unknown id', async () => {
    await store.outbox.mark([`User:${ADA}`], 'edit');
    await expect(notes.linkedTo('User', ['p-nobody', `p-${ADA}`])).resolves.toEqual([
      undefined,
      { ref: `User:${ADA}`, text: expect.stringContaining(`p-${ADA}`), marked: true },
    ]);
  });

  it('only one reconcile run at a time gets the fence, and a run with an old fence throws RunLost when it notes a difference', async () => {
    const fence = await runs.take(60_000);
    await expect(runs.take(60_000)).resolves.toBeUndefined();
    await expect(notes.note([await drift()], 'plan:1', fence)).resolves.toEqual(['applied']);
    await runs.release(String(fence));
    const next = await runs.take(60_000);
    await expect(runs.keep(String(fence), 60_000)).resolves.toBe(false);
    await expect(notes.note([await drift()], 'plan:1', fence)).rejects.toThrow(RunLost);
    await runs.release(String(fence));
    await expect(runs.isRunning()).resolves.toBe(true);
    await runs.release(String(next));
    await expect(runs.isRunning()).resolves.toBe(false);
  });

  it('deleting a group removes its stored time of change, and a run that read the group earlier does not store it again', async () => {
    const ref = `Group:${G}` as const;
    const changedAt = '2026-01-01T00:00:00Z';
    const [group] = await notes.readLinks([ref]);
    const seen = [{ ref, changedAt, link: hashOfLink(group?.text ?? '') }];
    const stored = () => store.redis.hgetall(store.keys.key('groupsSeen', 'main'));
    await runs.noteGroupsSeen(seen);
    await expect(runs.groupsSeen([ref])).resolves.toEqual([changedAt]);
    await store.remove('Group', G);
    await store.settleAll();
    await expect(stored()).resolves.toEqual({});
    await runs.noteGroupsSeen(seen);
    await expect(stored()).resolves.toEqual({});
  });
});
