// Tells when the closed account of a person whom the source deleted is deleted for good. Pure.
import { deletionDue, HANDOVER_WAIT_DAYS } from '../sync/user/deletion-due.ts';
import { isoTime } from '../support/sources.ts';
import type { ExplainedFacts } from './explanation.ts';

/** States of a handover for which a deletion waits (`handoverWaitEnd`). */
const AWAITED = ['later', 'due', 'moving'];

/**
 * Returns a sentence with the time of the deletion. Undefined: the settings or a protection keep the account, it is gone, or other
 * sentences tell of the deletion (due, pending, held, rejected or refused).
 */
export function accountDeletionReason(facts: ExplainedFacts): string | undefined {
  const { condition, deletedAt, handover, link, lookAgainAt, mark, platform, policy, ref } = facts;
  if (!link.departed || deletedAt === null || condition || mark || policy.protected) return undefined;
  if (link.platformId === null || platform?.accountGone || platform?.state === 'differs') return undefined;
  const dueAt = deletionDue({ policy: policy.policy, users: policy }, Date.parse(deletedAt));
  if (!dueAt) return undefined; // also 0: with `deprovision: delete` the deletion is due at once
  const when = isoTime(dueAt);
  const isFor = `(users.deleteAfterDays: ${policy.deleteAfterDays}), as far as the guard lets it.`;
  if (handover && AWAITED.includes(handover.state))
    return `The account is deleted for good after ${when} and after the handover, for which its deletion waits at most ${HANDOVER_WAIT_DAYS} days from when both are due ${isFor}`;
  // A sync for the day of the deletion is planned only if `users.deleteAfterDays` was not larger when the account was closed.
  const isSyncPlanned = lookAgainAt !== null && Date.parse(lookAgainAt) <= dueAt;
  const by = isSyncPlanned
    ? `at ${when}`
    : `by the first reconcile that repairs after ${when}, or by scim-bridge sync ${ref} then`;
  return `The account is deleted for good ${by} ${isFor}`;
}
