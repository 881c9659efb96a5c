// Tests which facts become conditions, and which changes of conditions are reported.
import type { NoticeCondition, NoticeMessage, ToldConditions } from '../../../src/directory/notice-store.ts';
import { addExceptionCounts } from '../../../src/directory/outbox/exceptions.ts';
import { conditionsOf, placesOf } from '../../../src/notices/conditions.ts';
import {
  afterTelling,
  changesBetween,
  createNoticeGrouping,
  tendTold,
} from '../../../src/notices/difference.ts';
import type { NoticeFacts } from '../../../src/notices/facts.ts';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const HOUR = 3_600_000;
const place = { connection: 'default', target: 'main' };
const exceptions = addExceptionCounts([]);
const held = { deactivate: 0, delete: 0, removeMembers: 0, clearAttributes: 0 };
const quiet = { held, exceptions, blocked: 0, failedRuns: 0 };
const facts = (backlog: object = {}, rest: Partial<NoticeFacts> = {}): NoticeFacts => ({
  now: NOW,
  backlogs: [{ ...place, backlog: { ...quiet, ...backlog } }],
  breakers: [{ target: 'main', state: { open: false } }],
  tokens: [{ connection: 'default', expiresAt: [null, NOW + 40 * DAY] }],
  ...rest,
});
const found = (of: NoticeFacts) => conditionsOf(of).map(({ about, reason, count }) => [about, reason, count]);

describe('conditions of a bridge', () => {
  test('a bridge without problems has no condition to notify of', () => {
    expect(conditionsOf(facts())).toEqual([]);
  });

  test('held changes of all kinds are one condition, as old as the oldest', () => {
    const backlog = {
      held: { ...held, deactivate: 2, delete: 1 },
      exceptions: { ...exceptions, Held: 3, ages: { ...exceptions.ages, Held: 5000 } },
    };
    expect(conditionsOf(facts(backlog))).toEqual([
      { ...place, about: 'held', reason: null, count: 3, grade: 0, since: NOW - 5000 },
    ]);
  });

  test('exceptions give one condition for each reason, except held ones, which count as held changes', () => {
    const of = facts({ exceptions: { ...exceptions, Held: 4, Dropped: 2, OnHold: 1 } });
    expect(found(of)).toEqual([
      ['exceptions', 'Dropped', 2],
      ['exceptions', 'OnHold', 1],
    ]);
  });

  test('dead letters, failed reconciles and an open breaker are conditions to be reported', () => {
    const of = facts(
      { blocked: 3, failedRuns: 2, lastRun: { outcome: 'unproven' } },
      { breakers: [{ target: 'main', state: { open: true, status: 503, since: NOW - 1 } }] },
    );
    expect(found(of)).toEqual([
      ['deadLetters', null, 3],
      ['reconcile', 'unproven', 2],
      ['breaker', '503', 1],
    ]);
  });

  describe('one token has expired, one expires in 2 days and one in 20', () => {
    const expiresAt = [NOW - 1, NOW + 2 * DAY, NOW + 20 * DAY, NOW + 40 * DAY, null];
    const tokens = conditionsOf(facts({}, { tokens: [{ connection: 'default', expiresAt }] }));

    test('expired tokens, and tokens that expire within 30 days, are two conditions', () => {
      expect(tokens).toMatchObject([
        { about: 'tokens', reason: 'expired', count: 1, target: null },
        { about: 'tokens', reason: 'soon', count: 2 },
      ]);
    });

    test('tokens expire soon, the first within 7 days → their condition has the grade -7', () => {
      expect(tokens[1]).toMatchObject({ grade: -7 });
    });
  });
});

const deadLetters = (count: number): NoticeCondition => ({
  ...place,
  about: 'deadLetters',
  reason: null,
  count,
  grade: 0,
  since: null,
});
const message = (present: NoticeCondition[], at = NOW, told: ToldConditions = {}): NoticeMessage => ({
  id: 'msg_1',
  at,
  attempts: 0,
  nextAt: 0,
  changes: changesBetween(told, present, at),
});
const tell = (present: NoticeCondition[], at = NOW): ToldConditions => afterTelling({}, message(present, at));
const statesOf = (told: ToldConditions, present: NoticeCondition[], now: number) =>
  changesBetween(told, present, now).map(({ state, condition }) => [state, condition.count]);

describe('differences between reported and present conditions', () => {
  test('a condition is reported once when it begins, and once when it ends', () => {
    const told = tell([deadLetters(3)]);
    expect(statesOf({}, [deadLetters(3)], NOW)).toEqual([['new', 3]]);
    expect(statesOf(told, [deadLetters(3)], NOW + 30 * DAY)).toEqual([]);
    expect(statesOf(told, [], NOW + 1)).toEqual([['resolved', 3]]);
    expect(afterTelling(told, { at: NOW, changes: changesBetween(told, [], NOW) })).toEqual({});
  });

  test.each([
    ['a count that doubled is reported again', 6, 1, [['new', 6]]],
    ['a count that grew, but did not double, is not reported again within the hour', 5, HOUR - 1, []],
    ['a count that grew, but did not double, is reported again after an hour', 5, HOUR, [['new', 5]]],
    ['a count that fell is not reported again', 2, HOUR, []],
  ])('a notice had reported three dead letters: %s', (_what, count, later, expected) => {
    expect(statesOf(tell([deadLetters(3)]), [deadLetters(count)], NOW + later)).toEqual(expected);
  });

  test('the count of a condition falls and then doubles → the condition is reported again', () => {
    const context = { about: ['deadLetters'] as const, places: placesOf(facts()) };
    const told = tendTold(tell([deadLetters(10)]), [deadLetters(2)], context);
    expect(statesOf(told, [deadLetters(4)], NOW + 1)).toEqual([['new', 4]]);
    expect(tendTold(told, [deadLetters(2)], context)).toBe(told);
  });

  test('all held changes are replaced by as many others → a notice reports the new ones', () => {
    const heldSince = (since: number): NoticeCondition => ({ ...deadLetters(2), about: 'held', since });
    const told = tell([heldSince(NOW - 5)]);
    expect(statesOf(told, [heldSince(NOW - 5)], NOW + 10)).toEqual([]);
    expect(statesOf(told, [heldSince(NOW + 5)], NOW + 10)).toEqual([['new', 2]]);
  });

  test('a notice about expiring tokens is sent again when the nearest expiry passes the next limit (30 to 7 days)', () => {
    const soon = (grade: number): NoticeCondition => ({
      ...place,
      target: null,
      about: 'tokens',
      reason: 'soon',
      count: 1,
      grade,
      since: null,
    });
    expect(statesOf(tell([soon(-30)]), [soon(-30)], NOW + HOUR)).toEqual([]);
    expect(statesOf(tell([soon(-30)]), [soon(-7)], NOW + HOUR)).toEqual([['new', 1]]);
  });

  test('the end of a condition is not reported if its target left the settings or the channel does not cover it', () => {
    const told = tell([deadLetters(3)]);
    expect(tendTold(told, [], { about: ['held'], places: placesOf(facts()) })).toEqual({});
    expect(tendTold(told, [], { about: ['deadLetters'], places: new Set() })).toEqual({});
  });
});

describe('grouping of changes into messages', () => {
  const changes = (count: number) => changesBetween({}, [deadLetters(count)], NOW);

  test('a changed condition is sent when it has lasted for the grouping time, in one notice with other changes until then', () => {
    const grouping = createNoticeGrouping(() => 1000);
    const other = changesBetween({}, [{ ...deadLetters(1), about: 'reconcile' }], NOW);
    expect(grouping.ripe(changes(1), NOW)).toEqual([]);
    expect(grouping.ripe([...changes(2), ...other], NOW + 999)).toEqual([]);
    expect(grouping.ripe([...changes(3), ...other], NOW + 1000)).toHaveLength(2);
  });

  test('a changed condition that returns within the grouping time is not sent', () => {
    const grouping = createNoticeGrouping(() => 1000);
    grouping.ripe(changes(1), NOW);
    grouping.ripe([], NOW + 500);
    expect(grouping.ripe(changes(1), NOW + 1000)).toEqual([]);
    expect(grouping.ripe(changes(1), NOW + 2000)).toHaveLength(1);
  });

  test('one notice has at most 20 changes of conditions', () => {
    const many = Array.from({ length: 25 }, (_, index) => ({ ...deadLetters(1), target: `t${index}` }));
    expect(createNoticeGrouping(() => 0).ripe(changesBetween({}, many, NOW), NOW)).toHaveLength(20);
  });
});
