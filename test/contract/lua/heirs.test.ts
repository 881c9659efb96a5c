// Tests that resources become due when the user whose name or account they wait for is forgotten.
import type { Ref } from '../../../src/directory/records.ts';
import { idOf, openStore, type Store } from './rig.ts';

const ADA: Ref = `User:${idOf('ada')}`;
const BOB: Ref = `User:${idOf('bob')}`;
/** Bob waits for the name of Ada. */
const WAITS = { holder: ADA };

let store: Store;
beforeEach(async () => {
  store = await openStore();
  await store.putUser(idOf('ada'), { userName: 'ada' });
  await store.putUser(idOf('bob'), { userName: 'bob' });
  await store.claimRefs();
  await store.outbox.ack(await store.begun(ADA), { id: 'p1' }, { kind: 'synced' });
});
afterEach(() => store.close());

async function forgetAda(): Promise<void> {
  await store.remove('User', idOf('ada'));
  await store.claimRefs();
  await expect(store.state.personData.forgetUser(ADA, 'order')).resolves.toMatchObject({ kind: 'forgotten' });
}

test('when a user is forgotten, a user whose sync waits for the same name is due at once', async () => {
  const work = await store.begun(BOB);
  await store.outbox.ack(work, {}, { kind: 'later', afterMs: 60_000 }, WAITS);
  await expect(store.claimRefs()).resolves.toEqual([]);
  await forgetAda();
  await expect(store.claimRefs()).resolves.toEqual([BOB]);
  await expect(store.redis.hlen(store.keys.key('heirs', 'main'))).resolves.toBe(0);
});

test('when a user is forgotten, a dead letter that waits for the same name is due again', async () => {
  const condition = { reason: 'Conflict', message: 'taken', since: 0 };
  const work = await store.begun(BOB);
  await store.outbox.ack(work, { condition }, { kind: 'blocked' }, WAITS);
  await forgetAda();
  await expect(store.claimRefs()).resolves.toEqual([BOB]);
});

it('a user with pending memberships is forgotten → a group that a push marked keeps the id of the push, and others get the id of the order', async () => {
  const ADMINS = idOf('admins');
  for (const group of [ADMINS, idOf('sales')]) await store.putGroup(group, group);
  await store.settleAll();
  await store.putGroup(ADMINS, 'renamed');
  for (const group of [ADMINS, idOf('sales')])
    await store.redis.hset(store.keys.key('pendingGroups', `main:${idOf('gone')}`), group, '-');
  await store.state.personData.forgetUser(`User:${idOf('gone')}`, 'forget:order');
  const requestOf = async (group: string) =>
    (await store.redis.hget(store.keys.key('marks', 'main'), `Group:${group}`))?.split(' ')[2];
  expect([await requestOf(ADMINS), await requestOf(idOf('sales'))]).toEqual(['req', 'forget:order']);
});
