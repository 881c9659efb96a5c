// Tests the scripts of the guard that count and hold destructive changes (ADR 0011).
import { startLocalRedis } from '../../../src/demo/local-redis.ts';
import { judge } from '../../../src/guard/judge.ts';
import type { Destruction } from '../../../src/directory/guard/held-changes.ts';
import { LeaseLost } from '../../../src/directory/outbox/work.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { createRandom } from '../../support/company.ts';
import { eventually } from '../../support/eventually.ts';
import { watchCommands } from '../../support/watch-commands.ts';
import { deactivations, guard, HOUR, passTime, range, useGuardRig, user } from './guard-rig.ts';
import { add, drop, idOf, openStore } from './rig.ts';

const rig = useGuardRig();

it('the guard allows destructive changes up to the limit, and holds all further ones', async () => {
  await expect(rig.guardStore.take(deactivations(1, 2, 3), guard(3))).resolves.toEqual([
    'allowed',
    'allowed',
    'allowed',
  ]);
  await expect(rig.guardStore.take(deactivations(4), guard(3))).resolves.toEqual(['held']);
  await expect(rig.heldRefs()).resolves.toEqual([user(4)]);
  expect((await rig.guardStore.counts(24 * HOUR)).kinds.deactivate).toMatchObject({ used: 3, held: 1 });
});

it('changes of one kind in one request are all allowed or all held', async () => {
  await expect(rig.guardStore.take(deactivations(1, 2, 3), guard(2))).resolves.toEqual([
    'held',
    'held',
    'held',
  ]);
});

describe('40,000 removals of one group', () => {
  const MANY = 40_000;
  const removals = (from: number, to: number): Destruction[] =>
    range(from, to).map((number) => ({
      kind: 'removeMembers',
      ref: 'Group:everybody',
      subject: idOf(`u${number}-`),
    }));
  const numbersOf = (permissions: string[]) =>
    Object.fromEntries(
      [...new Set(permissions)].map((each) => [each, permissions.filter((one) => one === each).length]),
    );
  const take = async (items: Destruction[], limit: number, whole = false) =>
    numbersOf(await rig.guardStore.take(items, guard(limit), { whole }));

  it('2,500 removals of one request are judged together, by scripts of at most 1,000 changes each', async () => {
    const asked = 2500;
    // A Redis of its own, because MONITOR shows the commands of all clients.
    const redis = await startLocalRedis({ env: {} });
    const own = await openStore({ url: redis.url });
    const sizes: number[] = [];
    const unwatch = await watchCommands(own.redis, ([command = '', ...args]) => {
      if (/^eval/i.test(command))
        sizes.push(...args.map((text) => text.split('"removeMembers","').length - 1));
    });
    try {
      const permissions = await own.outbox.guardStore.take(removals(0, asked), guard(asked - 1));
      expect(numbersOf(permissions)).toEqual({ held: asked });
      const total = (): number => sizes.reduce((sum, size) => sum + size, 0);
      await eventually('both passes over the changes were seen', () => Promise.resolve(total() >= 2 * asked));
    } finally {
      unwatch();
      await own.close();
      await redis.stop();
    }
    // The list of all kinds is part of each script.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1001);
  });

  it('removals up to the limit are allowed, and count once when they are requested again; one more removal is held', async () => {
    await expect(take(removals(0, MANY), MANY)).resolves.toEqual({ allowed: MANY });
    await expect(take(removals(0, MANY), MANY)).resolves.toEqual({ allowed: MANY });
    await expect(take(removals(MANY, MANY + 1), MANY)).resolves.toEqual({ held: 1 });
  });

  it('3,000 approved removals do not count against the guard limit when one more removal is requested with them', async () => {
    await take(removals(0, 3000), 100);
    await rig.decide('approve');
    await expect(take(removals(0, 3001), 100)).resolves.toEqual({ allowed: 3001 });
  });

  it('after one of 3,000 removals was rejected, a request for all as a whole is rejected, and one that may be split allows the other 2,999', async () => {
    await take(removals(2500, 2501), 0);
    await rig.decide('reject');
    await expect(take(removals(0, 3000), MANY, true)).resolves.toEqual({ rejected: 3000 });
    await expect(take(removals(0, 3000), MANY)).resolves.toEqual({ allowed: 2999, rejected: 1 });
  });
});

it('changes of a kind above its limit are held while changes of other kinds are allowed', async () => {
  const mixed: Destruction[] = [
    ...deactivations(1, 2, 3),
    { kind: 'clearAttributes', ref: user(1), subject: 'a b' },
  ];
  await expect(rig.guardStore.take(mixed, guard(2))).resolves.toEqual(['held', 'held', 'held', 'allowed']);
});

it('changes of several kinds that are requested as a whole are all allowed or all held', async () => {
  const group: Ref = `Group:${idOf('g')}`;
  const whole: Destruction[] = [
    { kind: 'delete', ref: group },
    ...range(0, 3).map((number) => ({
      kind: 'removeMembers' as const,
      ref: group,
      subject: idOf(`u${number}`),
    })),
  ];
  await expect(rig.guardStore.take(whole, guard(2), { whole: true })).resolves.toEqual(Array(4).fill('held'));
  expect((await rig.guardStore.counts(HOUR)).kinds.delete).toMatchObject({ used: 0, held: 1 });
  await rig.decide('reject');
  await expect(rig.guardStore.take(whole, guard(2), { whole: true })).resolves.toEqual(
    Array(4).fill('rejected'),
  );
});

it('a destructive change that is requested twice counts once, from its latest request', async () => {
  await rig.guardStore.take(deactivations(1, 2), guard(2));
  await passTime(rig.store, 23 * HOUR);
  await expect(rig.guardStore.take(deactivations(1), guard(2))).resolves.toEqual(['allowed']);
  await passTime(rig.store, 2 * HOUR);
  await expect(rig.guardStore.take(deactivations(3), guard(2))).resolves.toEqual(['allowed']);
  await expect(rig.guardStore.take(deactivations(4), guard(2))).resolves.toEqual(['held']);
});

it('changes older than the window do not count against the guard limit', async () => {
  await rig.guardStore.take(deactivations(1, 2), guard(2));
  await passTime(rig.store, 25 * HOUR);
  await expect(rig.guardStore.take(deactivations(3, 4), guard(2))).resolves.toEqual(['allowed', 'allowed']);
});

it('of two concurrent requests for the last allowed change one is allowed and one held', async () => {
  for (let round = 0; round < 9; round++) {
    const [first, second] = await Promise.all([
      rig.guardStore.take(deactivations(2 * round), guard(round + 1)),
      rig.rival.take(deactivations(2 * round + 1), guard(round + 1)),
    ]);
    expect([first[0], second[0]].sort()).toEqual(['allowed', 'held']);
    await rig.decide('reject');
  }
});

it('a held change that is no longer desired is removed, and the approval ends with its last change', async () => {
  await rig.guardStore.take(deactivations(1), guard(0));
  await expect(rig.endSync(user(1), deactivations(1))).resolves.toBe(0);
  await expect(rig.heldRefs()).resolves.toEqual([user(1)]);
  await expect(rig.endSync(user(1), [])).resolves.toBe(1);
  await expect(rig.guardStore.open()).resolves.toBeUndefined();
});

it('the end of a sync that lost its lease removes no change that the next sync has held, and the approval stays open', async () => {
  const { outbox, redis, keys } = rig.store;
  await outbox.mark([user(1)], 'deactivation');
  const suspended = await rig.store.begun(user(1));
  await redis.del(keys.key('lease', `main:${user(1)}`)); // the lease expires
  const next = await rig.store.begun(user(1));
  await rig.guardStore.take(deactivations(1), guard(0));
  await rig.guardStore.endSync(next, deactivations(1));
  await outbox.ack(next, {}, { kind: 'held' });
  await expect(rig.guardStore.endSync(suspended, [])).rejects.toThrow(LeaseLost);
  await expect(rig.heldRefs()).resolves.toEqual([user(1)]);
});

it('the guard scripts in Redis decide like the pure function judge() in 400 random cases', async () => {
  const random = createRandom(3);
  for (const number of range(0, 30)) await rig.store.putUser(idOf(`p${number}-`), { userName: `p${number}` });
  for (let round = 0; round < 400; round++) {
    const settings = guard(Math.floor(random() * 40), Math.floor(random() * 100));
    const numbers = range(round * 10, round * 10 + 1 + Math.floor(random() * 8));
    const { kinds, population } = await rig.guardStore.counts(settings.windowMs);
    const expected = judge(numbers.length, kinds.deactivate, population.users, settings.deactivate);
    const answers = new Set(await rig.guardStore.take(deactivations(...numbers), settings));
    expect([...answers]).toEqual([expected.kind]);
    if (random() < 0.2) await passTime(rig.store, 24 * HOUR);
    if (random() < 0.2) await rig.decide(random() < 0.5 ? 'approve' : 'reject');
  }
}, 60_000);

it('the population that guard percentages refer to includes users, groups and memberships that were deleted within the window', async () => {
  for (const number of range(0, 4)) await rig.store.putUser(idOf(`p${number}-`), { userName: `p${number}` });
  const ids = range(0, 4).map((number) => idOf(`p${number}-`));
  await rig.store.putGroup(idOf('g'), 'Sales', [add(...ids)]);
  await rig.store.members(idOf('g'), drop(ids[0] ?? ''));
  await rig.store.remove('User', ids[1] ?? '');
  await rig.store.putGroup(idOf('h'), 'Other');
  await rig.store.remove('Group', idOf('h'));
  const { population } = await rig.guardStore.counts(HOUR);
  expect(population).toEqual({ users: 4, groups: 2, memberships: 2 });
});
