// Converts facts to the conditions that an operator has to act on. Pure. A condition has no personal data: only counts, times,
// reasons, and the names of connections and targets.
import type { NoticeCondition, NoticeSubject } from '../directory/notice-store.ts';
import { EXCEPTION_REASONS } from '../directory/outbox/exceptions.ts';
import { total } from '../support/counted.ts';
import { warningOf } from '../tokens/expiry.ts';
import type { NoticeFacts } from './facts.ts';

/** Reasons of exceptions except held changes, which are a subject of their own. */
const EXCEPTIONS = EXCEPTION_REASONS.filter((reason) => reason !== 'Held');

/** Returns the present conditions; each has a different key (`keyOf`). */
export function conditionsOf({ now, backlogs, breakers, tokens }: NoticeFacts): NoticeCondition[] {
  return [
    ...backlogs.flatMap(({ backlog, ...place }) => backlogConditions(backlog, place, now)),
    ...breakers.flatMap(({ target, state: { open, status, since } }) => {
      if (!open) return [];
      // The reason is the status of the failed calls; '0': they got no answer.
      return [condition('breaker', { target, count: 1, reason: String(status ?? 0), since: since ?? null })];
    }),
    ...tokens.flatMap(({ connection, expiresAt }) => tokenConditions(connection, expiresAt, now)),
  ];
}

/** Returns the identity of a condition, which does not depend on its count. */
export const keyOf = ({ about, connection, target, reason }: NoticeCondition): string =>
  [about, connection ?? '', target ?? '', BY_REASON.has(about) ? (reason ?? '') : ''].join(' ');

/** Subjects with one condition for each reason. */
const BY_REASON: ReadonlySet<NoticeSubject> = new Set(['exceptions', 'tokens'] as const);

/** Returns connection and target of a condition as one text, to compare them with those of the settings. */
export const noticePlaceOf = ({
  connection,
  target,
}: Pick<NoticeCondition, 'connection' | 'target'>): string => `${connection ?? ''} ${target ?? ''}`;

/** Returns every connection and target that a condition can have, as texts of `noticePlaceOf`. */
export const placesOf = ({ backlogs, breakers, tokens }: NoticeFacts): ReadonlySet<string> =>
  new Set([
    ...backlogs.map(noticePlaceOf),
    ...breakers.map(({ target }) => noticePlaceOf({ connection: null, target })),
    ...tokens.map(({ connection }) => noticePlaceOf({ connection, target: null })),
  ]);

const condition = (
  about: NoticeSubject,
  known: Partial<NoticeCondition> & { count: number },
): NoticeCondition => ({
  about,
  connection: null,
  target: null,
  reason: null,
  // Only conditions about tokens have a grade other than 0 (tokenConditions).
  grade: 0,
  since: null,
  ...known,
});

function backlogConditions(
  {
    held,
    exceptions,
    blocked,
    blockedSince,
    failedRuns,
    failingSince,
    lastRun,
  }: NoticeFacts['backlogs'][number]['backlog'],
  place: { connection: string; target: string },
  now: number,
): NoticeCondition[] {
  const count = total(Object.values(held));
  // `ages`: milliseconds since the oldest exception of each reason.
  const since = exceptions.Held > 0 ? now - exceptions.ages.Held : null;
  return [
    condition('held', { ...place, count, since }),
    ...EXCEPTIONS.map((reason) =>
      condition('exceptions', {
        ...place,
        reason,
        count: exceptions[reason],
        since: now - exceptions.ages[reason],
      }),
    ),
    condition('deadLetters', { ...place, count: blocked, since: blockedSince ?? null }),
    condition('reconcile', {
      ...place,
      count: failedRuns,
      reason: lastRun?.outcome ?? null,
      since: failingSince ?? null,
    }),
  ].filter((each) => each.count > 0);
}

function tokenConditions(
  connection: string,
  expiresAt: readonly (number | null)[],
  now: number,
): NoticeCondition[] {
  // `warningOf` returns 30, 7 or 1 (days), 0 for an expired token, and undefined for a token without a warning.
  const times = expiresAt.filter((at) => at !== null);
  const expired = times.filter((at) => warningOf(at, now) === 0);
  const soon = times.flatMap((at) => warningOf(at, now) ?? []).filter((days) => days > 0);
  return [
    condition('tokens', {
      connection,
      reason: 'expired',
      count: expired.length,
      since: Math.min(...expired),
    }),
    // The grade is the negative number of days: it rises from -30 to -7 and -1, and then the condition is reported again.
    condition('tokens', { connection, reason: 'soon', count: soon.length, grade: -Math.min(...soon) }),
  ].filter((each) => each.count > 0);
}
