// Formats exceptions as text. Pure.
import {
  EXCEPTION_REASONS,
  type ExceptionCounts,
  type ExceptionReason,
} from '../../directory/outbox/exceptions.ts';
import { counted } from '../../support/counted.ts';

/** The reasons as words of a count. */
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
 * Returns the words behind those of a held change, '' for other reasons. The guard does not read the platform: until the next sync or
 * reconcile, a removal stays in its list whose member somebody took out of the group by hand.
 */
export const asOfSync = (reason: ExceptionReason): string =>
  reason === 'Held' ? ', as of the last sync' : '';

/** Returns the counts in words, such as `2 rejected, 1 protected`; '' when there is no exception. */
const exceptionCountsText = (counts: Pick<ExceptionCounts, ExceptionReason>): string =>
  EXCEPTION_REASONS.filter((reason) => counts[reason] > 0)
    .map((reason) => `${counts[reason]} ${EXCEPTION_WORDS[reason]}`)
    .join(', ');

/** Returns the total and the counts in words, such as `3 exceptions (2 rejected, 1 protected)`. */
export const exceptionTotalText = (counts: ExceptionCounts): string =>
  `${counted(counts.total, 'exception')} (${exceptionCountsText(counts)})`;
