// Tells when the account of a person who left is deleted. Pure.
import type { SyncPolicy } from '../target.ts';

const DAY_MS = 86_400_000;

/** The settings that decide whether and when an account is deleted. */
interface DeletionPolicy extends Pick<SyncPolicy, 'policy'> {
  users: Pick<SyncPolicy['users'], 'deprovision' | 'deleteAfterDays'>;
}

/**
 * Returns the time from which the closed account of a user who left is deleted, Unix milliseconds, 0 for at once; undefined: never.
 * @param deletedAt when the source deleted the user, Unix milliseconds; undefined: the user is stored, and out of scope
 */
export function deletionDue(
  { policy, users }: DeletionPolicy,
  deletedAt: number | undefined,
): number | undefined {
  // Only the policy `sync` removes an account.
  if (policy !== 'sync') return undefined;
  if (users.deprovision === 'delete') return 0;
  // The days count from the deletion at the source, so the account of a user out of scope stays.
  if (users.deleteAfterDays === null || deletedAt === undefined) return undefined;
  return deletedAt + users.deleteAfterDays * DAY_MS;
}

/**
 * Returns whether the account of a user who left is deleted as soon as it is closed, so that its userName comes free. With more days
 * of `deleteAfterDays` the closed account keeps the name for a long time.
 */
export const isDeletedOnceClosed = ({ deprovision, deleteAfterDays }: DeletionPolicy['users']): boolean =>
  deprovision === 'delete' || deleteAfterDays === 0;
