// Compares the conditions that a receiver was told (`told`, by key) with the present ones. To compose a message, a channel
// (channel.ts) calls `tendTold`, `changesBetween`, and `ripe` of the grouping; it calls `afterTelling` when the receiver has
// accepted the message. The grouping delays a message until one of its changes has lasted for some time, so that one message tells
// several changes, and a short one may be over before. Pure except for the grouping, which keeps times.
import type {
  NoticeChange,
  NoticeCondition,
  NoticeMessage,
  NoticeSubject,
  ToldCondition,
  ToldConditions,
} from '../directory/notice-store.ts';
import { keyOf, noticePlaceOf } from './conditions.ts';

/** A count that grew, but did not double, is reported again after this time; a doubled count at once. */
const AGAIN_MS = 3_600_000;
/** Subjects whose `since` is the time of the oldest item. A `since` after the last message means that all items are new. */
const DATED_BY_OLDEST: ReadonlySet<NoticeSubject> = new Set(['held', 'exceptions'] as const);
/** Largest number of changes in one message; the others follow in the next one. Slack accepts 50 blocks, one for each change. */
const MOST_CHANGES = 20;

/** Returns the changes that the receiver was not told of. @param now Unix milliseconds of Redis */
export function changesBetween(
  told: ToldConditions,
  present: readonly NoticeCondition[],
  now: number,
): NoticeChange[] {
  const presentKeys = new Set(present.map(keyOf));
  return [
    ...present.flatMap((condition): NoticeChange[] => {
      const key = keyOf(condition);
      const known = told[key];
      if (known && !isWorse(condition, known, now)) return [];
      return [
        { key, state: 'new', condition: { ...condition, since: condition.since ?? known?.since ?? now } },
      ];
    }),
    ...Object.entries(told).flatMap(([key, { at: _at, ...condition }]): NoticeChange[] =>
      presentKeys.has(key) ? [] : [{ key, state: 'resolved', condition }],
    ),
  ];
}

/** Returns whether a condition that was told has to be told again. `known.at`: time of the last message about it. */
function isWorse(condition: NoticeCondition, known: ToldCondition, now: number): boolean {
  if (condition.grade > known.grade || condition.count >= 2 * known.count) return true;
  if (condition.count > known.count && now - known.at >= AGAIN_MS) return true;
  return DATED_BY_OLDEST.has(condition.about) && condition.since !== null && condition.since > known.at;
}

/** Returns the conditions that the receiver was told, after it accepted a message. */
export function afterTelling(
  told: ToldConditions,
  { changes, at }: Pick<NoticeMessage, 'changes' | 'at'>,
): ToldConditions {
  const after = new Map(Object.entries(told));
  for (const { key, state, condition } of changes) {
    if (state === 'resolved') after.delete(key);
    else after.set(key, { ...condition, at });
  }
  return Object.fromEntries(after);
}

/**
 * Removes conditions that the channel no longer covers from `told`, and lowers counts and grades that fell, so that their next
 * growth is reported. Returns the same object when nothing changed.
 * @param places connections and targets of the settings (`placesOf`)
 */
export function tendTold(
  told: ToldConditions,
  present: readonly NoticeCondition[],
  { about, places }: { about: readonly NoticeSubject[]; places: ReadonlySet<string> },
): ToldConditions {
  const found = new Map(present.map((each) => [keyOf(each), each]));
  let isSame = true;
  const stillTold = Object.entries(told).flatMap(([key, known]) => {
    const isCovered = about.includes(known.about) && places.has(noticePlaceOf(known));
    // A condition that is not present any more keeps its numbers; `changesBetween` reports it as resolved.
    const { count = known.count, grade = known.grade } = found.get(key) ?? {};
    if (isCovered && count >= known.count && grade >= known.grade) return [[key, known] as const];
    isSame = false;
    const lower = { ...known, count: Math.min(count, known.count), grade: Math.min(grade, known.grade) };
    return isCovered ? [[key, lower] as const] : [];
  });
  return isSame ? told : Object.fromEntries(stillTold);
}

/** Creates the grouping. @param groupMs returns the grouping time, milliseconds */
export function createNoticeGrouping(groupMs: () => number) {
  // `<state> <key>` of a change → time of the first of the consecutive calls of `ripe` that had this change.
  let firstSeen = new Map<string, number>();
  return {
    /** Returns the changes of the next message; none until one of them has lasted for the grouping time. */
    ripe: (changes: NoticeChange[], now: number): NoticeChange[] => {
      const seen = new Map(
        changes.map(({ key, state }) => {
          const change = `${state} ${key}`;
          return [change, firstSeen.get(change) ?? now];
        }),
      );
      firstSeen = seen;
      const isRipe = [...seen.values()].some((at) => now - at >= groupMs());
      return isRipe ? changes.slice(0, MOST_CHANGES) : [];
    },
  };
}
