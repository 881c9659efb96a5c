// Tests the scripts of the guard: counting, holding and deciding destructive changes (ADR 0011).
import { startLocalRedis } from '../../../src/demo/local-redis.ts';
import { DESTRUCTIVE_KINDS, judge, type GuardSettings } from '../../../src/guard/judge.ts';
import type { Destruction } from '../../../src/directory/guard/held-changes.ts';
import type { GuardStore } from '../../../src/directory/guard/guard-store.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { createRandom } from '../../support/company.ts';
import { eventually } from '../../support/eventually.ts';
import { add, drop, idOf, openStore, type Store } from './rig.ts';

const HOUR = 3_600_000;
const guard = (count: number, percent = 100): GuardSettings => ({
  windowMs: 24 * HOUR,
  deactivate: { count, percent },
  delete: { count, percent },
  removeMembers: { count, percent },
  clearAttributes: { count, percent },
});
const user = (number: number): Ref => `User:${idOf(`u${number}-`)}`;
const close = (...numbers: number[]): Destruction[] =>
  numbers.map((number) => ({ kind: 'deactivate', ref: user(number) }));
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** Moves all counted changes of the guard into the past by `ms`. */
async function passTime({ redis, keys }: Store, ms: number): Promise<void> {
  for (const kind of DESTRUCTIVE_KINDS) {
    const used = keys.key('guardUsed', `main:${kind}`);
    const held = await redis.zrange(used, '0', '-1', 'WITHSCORES');
    for (let index = 0; index < held.length; index += 2) {
      await redis.zadd(used, Number(held[index + 1]) - ms, held[index] ?? '');
    }
  }
  const approval = keys.key('guardApproval', 'main');
  if ((await redis.exists(approval)) === 1) await redis.hincrby(approval, 'expires', -ms);
}

describe('guard scripts', () => {
  let store: Store;
  let guardStore: GuardStore;
  let rival: GuardStore;
  beforeEach(async () => {
    store = await openStore();
    guardStore = store.outbox.guardStore;
    const other = store.rival.outboxes.get('main');
    if (!other) throw new Error('no rival');
    rival = other.guardStore;
  });
  afterEach(() => store.close());

  const placed = async () => {
    const open = await guardStore.open();
    const refs: Ref[] = [];
    if (open) for await (const page of guardStore.pages(open)) refs.push(...page.map(({ ref }) => ref));
    return refs;
  };
  const decide = async (action: 'approve' | 'reject', refs?: Ref[]) =>
    guardStore.decide(action, (await guardStore.open())?.id ?? '', 'ops', {
      ...(refs ? { choose: (page: Destruction[]) => page.filter(({ ref }) => refs.includes(ref)) } : {}),
    });

  it('destructive changes are allowed up to the limit, and later ones held', async () => {
    await expect(guardStore.take(close(1, 2, 3), guard(3))).resolves.toEqual([
      'allowed',
      'allowed',
      'allowed',
    ]);
    await expect(guardStore.take(close(4), guard(3))).resolves.toEqual(['held']);
    await expect(placed()).resolves.toEqual([user(4)]);
    expect((await guardStore.counts(24 * HOUR)).kinds.deactivate).toMatchObject({ used: 3, held: 1 });
  });

  it('items that are requested together are all allowed or all held', async () => {
    await expect(guardStore.take(close(1, 2, 3), guard(2))).resolves.toEqual(['held', 'held', 'held']);
  });

  describe('40,000 removals of one group', () => {
    const MANY = 40_000;
    const removals = (from: number, to: number): Destruction[] =>
      range(from, to).map((number) => ({
        ...{ kind: 'removeMembers', ref: 'Group:everybody', subject: idOf(`u${number}-`) },
      }));
    const numbersOf = (permissions: string[]) =>
      Object.fromEntries(
        [...new Set(permissions)].map((each) => [each, permissions.filter((one) => one === each).length]),
      );
    const take = async (items: Destruction[], limit: number, whole = false) =>
      numbersOf(await guardStore.take(items, guard(limit), { whole }));

    it('they are judged together by scripts of at most 1,000 changes', async () => {
      const asked = 2500;
      // A Redis of its own, because MONITOR shows the commands of all clients.
      const redis = await startLocalRedis({ env: {} });
      const own = await openStore({ url: redis.url });
      const client = own.redis.duplicate();
      const monitor = await client.monitor();
      const sizes: number[] = [];
      monitor.on('monitor', (_time, [command = '', ...args]: string[]) => {
        if (/^eval/i.test(command))
          sizes.push(...args.map((text) => text.split('"removeMembers","').length - 1));
      });
      try {
        const permissions = await own.outbox.guardStore.take(removals(0, asked), guard(asked - 1));
        expect(numbersOf(permissions)).toEqual({ held: asked });
        const total = (): number => sizes.reduce((sum, size) => sum + size, 0);
        await eventually('both passes over the changes were seen', () =>
          Promise.resolve(total() >= 2 * asked),
        );
      } finally {
        monitor.disconnect();
        client.disconnect();
        await own.close();
        await redis.stop();
      }
      // The list of all kinds is part of each script.
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1001);
    });

    it('they are allowed up to the limit, count once when they are asked for again, and leave no room for more', async () => {
      await expect(take(removals(0, MANY), MANY)).resolves.toEqual({ allowed: MANY });
      await expect(take(removals(0, MANY), MANY)).resolves.toEqual({ allowed: MANY });
      await expect(take(removals(MANY, MANY + 1), MANY)).resolves.toEqual({ held: 1 });
    });

    it('approved ones do not count against a further one', async () => {
      await take(removals(0, 3000), 100);
      await decide('approve');
      await expect(take(removals(0, 3001), 100)).resolves.toEqual({ allowed: 3001 });
    });

    it('a rejected one rejects all that are asked for as a whole, also of other portions', async () => {
      await take(removals(2500, 2501), 0);
      await decide('reject');
      await expect(take(removals(0, 3000), MANY, true)).resolves.toEqual({ rejected: 3000 });
      await expect(take(removals(0, 3000), MANY)).resolves.toEqual({ allowed: 2999, rejected: 1 });
    });
  });

  it('one kind above its limit is held while other kinds are allowed', async () => {
    const mixed: Destruction[] = [
      ...close(1, 2, 3),
      { kind: 'clearAttributes', ref: user(1), subject: 'a b' },
    ];
    await expect(guardStore.take(mixed, guard(2))).resolves.toEqual(['held', 'held', 'held', 'allowed']);
  });

  it('changes that belong together are all allowed or all held', async () => {
    const group: Ref = `Group:${idOf('g')}`;
    const whole: Destruction[] = [
      { kind: 'delete', ref: group },
      ...range(0, 3).map((number) => ({
        kind: 'removeMembers' as const,
        ref: group,
        subject: idOf(`u${number}`),
      })),
    ];
    await expect(guardStore.take(whole, guard(2), { whole: true })).resolves.toEqual(Array(4).fill('held'));
    expect((await guardStore.counts(HOUR)).kinds.delete).toMatchObject({ used: 0, held: 1 });
    await decide('reject');
    await expect(guardStore.take(whole, guard(2), { whole: true })).resolves.toEqual(
      Array(4).fill('rejected'),
    );
  });

  it('a retried change counts once, from its latest attempt', async () => {
    await guardStore.take(close(1, 2), guard(2));
    await passTime(store, 23 * HOUR);
    await expect(guardStore.take(close(1), guard(2))).resolves.toEqual(['allowed']);
    await passTime(store, 2 * HOUR);
    await expect(guardStore.take(close(3), guard(2))).resolves.toEqual(['allowed']);
    await expect(guardStore.take(close(4), guard(2))).resolves.toEqual(['held']);
  });

  it('changes older than the window do not count', async () => {
    await guardStore.take(close(1, 2), guard(2));
    await passTime(store, 25 * HOUR);
    await expect(guardStore.take(close(3, 4), guard(2))).resolves.toEqual(['allowed', 'allowed']);
  });

  it('of two concurrent requests for the last allowed change, one is allowed', async () => {
    for (let round = 0; round < 9; round++) {
      const [first, second] = await Promise.all([
        guardStore.take(close(2 * round), guard(round + 1)),
        rival.take(close(2 * round + 1), guard(round + 1)),
      ]);
      expect([first[0], second[0]].sort()).toEqual(['allowed', 'held']);
      await decide('reject');
    }
  });

  it('an approval covers exactly the listed changes and no later ones', async () => {
    await guardStore.take(close(1, 2, 3), guard(2));
    const listed = (await guardStore.open())?.id ?? '';
    await guardStore.take(close(4), guard(2));
    await expect(guardStore.decide('approve', listed, 'ops')).resolves.toMatchObject({
      kind: 'decided',
      items: 3,
    });
    await expect(placed()).resolves.toEqual([user(4)]);
    await expect(guardStore.take(close(1, 2, 3), guard(0))).resolves.toEqual([
      'allowed',
      'allowed',
      'allowed',
    ]);
    await expect(guardStore.take(close(4), guard(2))).resolves.toEqual(['held']);
    expect((await guardStore.counts(24 * HOUR)).kinds.deactivate).toMatchObject({ used: 0, approved: 3 });
  });

  it('of two concurrent decisions one is stored', async () => {
    await guardStore.take(close(1, 2, 3), guard(2));
    const id = (await guardStore.open())?.id ?? '';
    const answers = await Promise.all([
      guardStore.decide('approve', id, 'one'),
      rival.decide('approve', id, 'two'),
    ]);
    expect(answers.filter(({ kind }) => kind === 'decided')).toHaveLength(1);
    await expect(guardStore.decisions()).resolves.toHaveLength(1);
  });

  it('an approval can be limited to one user', async () => {
    await guardStore.take(close(1, 2, 3), guard(2));
    await expect(decide('approve', [user(2)])).resolves.toMatchObject({ items: 1 });
    await expect(placed()).resolves.toEqual([user(1), user(3)]);
  });

  it('the counts of a kind start at zero after an approval of all that is held, and not of a part', async () => {
    await guardStore.take(close(1, 2), guard(2));
    await guardStore.take(close(3, 6), guard(2));
    await decide('approve', [user(6)]);
    expect((await guardStore.counts(HOUR)).kinds.deactivate.used).toBe(2);
    await decide('approve');
    await expect(guardStore.take(close(4, 5), guard(2))).resolves.toEqual(['allowed', 'allowed']);
  });

  describe('a decision whose process ends between two portions', () => {
    const MANY = 600;
    const NOTE = { note: 'asked the HR team' };
    const allHeld = async () => (await guardStore.counts(HOUR)).kinds.deactivate.held;
    const halfDecided = async (
      action: 'approve' | 'reject',
      choose?: (page: Destruction[]) => Destruction[],
    ) => {
      await guardStore.holdAll(close(...range(0, MANY)), HOUR);
      const id = (await guardStore.open())?.id ?? '';
      await guardStore.holdAll(close(MANY), HOUR);
      await rival.decide(action, id, 'ops', { ...NOTE, choose, portions: 1 });
      return id;
    };

    it.each(['approve', 'reject'] as const)(
      'after an interrupted %s the next read moves the remaining changes, and nothing else',
      async (action) => {
        const id = await halfDecided(action);
        expect(await allHeld()).toBe(MANY + 1 - 120);
        const [decision] = await guardStore.decisions();
        expect(decision).toMatchObject({ id, action, ...NOTE, kinds: { deactivate: MANY } });
        await expect(placed()).resolves.toEqual([user(MANY)]);
        const { approved, rejected, held } = (await guardStore.counts(HOUR)).kinds.deactivate;
        expect([approved, rejected, held]).toEqual(action === 'approve' ? [MANY, 0, 1] : [0, MANY, 1]);
        expect((await store.marks()).size).toBe(MANY);
        await expect(guardStore.decisions()).resolves.toHaveLength(1);
      },
    );

    it('a second decision first completes an interrupted one, and applies only to changes that are still held', async () => {
      const id = await halfDecided('approve');
      const [, serial = ''] = /^(.*)-/.exec(id) ?? [];
      await expect(guardStore.decide('reject', serial, 'ops')).resolves.toMatchObject({ items: 1 });
      const { approved, rejected, held } = (await guardStore.counts(HOUR)).kinds.deactivate;
      expect([approved, rejected, held]).toEqual([MANY, 1, 0]);
    });

    it('an interrupted decision about a part of the list moves that part only', async () => {
      await halfDecided('reject', (page) => page.slice(0, 400));
      const [decision] = await guardStore.decisions();
      expect(decision?.kinds.deactivate).toBe(400);
      expect(decision?.items.length).toBeLessThanOrEqual(200);
      await expect(placed()).resolves.toHaveLength(MANY + 1 - 400);
      expect((await store.families()).filter((key) => /guardChoice|guardDeciding/.test(key))).toEqual([]);
    });
  });

  it('a decision marks its resources for a sync, deactivations with their own priority', async () => {
    await guardStore.take(close(1, 2, 3), guard(2));
    await decide('approve');
    const claims = await store.outbox.claim(10, 100);
    expect(claims.map(({ ref, priority }) => [ref, priority]).sort()).toEqual([
      [user(1), 'deactivation'],
      [user(2), 'deactivation'],
      [user(3), 'deactivation'],
    ]);
  });

  it('a rejection lasts until the source reverts the change, and can still be approved', async () => {
    await guardStore.take(close(1, 2, 3), guard(2));
    const approval = (await guardStore.open())?.id ?? '';
    await decide('reject');
    await expect(guardStore.take(close(1, 2, 3), guard(100))).resolves.toEqual(Array(3).fill('rejected'));
    await expect(guardStore.endSync(user(1), [])).resolves.toBe(1);
    await expect(guardStore.take(close(1), guard(100))).resolves.toEqual(['allowed']);
    await expect(guardStore.decide('approve', approval, 'ops')).resolves.toMatchObject({
      kind: 'decided',
      items: 2,
    });
    await expect(guardStore.take(close(2, 3), guard(0))).resolves.toEqual(['allowed', 'allowed']);
  });

  it('a held change that is no longer desired is removed, and the approval ends with its last item', async () => {
    await guardStore.take(close(1), guard(0));
    await expect(guardStore.endSync(user(1), close(1))).resolves.toBe(0);
    await expect(placed()).resolves.toEqual([user(1)]);
    await expect(guardStore.endSync(user(1), [])).resolves.toBe(1);
    await expect(guardStore.open()).resolves.toBeUndefined();
  });

  it('an approval is used up by the write that it allowed', async () => {
    await guardStore.take(close(1), guard(0));
    await decide('approve');
    await guardStore.endSync(user(1), []);
    await expect(guardStore.take(close(1), guard(0))).resolves.toEqual(['held']);
  });

  it('a rejected removal stays rejected until the member is added again', async () => {
    const [ada, group] = [idOf('ada'), idOf('g')];
    const removal: Destruction[] = [{ kind: 'removeMembers', ref: `Group:${group}`, subject: ada }];
    await store.putUser(ada, { userName: 'ada' });
    await store.putGroup(group, 'Sales', [add(ada)]);
    await store.members(group, drop(ada));
    await guardStore.take(removal, guard(0));
    await decide('reject');
    await guardStore.endSync(`Group:${group}`, []);
    await expect(guardStore.take(removal, guard(9))).resolves.toEqual(['rejected']);
    await store.members(group, add(ada));
    await guardStore.endSync(`Group:${group}`, []);
    await expect(guardStore.take(removal, guard(9))).resolves.toEqual(['allowed']);
  });

  it('an expired approval cannot be approved, and its changes are judged again together', async () => {
    await guardStore.take(close(1, 2, 3), guard(2));
    const id = (await guardStore.open())?.id ?? '';
    await passTime(store, 73 * HOUR);
    await expect(guardStore.decide('approve', id, 'ops')).resolves.toEqual({ kind: 'expired' });
    await store.redis.zadd(store.keys.key('alarms', 'main'), 1, user(1));
    await expect(store.claimRefs()).resolves.toEqual([user(1)]);
    await expect(guardStore.take(close(1), guard(2))).resolves.toEqual(['held']);
    await expect(placed()).resolves.toEqual([user(1)]);
    await guardStore.endSync(user(2), []);
    await expect(guardStore.take(close(3), guard(2))).resolves.toEqual(['allowed']);
  });

  it('the scripts decide as the pure judge() does in 400 random cases', async () => {
    const random = createRandom(3);
    for (const number of range(0, 30)) await store.putUser(idOf(`p${number}-`), { userName: `p${number}` });
    for (let round = 0; round < 400; round++) {
      const settings = guard(Math.floor(random() * 40), Math.floor(random() * 100));
      const numbers = range(round * 10, round * 10 + 1 + Math.floor(random() * 8));
      const { kinds, population } = await guardStore.counts(settings.windowMs);
      const expected = judge(numbers.length, kinds.deactivate, population.users, settings.deactivate);
      const answers = new Set(await guardStore.take(close(...numbers), settings));
      expect([...answers]).toEqual([expected.kind]);
      if (random() < 0.2) await passTime(store, 24 * HOUR);
      if (random() < 0.2) await decide(random() < 0.5 ? 'approve' : 'reject');
    }
  }, 60_000);

  it('the population includes recently deleted resources', async () => {
    for (const number of range(0, 4)) await store.putUser(idOf(`p${number}-`), { userName: `p${number}` });
    const ids = range(0, 4).map((number) => idOf(`p${number}-`));
    await store.putGroup(idOf('g'), 'Sales', [add(...ids)]);
    await store.members(idOf('g'), drop(ids[0] ?? ''));
    await store.remove('User', ids[1] ?? '');
    await store.putGroup(idOf('h'), 'Other');
    await store.remove('Group', idOf('h'));
    const { population } = await guardStore.counts(HOUR);
    expect(population).toEqual({ users: 4, groups: 2, memberships: 2 });
  });
});

describe('deactivations that the directory has accepted', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const waiting = async () => (await store.outbox.guardStore.counts(HOUR)).kinds.deactivate.waiting;
  const hire = async (name: string, core: object = { active: true }): Promise<Ref> => {
    const ref: Ref = `User:${idOf(name)}`;
    await store.putUser(idOf(name), { userName: name });
    await store.claimRefs();
    const work = await store.begun(ref);
    const link = { id: `p-${name}`, core: core as Record<string, boolean> };
    await store.outbox.ack(work, link, { kind: 'synced' });
    return ref;
  };

  it('accepted deactivations count at once, and no longer when they are applied', async () => {
    const ref = await hire('ada');
    await store.putUser(idOf('ada'), { userName: 'ada', active: false }, 'deactivation');
    await expect(waiting()).resolves.toBe(1);
    await store.claimRefs();
    await store.outbox.ack(await store.begun(ref), {}, { kind: 'synced' });
    await expect(waiting()).resolves.toBe(0);
  });

  it('a deactivation counts only if the account may be active', async () => {
    await hire('ada', { active: false });
    await store.remove('User', idOf('ada'));
    await store.putUser(idOf('bob'), { userName: 'bob' });
    await store.remove('User', idOf('bob'));
    await expect(waiting()).resolves.toBe(0);
    await hire('eve');
    await store.remove('User', idOf('eve'));
    await expect(waiting()).resolves.toBe(1);
  });

  it('a mass deactivation is held from the first user on', async () => {
    const refs: Ref[] = [];
    for (const number of range(0, 12)) refs.push(await hire(`p${number}-`));
    for (const number of range(0, 12)) await store.remove('User', idOf(`p${number}-`));
    const settings = guard(11);
    const { guardStore } = store.outbox;
    await expect(guardStore.take([{ kind: 'deactivate', ref: refs[0] as Ref }], settings)).resolves.toEqual([
      'held',
    ]);
    await expect(guardStore.take([{ kind: 'deactivate', ref: refs[1] as Ref }], settings)).resolves.toEqual([
      'held',
    ]);
    await expect(waiting()).resolves.toBe(10);
  });

  it('the removal of a member with a pending deactivation follows the decision about the account', async () => {
    const { guardStore } = store.outbox;
    const [ada, bob] = [await hire('ada'), await hire('bob')];
    const decisions = () => guardStore.decisionsOfMembers([idOf('ada'), idOf('bob')]);
    await expect(decisions()).resolves.toEqual(['stays', 'stays']);
    await store.remove('User', idOf('ada'));
    await expect(decisions()).resolves.toEqual(['waits', 'stays']);
    await guardStore.take([{ kind: 'deactivate', ref: ada }], guard(0));
    await expect(decisions()).resolves.toEqual(['follows', 'stays']);
    await guardStore.decide('reject', (await guardStore.open())?.id ?? '', 'ops');
    await expect(decisions()).resolves.toEqual(['stays', 'stays']);
    await store.putUser(idOf('bob'), { userName: 'bob', active: false }, 'deactivation');
    await expect(decisions()).resolves.toEqual(['stays', 'waits']);
    expect(bob).toBe(`User:${idOf('bob')}`);
  });
});

describe('hold and release of a target', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
    await store.putUser(idOf('ada'), { userName: 'ada' });
  });
  afterEach(() => store.close());
  const ref: Ref = `User:${idOf('ada')}`;

  it('a hold stops deliveries and takes back delivered marks; release resumes them', async () => {
    const { guardStore } = store.outbox;
    await store.claimRefs();
    await expect(guardStore.hold('ops', 'migration')).resolves.toBe(true);
    await expect(guardStore.hold('ops')).resolves.toBe(false);
    await expect(guardStore.onHold()).resolves.toMatchObject({ by: 'ops', note: 'migration' });
    await expect(store.outbox.begin(ref, 'edit')).resolves.toEqual({ kind: 'busy' });
    await expect(store.claimRefs()).resolves.toEqual([]);
    await expect(guardStore.release()).resolves.toBe(true);
    await expect(guardStore.release()).resolves.toBe(false);
    await expect(store.claimRefs()).resolves.toEqual([ref]);
  });

  it('a hold stops a running sync before its next write', async () => {
    await store.claimRefs();
    const work = await store.begun(ref);
    await store.outbox.guardStore.hold('ops');
    await expect(store.outbox.save(work, {})).rejects.toThrow(/lost the lease/);
  });
});
