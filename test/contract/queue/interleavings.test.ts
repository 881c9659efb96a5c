// Tests changes between two platform calls of a sync, with the real sync and a platform in memory.
import { add, drop, idOf } from '../lua/rig.ts';
import { INTERRUPTIONS } from './fake-platform.ts';
import { openFixture, RULES, type SyncFixture, type Worker } from './workers.ts';

const ADA = idOf('ada');
const BOB = idOf('bob');
const G = idOf('group');
const H = idOf('other');

describe('changes while a sync runs', () => {
  let fixture: SyncFixture;
  let first: Worker;
  let second: Worker;
  const open = async (...args: Parameters<typeof openFixture>) => {
    fixture = await openFixture(...args);
    [first, second] = fixture.workers as [Worker, Worker];
  };
  const finish = async (worker: Worker) => {
    while (worker.busy()) await worker.advance();
  };
  /** Continues the sync until the platform has carried out this call. */
  const until = async (worker: Worker, call: string) => {
    while (!fixture.platform.calls.includes(call) && (await worker.advance()));
  };
  const groupAt = (name: string) =>
    [...fixture.platform.groups.values()].find(({ displayName }) => displayName === name);
  const userAt = (name: string) =>
    [...fixture.platform.users.values()].find(({ userName }) => userName === name);
  const membersAt = (name: string) =>
    [...(groupAt(name)?.members ?? [])].map((id) => fixture.platform.users.get(id)?.userName).sort();
  const user = (id: string, userName: string, rest: object = {}) =>
    fixture.store.putUser(id, { userName, externalId: `x-${id}`, ...rest });

  afterEach(() => fixture.close());

  it("a membership that is pushed while the user's account is created is added at the platform", async () => {
    await open(
      {},
      { users: { scope: 'true' }, groups: { include: ['.*'], exclude: [], rename: [] }, attributes: {} },
    );
    await fixture.store.putGroup(G, 'Sales');
    await fixture.drain();
    await user(ADA, 'ada');
    await expect(first.start()).resolves.toBe(`User:${ADA}`);
    await fixture.store.members(G, add(ADA));
    await expect(second.start()).resolves.toBe(`Group:${G}`);
    await finish(second);
    await finish(first);
    await fixture.drain();
    expect(membersAt('Sales')).toEqual(['ada']);
    expect(userAt('ada')?.active).toBe(true);
  });

  it('a membership that the source removes while it is being written is removed at the platform', async () => {
    await open();
    await user(ADA, 'ada');
    await fixture.store.putGroup(G, 'Sales');
    await fixture.drain();
    await fixture.store.members(G, add(ADA));
    await first.start();
    while (first.busy() && membersAt('Sales').length === 0) await first.advance();
    await fixture.store.members(G, drop(ADA));
    await fixture.drain();
    expect(membersAt('Sales')).toEqual([]);
    expect(userAt('ada')?.attributes.get('teams') ?? null).toBeNull();
  });

  it('a user whose addition to one group waits for the removal from another is in both groups after the source takes the removal back', async () => {
    const { teams: _, ...attributes } = RULES.attributes;
    // Nothing of the user depends on groups, so no change of a group marks the user.
    await open({}, { ...RULES, attributes });
    await user(ADA, 'ada');
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await fixture.store.putGroup(H, 'Later');
    await fixture.drain();
    await fixture.store.members(G, drop(ADA));
    await expect(first.start()).resolves.toBe(`Group:${G}`);
    await fixture.store.members(H, add(ADA));
    await expect(second.start()).resolves.toBe(`Group:${H}`);
    await finish(second);
    await fixture.store.members(G, add(ADA));
    await fixture.drain();
    expect([membersAt('Sales'), membersAt('Later')]).toEqual([['ada'], ['ada']]);
  });

  it('a user who is deleted at the source while the account is created gets an inactive account without memberships', async () => {
    await open();
    await user(ADA, 'ada');
    await expect(first.start()).resolves.toBe(`User:${ADA}`);
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await until(first, 'create user');
    await fixture.store.remove('User', ADA);
    await fixture.drain();
    expect(userAt('ada')?.active).toBe(false);
    expect(membersAt('Sales')).toEqual([]);
  });

  it('a create whose answer is lost leads to exactly one account, active and with its attribute', async () => {
    await open();
    await user(ADA, 'ada', { title: 'Dr' });
    await first.start();
    while (!fixture.platform.users.size && (await first.advance('lost')));
    await fixture.drain();
    expect([...fixture.platform.users.values()].map(({ userName, active }) => [userName, active])).toEqual([
      ['ada', true],
    ]);
    expect(userAt('ada')?.attributes.get('title')).toBe('Dr');
  });

  it.each(INTERRUPTIONS)(
    'under the policy create-only, a new account gets its attribute and its membership despite one call %s',
    async (_words, outcome) => {
      // Each of the first eight calls of the sync is the interrupted one once.
      for (let calls = 0; calls < 8; calls++) {
        await open({ policy: 'create-only' });
        await user(ADA, 'ada', { title: 'Dr' });
        await expect(first.start()).resolves.toBe(`User:${ADA}`);
        await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
        for (let call = 0; call < calls; call++) await first.advance();
        await first.advance(outcome);
        await fixture.drain();
        expect(userAt('ada')).toMatchObject({ active: true });
        expect(userAt('ada')?.attributes.get('title')).toBe('Dr');
        expect(membersAt('Sales')).toEqual(['ada']);
        if (calls < 7) await fixture.close();
      }
    },
  );

  it('under the policy create-only, a member removed from an existing group stays at the platform, and a new group gets its members', async () => {
    await open({ policy: 'create-only' });
    await user(ADA, 'ada');
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await fixture.drain();
    await fixture.store.members(G, drop(ADA));
    await fixture.drain();
    await fixture.store.putGroup(H, 'Later', [add(ADA)]);
    await fixture.drain();
    expect([membersAt('Sales'), membersAt('Later')]).toEqual([['ada'], ['ada']]);
  });

  it('a new user who is synced during the deactivation of a leaver with the same userName gets the account, active and with the new attribute', async () => {
    await open();
    await user(ADA, 'ada');
    await fixture.drain();
    await fixture.store.remove('User', ADA);
    await expect(first.start()).resolves.toBe(`User:${ADA}`);
    await user(BOB, 'ada', { title: 'new' });
    await second.start();
    await finish(second);
    await finish(first);
    await fixture.drain();
    expect([...fixture.platform.users.values()].map(({ active }) => active)).toEqual([true]);
    expect(userAt('ada')?.attributes.get('title')).toBe('new');
  });

  it('a new user with the userName of a leaver gets the account, active and without the group whose removal of the leaver was pending', async () => {
    await open();
    await user(ADA, 'ada');
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await fixture.drain();
    fixture.platform.frozen.add('Sales');
    await fixture.store.remove('User', ADA);
    await fixture.drain();
    await user(BOB, 'ada');
    for (let round = 0; round < 3; round++) {
      await fixture.hurry();
      while ((await first.start()) !== undefined) await finish(first);
    }
    fixture.platform.frozen.clear();
    await fixture.store.outbox.mark([`Group:${G}`, `User:${BOB}`], 'edit');
    await fixture.drain();
    expect([userAt('ada')?.active, membersAt('Sales')]).toEqual([true, []]);
  });

  it('when a group is deleted and a new one with its name is synced at the same time, the new group has its member at the platform', async () => {
    await open();
    await user(ADA, 'ada');
    await fixture.store.putGroup(G, 'Sales');
    await fixture.drain();
    await fixture.store.remove('Group', G);
    await first.start();
    await fixture.store.putGroup(H, 'Sales', [add(ADA)]);
    await second.start();
    await finish(second);
    await finish(first);
    await fixture.drain();
    expect(membersAt('Sales')).toEqual(['ada']);
  });

  it('a displayName that moves from one group to another arrives at the platform, also if the group that gets it is synced first', async () => {
    await open();
    await fixture.store.putGroup(G, 'Sales');
    await fixture.store.putGroup(H, 'Field');
    await fixture.drain();
    await fixture.store.putGroup(H, 'Field 2');
    await fixture.store.putGroup(G, 'Field');
    // The lowest score makes the group that gets the name the first one.
    await fixture.store.redis.zadd(fixture.store.keys.key('dirty', 'main'), 1, `Group:${G}`);
    await fixture.drain();
    await expect(fixture.store.outbox.blocked()).resolves.toEqual([]);
    expect([...fixture.platform.groups.values()].map(({ displayName }) => displayName).sort()).toEqual([
      'Field',
      'Field 2',
    ]);
  });

  it('a userName that moves from one user to another arrives at the platform, also if the user who gets it is synced first', async () => {
    await open();
    await user(ADA, 'ada');
    await fixture.drain();
    await user(ADA, 'lovelace');
    await user(BOB, 'ada');
    // The lowest score makes the user who gets the name the first one.
    await fixture.store.redis.zadd(fixture.store.keys.key('dirty', 'main'), 1, `User:${BOB}`);
    await fixture.drain();
    await expect(fixture.store.outbox.blocked()).resolves.toEqual([]);
    expect([...fixture.platform.users.values()].map(({ userName }) => userName).sort()).toEqual([
      'ada',
      'lovelace',
    ]);
  });

  it('a group that comes back into scope gets its current members', async () => {
    await open();
    await user(ADA, 'ada');
    await user(BOB, 'bob');
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await fixture.drain();
    await fixture.store.putGroup(G, 'hidden sales');
    await fixture.drain();
    await fixture.store.members(G, drop(ADA), add(BOB));
    await fixture.drain();
    await fixture.store.putGroup(G, 'Sales');
    await fixture.drain();
    expect(membersAt('Sales')).toEqual(['bob']);
  });

  it('a refused group and a user who waits for it cause fewer than 20 calls, and are applied once the platform accepts the group', async () => {
    await open();
    await user(ADA, 'ada');
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await fixture.drain();
    await fixture.store.putUser(
      ADA,
      { userName: 'ada', externalId: `x-${ADA}`, active: false },
      'deactivation',
    );
    await fixture.drain();
    fixture.platform.frozen.add('Sales');
    await fixture.store.members(G, drop(ADA));
    await user(ADA, 'ada');
    // The clock stands still, so only syncs that are due at once run.
    const before = fixture.platform.calls.length;
    for (let round = 0; round < 40 && (await first.start()) !== undefined; round++) await finish(first);
    expect(fixture.platform.calls.length - before).toBeLessThan(20);
    expect(userAt('ada')?.active).toBe(false);
    fixture.platform.frozen.clear();
    await fixture.store.outbox.mark([`Group:${G}`], 'edit');
    await fixture.drain();
    expect([userAt('ada')?.active, membersAt('Sales')]).toEqual([true, []]);
  });

  const unanswered = INTERRUPTIONS.filter(([, outcome]) => outcome === 'lost' || outcome === 'crashAfter');
  describe.each(unanswered)('a write %s', (_words, outcome) => {
    /** Runs the next sync with every call interrupted as `outcome` says, until the platform has changed. */
    const loseWrite = async (changed: () => boolean) => {
      await first.start();
      while (first.busy() && !changed()) await first.advance(outcome);
    };

    it('the account is deactivated when the source deactivates the user after an activation without answer', async () => {
      await open();
      await user(ADA, 'ada', { active: false });
      await fixture.drain();
      await user(ADA, 'ada', { active: true });
      await loseWrite(() => userAt('ada')?.active === true);
      expect(userAt('ada')?.active).toBe(true);
      await user(ADA, 'ada', { active: false });
      await fixture.drain();
      expect(userAt('ada')?.active).toBe(false);
    });

    it('the account is deactivated when the source deletes the user after an activation without answer', async () => {
      await open();
      await user(ADA, 'ada', { active: false });
      await fixture.drain();
      await user(ADA, 'ada', { active: true });
      await loseWrite(() => userAt('ada')?.active === true);
      await fixture.store.remove('User', ADA);
      await fixture.drain();
      expect(userAt('ada')?.active).toBe(false);
    });

    it('a user and a group whose renames had no answer get their former names again when the source takes the renames back', async () => {
      await open();
      await user(ADA, 'ada');
      await fixture.store.putGroup(G, 'Sales');
      await fixture.drain();
      await user(ADA, 'ada2');
      await loseWrite(() => userAt('ada2') !== undefined);
      await user(ADA, 'ada');
      await fixture.drain();
      expect(userAt('ada')).toBeDefined();
      await fixture.store.putGroup(G, 'Field');
      await loseWrite(() => groupAt('Field') !== undefined);
      await fixture.store.putGroup(G, 'Sales');
      await fixture.drain();
      expect(groupAt('Sales')).toBeDefined();
    });

    it('an attribute whose write had no answer gets its former value when the source takes the change back', async () => {
      await open();
      await user(ADA, 'ada', { title: 'one' });
      await fixture.drain();
      const title = () => userAt('ada')?.attributes.get('title');
      await user(ADA, 'ada', { title: 'two' });
      await loseWrite(() => title() === 'two');
      await user(ADA, 'ada', { title: 'one' });
      await fixture.drain();
      expect(title()).toBe('one');
    });
  });

  it('an account that was deleted at the platform is created again with its memberships', async () => {
    await open();
    await user(ADA, 'ada');
    await fixture.store.putGroup(G, 'Sales', [add(ADA)]);
    await fixture.drain();
    const { id = '' } = userAt('ada') ?? {};
    fixture.platform.users.delete(id);
    groupAt('Sales')?.members.delete(id);
    await fixture.store.putGroup(H, 'Later', [add(ADA)]);
    await fixture.drain();
    expect([membersAt('Sales'), membersAt('Later')]).toEqual([['ada'], ['ada']]);
    expect(userAt('ada')?.attributes.get('teams')).toEqual(['Later', 'Sales']);
  });
});
