// Tests users of very many groups: the effort of a script grows with their number, not with its square.
import { startLocalRedis } from '../../../src/demo/local-redis.ts';
import { eventually } from '../../support/eventually.ts';
import { watchCommands } from '../../support/watch-commands.ts';
import { add, idOf, openStore, type Store } from './rig.ts';

const MANY = 300;
const ADA = idOf('ada');
const GROUPS = Array.from({ length: MANY }, (_, index) => idOf(`group${index}-`));

describe('a user whom 300 groups name as member before its creation', () => {
  let redis: Awaited<ReturnType<typeof startLocalRedis>>;
  let store: Store;
  // A Redis of its own, because MONITOR shows the commands of all clients.
  beforeAll(async () => {
    redis = await startLocalRedis({ env: {} });
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    store = await openStore({ url: redis.url });
    for (const group of GROUPS) await store.putGroup(group, group, [add('ada@x.com', 'A-1')]);
    await store.settleAll();
  });
  afterEach(() => store.close());

  const ada = () => store.putUser(ADA, { userName: 'ada@x.com', externalId: 'A-1' });
  const isMarked = async (): Promise<boolean> => {
    const marks = await store.marks();
    return GROUPS.every((group) => marks.has(`Group:${group}`));
  };

  it('creating a user whom 300 groups name as member adds the user to each group once, with a pending addition and a mark', async () => {
    await ada();
    const [groups = []] = await store.state.directory.groupsOf([ADA]);
    expect(groups.map(({ id }) => id).sort()).toEqual([...GROUPS].sort());
    for (const group of [GROUPS[0] ?? '', GROUPS[MANY - 1] ?? '']) {
      await expect(store.membersOf(group)).resolves.toEqual([ADA]);
      await expect(store.state.directory.get('Group', group)).resolves.toMatchObject({ version: 2 });
      await expect(store.outbox.pendingMembers(group)).resolves.toEqual(new Map([[ADA, '+']]));
    }
    expect(await isMarked()).toBe(true);
  });

  it('deleting a user who is in 300 groups removes the user from each group, with a pending removal and a mark', async () => {
    await ada();
    await store.settleAll();
    await store.remove('User', ADA);
    await expect(store.membersOf(GROUPS[7] ?? '')).resolves.toEqual([]);
    await expect(store.outbox.pendingMembers(GROUPS[7] ?? '')).resolves.toEqual(new Map([[ADA, '-']]));
    await expect(store.state.directory.groupsOf([ADA])).resolves.toEqual([[]]);
    await expect(store.redis.get(store.keys.key('memberCount'))).resolves.toBe('0');
    expect(await isMarked()).toBe(true);
  });

  it("creating and deleting a user in 300 groups each write the stored list of the user's groups with one Redis command", async () => {
    const list = store.keys.key('groupsOf');
    let writes = 0;
    let isOver = false;
    const unwatch = await watchCommands(store.redis, ([command = '', key]) => {
      if (key === list && /^h(set|del)$/i.test(command)) writes += 1;
      isOver ||= key === 'the end';
    });
    try {
      await ada();
      await store.remove('User', ADA);
      await store.redis.get('the end');
      await eventually('all commands were seen', () => Promise.resolve(isOver));
    } finally {
      unwatch();
    }
    expect(writes).toBe(2);
  });
});
