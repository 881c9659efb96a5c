// Tests changes between two platform calls of a sync, with the real sync and a platform in memory.
import { add, drop, idOf } from '../lua/rig.ts';
import { openEstate, RULES, type Estate, type Worker } from './workers.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const G = idOf('group');
const H = idOf('other');

describe('changes while a sync runs', () => {
  let estate: Estate;
  let first: Worker;
  let second: Worker;
  const open = async (...args: Parameters<typeof openEstate>) => {
    estate = await openEstate(...args);
    [first, second] = estate.workers as [Worker, Worker];
  };
  const finish = async (worker: Worker) => {
    while (worker.busy()) await worker.advance();
  };
  const until = async (worker: Worker, call: string) => {
    while (!estate.platform.calls.includes(call) && (await worker.advance()));
  };
  const groupAt = (name: string) =>
    [...estate.platform.groups.values()].find(({ displayName }) => displayName === name);
  const userAt = (name: string) =>
    [...estate.platform.users.values()].find(({ userName }) => userName === name);
  const membersAt = (name: string) =>
    [...(groupAt(name)?.members ?? [])].map((id) => estate.platform.users.get(id)?.userName).sort();
  const user = (id: string, userName: string, rest: object = {}) =>
    estate.store.putUser(id, { userName, externalId: `x-${id}`, ...rest });

  afterEach(() => estate.close());

  it("a membership that is pushed during the user's creation is added", async () => {
    await open(
      {},
      { users: { scope: 'true' }, groups: { include: ['.*'], exclude: [], rename: [] }, attributes: {} },
    );
    await estate.store.putGroup(G, 'Sales');
    await estate.drain();
    await user(ADA, 'ada');
    await expect(first.start()).resolves.toBe(`User:${ADA}`);
    await estate.store.members(G, add(ADA));
    await expect(second.start()).resolves.toBe(`Group:${G}`);
    await finish(second);
    await finish(first);
    await estate.drain();
    expect(membersAt('Sales')).toEqual(['ada']);
    expect(userAt('ada')?.active).toBe(true);
  });

  it('a membership that is removed while it is being written is removed at the platform', async () => {
    await open();
    await user(ADA, 'ada');
    await estate.store.putGroup(G, 'Sales');
    await estate.drain();
    await estate.store.members(G, add(ADA));
    await first.start();
    while (first.busy() && membersAt('Sales').length === 0) await first.advance();
    await estate.store.members(G, drop(ADA));
    await estate.drain();
    expect(membersAt('Sales')).toEqual([]);
    expect(userAt('ada')?.attributes.get('teams') ?? null).toBeNull();
  });

  it('a cancelled removal of a member ends the wait of the user', async () => {
    const { teams: _, ...attributes } = RULES.attributes;
    // Nothing of the user depends on groups, so no change of a group marks the user.
    await open({}, { ...RULES, attributes });
    await user(ADA, 'ada');
    await estate.store.putGroup(G, 'Sales', [add(ADA)]);
    await estate.store.putGroup(H, 'Later');
    await estate.drain();
    await estate.store.members(G, drop(ADA));
    await expect(first.start()).resolves.toBe(`Group:${G}`);
    await estate.store.members(H, add(ADA));
    await expect(second.start()).resolves.toBe(`Group:${H}`);
    await finish(second);
    await estate.store.members(G, add(ADA));
    await estate.drain();
    expect([membersAt('Sales'), membersAt('Later')]).toEqual([['ada'], ['ada']]);
  });

  it('a user who is removed while it is being created ends up closed, with no membership', async () => {
    await open();
    await user(ADA, 'ada');
    await expect(first.start()).resolves.toBe(`User:${ADA}`);
    await estate.store.putGroup(G, 'Sales', [add(ADA)]);
    await until(first, 'create user');
    await estate.store.remove('User', ADA);
    await estate.drain();
    expect(userAt('ada')?.active).toBe(false);
    expect(membersAt('Sales')).toEqual([]);
  });

  it('a create whose answer is lost does not make a second account', async () => {
    await open();
    await user(ADA, 'ada', { title: 'Dr' });
    await first.start();
    while (!estate.platform.users.size && (await first.advance('lost')));
    await estate.drain();
    expect([...estate.platform.users.values()].map(({ userName, active }) => [userName, active])).toEqual([
      ['ada', true],
    ]);
    expect(userAt('ada')?.attributes.get('title')).toBe('Dr');
  });

  it.each(['crash', 'crashAfter', 'fails', 'lost'] as const)(
    'a create-only target completes a started account when any call ends with %s',
    async (fate) => {
      for (let calls = 0; calls < 8; calls++) {
        await open({ policy: 'create-only' });
        await user(ADA, 'ada', { title: 'Dr' });
        await expect(first.start()).resolves.toBe(`User:${ADA}`);
        await estate.store.putGroup(G, 'Sales', [add(ADA)]);
        for (let call = 0; call < calls; call++) await first.advance();
        await first.advance(fate);
        await estate.drain();
        expect(userAt('ada')).toMatchObject({ active: true });
        expect(userAt('ada')?.attributes.get('title')).toBe('Dr');
        expect(membersAt('Sales')).toEqual(['ada']);
        if (calls < 7) await estate.close();
      }
    },
  );

  it('a create-only target drops later member changes', async () => {
    await open({ policy: 'create-only' });
    await user(ADA, 'ada');
    await estate.store.putGroup(G, 'Sales', [add(ADA)]);
    await estate.drain();
    await estate.store.members(G, drop(ADA));
    await estate.drain();
    await estate.store.putGroup(H, 'Later', [add(ADA)]);
    await estate.drain();
    expect([membersAt('Sales'), membersAt('Later')]).toEqual([['ada'], ['ada']]);
  });

  it("a new user with the userName of a leaver gets the account after the leaver's deactivation", async () => {
    await open();
    await user(ADA, 'ada');
    await estate.drain();
    await estate.store.remove('User', ADA);
    await expect(first.start()).resolves.toBe(`User:${ADA}`);
    await user(BOB, 'ada', { title: 'new' });
    await second.start();
    await finish(second);
    await finish(first);
    await estate.drain();
    expect([...estate.platform.users.values()].map(({ active }) => active)).toEqual([true]);
    expect(userAt('ada')?.attributes.get('title')).toBe('new');
  });

  it("a new user with the userName of a leaver does not inherit a pending removal's membership", async () => {
    await open();
    await user(ADA, 'ada');
    await estate.store.putGroup(G, 'Sales', [add(ADA)]);
    await estate.drain();
    estate.platform.frozen.add('Sales');
    await estate.store.remove('User', ADA);
    await estate.drain();
    await user(BOB, 'ada');
    for (let round = 0; round < 3; round++) {
      await estate.hurry();
      while ((await first.start()) !== undefined) await finish(first);
    }
    estate.platform.frozen.clear();
    await estate.store.outbox.mark([`Group:${G}`, `User:${BOB}`], 'edit');
    await estate.drain();
    expect([userAt('ada')?.active, membersAt('Sales')]).toEqual([true, []]);
  });

  it('a new group with the name of a deleted one survives the deletion', async () => {
    await open();
    await user(ADA, 'ada');
    await estate.store.putGroup(G, 'Sales');
    await estate.drain();
    await estate.store.remove('Group', G);
    await first.start();
    await estate.store.putGroup(H, 'Sales', [add(ADA)]);
    await second.start();
    await finish(second);
    await finish(first);
    await estate.drain();
    expect(membersAt('Sales')).toEqual(['ada']);
  });

  it('a displayName that moves from one group to another is applied for both sync orders', async () => {
    await open();
    await estate.store.putGroup(G, 'Sales');
    await estate.store.putGroup(H, 'Field');
    await estate.drain();
    await estate.store.putGroup(H, 'Field 2');
    await estate.store.putGroup(G, 'Field');
    await estate.store.redis.zadd(estate.store.keys.key('dirty', 'main'), 1, `Group:${G}`);
    await estate.drain();
    await expect(estate.store.outbox.blocked()).resolves.toEqual([]);
    expect([...estate.platform.groups.values()].map(({ displayName }) => displayName).sort()).toEqual([
      'Field',
      'Field 2',
    ]);
  });

  it('a userName that moves from one user to another is applied for both sync orders', async () => {
    await open();
    await user(ADA, 'ada');
    await estate.drain();
    await user(ADA, 'lovelace');
    await user(BOB, 'ada');
    await estate.store.redis.zadd(estate.store.keys.key('dirty', 'main'), 1, `User:${BOB}`);
    await estate.drain();
    await expect(estate.store.outbox.blocked()).resolves.toEqual([]);
    expect([...estate.platform.users.values()].map(({ userName }) => userName).sort()).toEqual([
      'ada',
      'lovelace',
    ]);
  });

  it('a group that returns into scope gets its current members', async () => {
    await open();
    await user(ADA, 'ada');
    await user(BOB, 'bob');
    await estate.store.putGroup(G, 'Sales', [add(ADA)]);
    await estate.drain();
    await estate.store.putGroup(G, 'hidden sales');
    await estate.drain();
    await estate.store.members(G, drop(ADA), add(BOB));
    await estate.drain();
    await estate.store.putGroup(G, 'Sales');
    await estate.drain();
    expect(membersAt('Sales')).toEqual(['bob']);
  });

  it('a refused group and a user that waits for it do not requeue each other forever', async () => {
    await open();
    await user(ADA, 'ada');
    await estate.store.putGroup(G, 'Sales', [add(ADA)]);
    await estate.drain();
    await estate.store.putUser(
      ADA,
      { userName: 'ada', externalId: `x-${ADA}`, active: false },
      'deactivation',
    );
    await estate.drain();
    estate.platform.frozen.add('Sales');
    await estate.store.members(G, drop(ADA));
    await user(ADA, 'ada');
    // The clock stands still, so only syncs that are due at once run.
    const before = estate.platform.calls.length;
    for (let round = 0; round < 40 && (await first.start()) !== undefined; round++) await finish(first);
    expect(estate.platform.calls.length - before).toBeLessThan(20);
    expect(userAt('ada')?.active).toBe(false);
    estate.platform.frozen.clear();
    await estate.store.outbox.mark([`Group:${G}`], 'edit');
    await estate.drain();
    expect([userAt('ada')?.active, membersAt('Sales')]).toEqual([true, []]);
  });

  describe.each(['lost', 'crashAfter'] as const)('a lost write whose answer is %s', (fate) => {
    /** Runs the next sync and ends the call that changes the platform as given. */
    const loseWrite = async (changed: () => boolean) => {
      await first.start();
      while (first.busy() && !changed()) await first.advance(fate);
    };

    it('a user is deactivated after an activation without answer', async () => {
      await open();
      await user(ADA, 'ada', { active: false });
      await estate.drain();
      await user(ADA, 'ada', { active: true });
      await loseWrite(() => userAt('ada')?.active === true);
      expect(userAt('ada')?.active).toBe(true);
      await user(ADA, 'ada', { active: false });
      await estate.drain();
      expect(userAt('ada')?.active).toBe(false);
    });

    it('a user is deleted after an activation without answer', async () => {
      await open();
      await user(ADA, 'ada', { active: false });
      await estate.drain();
      await user(ADA, 'ada', { active: true });
      await loseWrite(() => userAt('ada')?.active === true);
      await estate.store.remove('User', ADA);
      await estate.drain();
      expect(userAt('ada')?.active).toBe(false);
    });

    it('a displayName is reset after a rename without answer', async () => {
      await open();
      await user(ADA, 'ada');
      await estate.store.putGroup(G, 'Sales');
      await estate.drain();
      await user(ADA, 'ada2');
      await loseWrite(() => userAt('ada2') !== undefined);
      await user(ADA, 'ada');
      await estate.drain();
      expect(userAt('ada')).toBeDefined();
      await estate.store.putGroup(G, 'Field');
      await loseWrite(() => groupAt('Field') !== undefined);
      await estate.store.putGroup(G, 'Sales');
      await estate.drain();
      expect(groupAt('Sales')).toBeDefined();
    });

    it('an attribute is reset after a write without answer', async () => {
      await open();
      await user(ADA, 'ada', { title: 'one' });
      await estate.drain();
      const title = () => userAt('ada')?.attributes.get('title');
      await user(ADA, 'ada', { title: 'two' });
      await loseWrite(() => title() === 'two');
      await user(ADA, 'ada', { title: 'one' });
      await estate.drain();
      expect(title()).toBe('one');
    });
  });

  it('an account that was deleted at the platform is created again with its memberships', async () => {
    await open();
    await user(ADA, 'ada');
    await estate.store.putGroup(G, 'Sales', [add(ADA)]);
    await estate.drain();
    const { id = '' } = userAt('ada') ?? {};
    estate.platform.users.delete(id);
    groupAt('Sales')?.members.delete(id);
    await estate.store.putGroup(H, 'Later', [add(ADA)]);
    await estate.drain();
    expect([membersAt('Sales'), membersAt('Later')]).toEqual([['ada'], ['ada']]);
    expect(userAt('ada')?.attributes.get('teams')).toEqual(['Later', 'Sales']);
  });
});
