// Tests additions to a group that were never sent to the platform (`unsentMembers`), when the source removes the members again.
import { add, drop, idOf, openStore, type Store } from './rig.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const G = idOf('group');
/** Link of a group that the bridge created; `o` is `a` for an adopted one (link.ts). */
const CREATED = '{"id":"p1","o":"c"}';

let store: Store;
beforeEach(async () => {
  store = await openStore();
  for (const id of [ADA, BOB]) await store.putUser(id, { userName: id });
  await store.putGroup(G, 'Team', [add(ADA)]);
  await store.settleAll();
  await store.members(G, add(BOB));
});
afterEach(() => store.close());

const setLink = (ref: string, text: string) => store.redis.hset(store.keys.key('links', 'main'), ref, text);
const signs = async () => Object.fromEntries(await store.outbox.pendingMembers(G));

it('in a group that the bridge created, removing a member whose addition was never sent leaves nothing pending for this member', async () => {
  await setLink(`Group:${G}`, CREATED);
  await store.members(G, drop(ADA, BOB));
  expect(await signs()).toEqual({ [ADA]: '-' });
});

it('in an adopted group, removing a member whose addition was never sent makes the removal pending, because the group may have had the member', async () => {
  await setLink(`Group:${G}`, '{"id":"p1","o":"a"}');
  await store.members(G, drop(BOB));
  expect(await signs()).toEqual({ [BOB]: '-' });
});

it('removing a member whose addition a sync is about to send makes the removal pending', async () => {
  await setLink(`Group:${G}`, CREATED);
  await store.outbox.sendAdditions(await store.begun(`Group:${G}`), [{ user: BOB }]);
  await store.members(G, drop(BOB));
  expect(await signs()).toEqual({ [BOB]: '-' });
});

it('when a removal cancels an addition that was never sent, the stored time of change of the group is deleted, so that a reconcile reads it', async () => {
  await setLink(`Group:${G}`, CREATED);
  const seen = store.keys.key('groupsSeen', 'main');
  await store.redis.hset(seen, `Group:${G}`, '2026-11-26T10:00:00Z');
  await store.members(G, drop(BOB));
  expect(await store.redis.hget(seen, `Group:${G}`)).toBeNull();
});

it.each(['{"id":"p1","o"', 'null', '1', '"a"'])(
  'with a damaged link %s of the group, the removal of a member is stored and is pending',
  async (text) => {
    await setLink(`Group:${G}`, text);
    await store.members(G, drop(ADA));
    expect(await store.membersOf(G)).toEqual([BOB]);
    expect(await signs()).toMatchObject({ [ADA]: '-' });
  },
);

it('the deletion of a user whose link is damaged is stored with its mark, and counts as a waiting deactivation', async () => {
  await setLink(`User:${ADA}`, '{"id":"p1"');
  await store.remove('User', ADA);
  expect(await store.state.directory.get('User', ADA)).toBeUndefined();
  expect((await store.marks()).has(`User:${ADA}`)).toBe(true);
  expect((await store.outbox.guardStore.counts(3_600_000)).kinds.deactivate.waiting).toBe(1);
});
