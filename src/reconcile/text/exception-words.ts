// Formats exceptions as text, and selects the entries of a plan that the section of exceptions does not list. Pure.
import {
  EXCEPTION_REASONS,
  type ExceptionCounts,
  type ExceptionReason,
} from '../../directory/outbox/exceptions.ts';
import { counted } from '../../support/counted.ts';
import type { PlanEntry } from '../entry.ts';
import type { Plan } from '../plan.ts';
import { isOfDecision } from '../unwritten/unwritten-reasons.ts';

/** Words for each reason, such as after a count. */
export const EXCEPTION_WORDS: Record<ExceptionReason, string> = {
  Rejected: 'rejected',
  Protected: 'protected',
  LastAdministrator: 'last administrator',
  Dropped: 'dropped from the dead letters',
  NotAdopted: 'not adopted',
  Held: 'held by the guard',
  OnHold: 'on hold',
};

/** Returns the message without the start "the guard holds ", for a text that has named the guard already. */
export const withoutGuardHolds = (message: string): string => message.replace(/^the guard holds /, '');

/**
 * Returns the words that follow those of a held change, '' for other reasons. The guard does not read the platform: if somebody
 * takes a member out of a group by hand, the held removal stays in its list until the next sync or reconcile.
 */
export const heldSuffix = (reason: ExceptionReason): string =>
  reason === 'Held' ? ', as of the last sync' : '';

/** Returns the counts in words, such as `2 rejected, 1 protected`; '' when there is no exception. */
const exceptionCountsText = (counts: Pick<ExceptionCounts, ExceptionReason>): string =>
  EXCEPTION_REASONS.filter((reason) => counts[reason] > 0)
    .map((reason) => `${counts[reason]} ${EXCEPTION_WORDS[reason]}`)
    .join(', ');

/** Returns the total and the counts in words, such as `3 exceptions (2 rejected, 1 protected)`. */
export const exceptionTotalText = (counts: ExceptionCounts): string =>
  `${counted(counts.total, 'exception')} (${exceptionCountsText(counts)})`;

/** Reasons of exceptions that wait for a decision or were decided, about a part of the changes of a resource. */
const OF_A_PART: ReadonlySet<ExceptionReason> = new Set(['Held', 'LastAdministrator', 'Rejected']);

/**
 * Returns the entries that the section of exceptions does not list. It lists:
 * - of a resource with an exception of OF_A_PART: the entries of the decision, and of what waits for it;
 * - of a resource with another exception: all entries except memberships, because an exception of a group names no member.
 */
export function withoutExceptions({ exceptions }: Plan, entries: PlanEntry[]): PlanEntry[] {
  const exceptionOf = new Map(exceptions.items.map((each) => [each.ref, each.reason]));
  return entries.filter(({ ref, reason: text, member }) => {
    const exception = ref === null ? undefined : exceptionOf.get(ref);
    if (exception === undefined) return true;
    return OF_A_PART.has(exception) ? !isOfDecision(text) : member !== undefined;
  });
}
