// Tells when the account of a person who left is deleted (`deletionDue`), and until when a due deletion waits because the work of the
// account is still to be handed over (`handoverWaitEnd`, ADR 0025).
import type { HandoverHead, HandoverStore } from '../../directory/outbox/handover-store.ts';
import type { Ref } from '../../directory/records.ts';
import type { SyncPolicy } from '../target.ts';

const DAY_MS = 86_400_000;
/** Longest time for which a due deletion waits for a due handover. */
export const HANDOVER_WAIT_DAYS = 7;

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

/** Facts of a closed account. `closedAt`: Unix milliseconds, absent: the bridge does not know (Link.closedAt). */
interface ClosedAccount {
  closedAt?: number | undefined;
  /** State of the handover of its work; undefined: no run has begun one. */
  head: HandoverHead | undefined;
}

/**
 * Returns until when a deletion waits for the handover of the account's work, Unix milliseconds; undefined: no handover is owed. It
 * is owed until a run has moved all items that the platform lets it move, or the work was given back.
 * @param dueAt time of the deletion without the wait (`deletionDue`)
 */
export function handoverWaitEnd(
  { handover }: Pick<SyncPolicy, 'handover'>,
  dueAt: number,
  { closedAt, head }: ClosedAccount,
): number | undefined {
  if (!handover || closedAt === undefined) return undefined;
  const isMade = head?.closedAt === closedAt && head.state !== 'moving';
  if (isMade) return undefined;
  return Math.max(dueAt, closedAt + handover.afterDays * DAY_MS) + HANDOVER_WAIT_DAYS * DAY_MS;
}

/** Returns the time as `deletionDue` does, or, if that has come and a handover is owed, the end of the wait for it. */
export async function deletionTime(
  policy: DeletionPolicy & Pick<SyncPolicy, 'handover'>,
  handovers: Pick<HandoverStore, 'heads'>,
  account: { ref: Ref; closedAt?: number | undefined; deletedAt: number | undefined },
  now: number,
): Promise<number | undefined> {
  const { ref, closedAt, deletedAt } = account;
  const dueAt = deletionDue(policy, deletedAt);
  if (dueAt === undefined || dueAt > now || !policy.handover) return dueAt;
  const head = (await handovers.heads([ref])).get(ref);
  return handoverWaitEnd(policy, dueAt, { closedAt, head }) ?? dueAt;
}

/**
 * Returns whether the account of a user who left is deleted as soon as it is closed, so that its userName comes free. With more days
 * of `deleteAfterDays` the closed account keeps the name for a long time.
 */
export const isDeletedOnceClosed = ({ deprovision, deleteAfterDays }: DeletionPolicy['users']): boolean =>
  deprovision === 'delete' || deleteAfterDays === 0;
