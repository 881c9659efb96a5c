// Tests how many destructive changes the guard allows.
import {
  allowanceOf,
  DESTRUCTIVE_KINDS,
  judge,
  judgePlan,
  populationOf,
  SHARE_FLOOR,
  type GuardLimits,
} from '../../../src/guard/judge.ts';
import { createRandom } from '../../support/company.ts';

const count = (used = 0, waiting = 0, held = 0) => ({ used, waiting, held });

describe('allowanceOf()', () => {
  it.each([
    ['the share is smaller than the count', { count: 1000, percent: 10 }, 5000, 500],
    ['the count is smaller than the share', { count: 50, percent: 10 }, 5000, 50],
    ['a share allows at least ten', { count: 50, percent: 10 }, 40, 10],
    ['a count below ten applies in a small tenant too', { count: 3, percent: 10 }, 40, 3],
    ['a count of 0 allows nothing', { count: 0, percent: 100 }, 5000, 0],
    ['a share of 0 allows nothing', { count: 50, percent: 0 }, 5000, 0],
    ['a share is rounded down', { count: 1000, percent: 10 }, 199, 19],
    ['a share without remainder is exact', { count: 1000, percent: 29 }, 100, 29],
    ['a fraction of a percent is allowed as a share', { count: 1000, percent: 0.5 }, 10_000, 50],
    ['an empty tenant has the least share', { count: 50, percent: 10 }, 0, 10],
  ])(
    'the allowance of the guard is the smaller of count and share of the population: %s',
    (_name, limit, population, expected) => {
      expect(allowanceOf(limit, population)).toBe(expected);
    },
  );
});

describe('judge()', () => {
  const limit = { count: 50, percent: 10 };
  it.each([
    ['a total equal to the allowance', 20, count(), 200, 'allowed'],
    ['one change above the allowance', 21, count(), 200, 'held'],
    ['used changes within the window count', 3, count(18), 200, 'held'],
    ['accepted changes that are not applied count', 1, count(0, 20), 200, 'held'],
    ['held changes count', 1, count(0, 0, 20), 200, 'held'],
    ['no wanted change, far above the allowance', 0, count(99, 99, 99), 200, 'allowed'],
  ] as const)(
    'judge() allows or holds wanted changes by allowance and counted changes: %s',
    (_name, wanted, counts, population, expected) => {
      expect(judge(wanted, counts, population, limit).kind).toBe(expected);
    },
  );

  it('a verdict of the guard that holds a change names the limits that it exceeds', () => {
    expect(judge(51, count(), 10_000, limit)).toEqual({ kind: 'held', allowance: 50, hit: ['count'] });
    expect(judge(21, count(), 200, limit)).toEqual({ kind: 'held', allowance: 20, hit: ['percent'] });
    expect(judge(60, count(), 200, limit)).toEqual({
      kind: 'held',
      allowance: 20,
      hit: ['count', 'percent'],
    });
  });

  it('judge() allows no more removals in 40 small portions than in one large portion (2,000 random schedules)', () => {
    const random = createRandom(7);
    for (let round = 0; round < 2000; round++) {
      const population = Math.floor(random() * 3000);
      const bounds = { count: Math.floor(random() * 200), percent: Math.floor(random() * 101) };
      const allowance = allowanceOf(bounds, population);
      let used = 0;
      // The number of held changes never falls, so its last value covers all portions.
      for (let portion = 0; portion < 40; portion++) {
        const wanted = 1 + Math.floor(random() * 20);
        if (judge(wanted, count(used), population, bounds).kind === 'allowed') used += wanted;
      }
      expect(used).toBeLessThanOrEqual(allowance);
      const rest = allowance - used;
      expect(judge(rest + 1, count(used), population, bounds).kind).toBe('held');
      if (rest > 0) expect(judge(rest, count(used), population, bounds).kind).toBe('allowed');
    }
  });

  it('removals that judge() holds are still held after one more is counted, accepted, held or wanted', () => {
    const random = createRandom(11);
    const some = () => Math.floor(random() * 60);
    for (let round = 0; round < 2000; round++) {
      const bounds = { count: some(), percent: some() };
      const [population, wanted, used, waiting, held] = [some() * 20, 1 + some(), some(), some(), some()];
      if (judge(wanted, count(used, waiting, held), population, bounds).kind === 'allowed') continue;
      expect(judge(wanted + 1, count(used, waiting, held), population, bounds).kind).toBe('held');
      expect(judge(wanted, count(used + 1, waiting, held), population, bounds).kind).toBe('held');
      expect(judge(wanted, count(used, waiting + 1, held), population, bounds).kind).toBe('held');
      expect(judge(wanted, count(used, waiting, held + 1), population, bounds).kind).toBe('held');
    }
  });
});

describe('the judgement of a whole plan', () => {
  const limits = Object.fromEntries(
    DESTRUCTIVE_KINDS.map((kind) => [kind, { count: 100, percent: 10 }]),
  ) as GuardLimits;
  const none = { deactivate: count(), delete: count(), removeMembers: count(), clearAttributes: count() };
  const population = { users: 500, groups: 100, memberships: 1000 };

  it('judge() holds changes of a kind above its limit and allows those of all other kinds', () => {
    const verdicts = judgePlan(
      { deactivate: 51, delete: 60, removeMembers: 100, clearAttributes: 0 },
      none,
      population,
      limits,
    );
    expect(DESTRUCTIVE_KINDS.map((kind) => [kind, verdicts[kind].kind])).toEqual([
      ['deactivate', 'held'],
      ['delete', 'allowed'],
      ['removeMembers', 'allowed'],
      ['clearAttributes', 'allowed'],
    ]);
  });

  it('guard percentages refer to the population before the counted removals', () => {
    expect(populationOf('removeMembers', { ...population, memberships: 80 }, count(5, 0, 5), 10)).toBe(100);
    expect(populationOf('delete', population, count(), 10)).toBe(600);
    expect(populationOf('clearAttributes', population, count(), 10)).toBe(500);
  });

  it('a guard limit of 0 percent allows no removal, for any number of resources', () => {
    expect(SHARE_FLOOR).toBeGreaterThan(0);
    expect(allowanceOf({ count: 5, percent: 0 }, 1_000_000)).toBe(0);
  });
});
