// Tests member changes whose answer shows no members: a removal keeps its sign until a read confirms it, and the next reconcile
// reads the members.
import { toLinkText, type Link } from '../../../src/directory/outbox/link.ts';
import { hashOfLink, type DriftNotes } from '../../../src/directory/outbox/drift.ts';
import type { RunStore } from '../../../src/directory/outbox/runs.ts';
import { add, drop, idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const G = idOf('group');
const GROUP = `Group:${G}` as const;
const CHANGED_AT = '2026-11-26T10:00:00Z';

let store: Store;
let notes: DriftNotes;
let runs: RunStore;
beforeEach(async () => {
  store = await openStore();
  notes = store.state.drifts.get('main') as DriftNotes;
  runs = store.state.runs.get('main') as RunStore;
  for (const id of [ADA, BOB]) await store.putUser(id, { userName: id });
  await store.putGroup(G, 'Team', [add(ADA, BOB)]);
  await store.settleAll();
  await noteSeen(await linkHash());
  expect(await runs.groupsSeen([GROUP])).toEqual([CHANGED_AT]);
});
afterEach(() => store.close());

const unconfirmed = () => store.outbox.unconfirmedRemovals(G);
const linkHash = async (): Promise<string> => hashOfLink((await notes.readLinks([GROUP]))[0]?.text ?? '');

const noteSeen = (link: string) => runs.noteGroupsSeen([{ ref: GROUP, changedAt: CHANGED_AT, link }]);

async function removeUnseen(): Promise<void> {
  await store.members(G, drop(ADA));
  const work = await store.begun(GROUP);
  await store.outbox.ackMembers(work, '-', [ADA], 'unseen');
  await store.outbox.ack(work, work.link, { kind: 'synced' });
}

it("a removal that the platform's answer does not show is unconfirmed until a read, made since the last sync of the group, lacks the member", async () => {
  await removeUnseen();
  expect(await unconfirmed()).toEqual([ADA]);
  expect([...(await store.outbox.pendingMembers(G))]).toEqual([]);
  const { pendingMemberships, unconfirmedRemovals } = await store.outbox.resourceStatus(`User:${ADA}`);
  expect([pendingMemberships.size, unconfirmedRemovals]).toEqual([0, [G]]);
  // The group was synced since it was read.
  await notes.confirmRemovals({ ref: GROUP, link: hashOfLink('other'), users: [ADA] });
  expect(await unconfirmed()).toEqual([ADA]);
  await notes.confirmRemovals({ ref: GROUP, link: await linkHash(), users: [ADA, BOB] });
  expect(await unconfirmed()).toEqual([]);
  expect((await store.outbox.resourceStatus(`User:${ADA}`)).unconfirmedRemovals).toEqual([]);
});

it("after a removal that the platform's answer does not show, the group's stored time of change is deleted, so that a reconcile reads the group", async () => {
  await removeUnseen();
  expect(await runs.groupsSeen([GROUP])).toEqual([null]);
});

it('a run reads a group before the group is synced → at its end it does not store the time of change that the sync deleted', async () => {
  const before = await linkHash();
  await removeUnseen();
  await noteSeen(before);
  expect(await runs.groupsSeen([GROUP])).toEqual([null]);
  await noteSeen(await linkHash());
  expect(await runs.groupsSeen([GROUP])).toEqual([CHANGED_AT]);
});

it("after an addition that the platform's answer does not show, the group's stored time of change is deleted, and no removal is unconfirmed", async () => {
  await store.members(G, drop(ADA), add(ADA));
  await store.outbox.mark([GROUP], 'edit');
  const work = await store.begun(GROUP);
  await store.outbox.ackMembers(work, '+', [ADA], 'unseen');
  expect(await runs.groupsSeen([GROUP])).toEqual([null]);
  expect(await unconfirmed()).toEqual([]);
});

it('when the source adds a member again after an unconfirmed removal, the addition is pending, also after a later read of the group', async () => {
  await removeUnseen();
  await store.members(G, add(ADA));
  expect([...(await store.outbox.pendingMembers(G))]).toEqual([[ADA, '+']]);
  await notes.confirmRemovals({ ref: GROUP, link: await linkHash(), users: [ADA] });
  expect([...(await store.outbox.pendingMembers(G))]).toEqual([[ADA, '+']]);
});

it('a removal whose worker lost its lease before the acknowledgement stays pending', async () => {
  await store.members(G, drop(ADA));
  const work = await store.begun(GROUP);
  await store.redis.del(store.keys.key('lease', `main:${GROUP}`));
  await expect(store.outbox.ackMembers(work, '-', [ADA], 'unseen')).rejects.toThrow();
  expect([...(await store.outbox.pendingMembers(G))]).toEqual([[ADA, '-']]);
});

/** The source removes Ada, whose link was replaced by this one, from the group. @returns the number of removals that are unconfirmed */
async function removeSought(link: Link): Promise<number> {
  await store.redis.hset(store.keys.key('links', 'main'), `User:${ADA}`, toLinkText(link));
  await store.members(G, drop(ADA));
  const work = await store.begun(GROUP);
  return store.outbox.ackMembers(work, '-', [ADA], 'sought');
}

it('the removal of a member whose account is not found yet is unconfirmed, and becomes pending once the user is linked', async () => {
  expect(await removeSought({ mayExist: {} })).toBe(1);
  expect(await unconfirmed()).toEqual([ADA]);
  await store.outbox.mark([`User:${ADA}`], 'edit');
  const work = await store.begun(`User:${ADA}`);
  await store.outbox.save(work, { id: 'p-new' }, { linked: true });
  expect([...(await store.outbox.pendingMembers(G))]).toEqual([[ADA, '-']]);
});

it('the removal of a member whose account was found in the meantime stays pending', async () => {
  expect(await removeSought({ id: 'p-new' })).toBe(0);
  expect([...(await store.outbox.pendingMembers(G))]).toEqual([[ADA, '-']]);
});

it('the removal of a member who has a mark, so that a sync may find the account, stays pending', async () => {
  await store.outbox.mark([`User:${ADA}`], 'edit');
  expect(await removeSought({ mayExist: {} })).toBe(0);
  expect([...(await store.outbox.pendingMembers(G))]).toEqual([[ADA, '-']]);
});
