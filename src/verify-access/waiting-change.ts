// Decides for verify-access whether a change of a user waits to be written, or the account only differs at the platform. Pure.
import { isAwaitingDecision } from '../directory/outbox/link-condition.ts';
import { sameValue } from '../sync/mapping/values.ts';
import { mayBeActive } from '../sync/user/account-state.ts';
import { isInactiveAsDesired, waitingText } from './access-differences.ts';
import type { Facts } from './facts.ts';
import type { AccountDifference } from './report.ts';

/**
 * Returns whether the user has a mark whose sync may still write something. While the target is on hold or fails, a mark stays even
 * after somebody made its change at the platform by hand: false for such a mark.
 */
export function isChangeWaiting(facts: Omit<Facts, 'context' | 'visibility'>): boolean {
  const { differences, isMarked, link, reading, wanted } = facts;
  if (!isMarked) return false;
  // Without a link or a read account, nothing shows that the change was made.
  if (!reading || link.id === undefined) return true;
  if (wanted.kind === 'open') return differences.some((each) => !wasWrittenBefore(facts, each));
  const isStillOpen = reading.view.active;
  if (isStillOpen) return true;
  // Others closed the account before the decision: only the values that wait with the deactivation are left.
  if (isDecisionMoot(facts)) return waitingText(wanted, reading) !== undefined;
  // The sync may still delete the account of a leaver, try again what the condition is about, or write another difference.
  const hasCondition = link.condition !== undefined;
  return facts.deletesLeavers || hasCondition || !isInactiveAsDesired(wanted, reading);
}

/**
 * Returns whether the bridge wrote the desired value before, so that somebody else changed the value at the platform. The sync of a
 * change does not read the account, so only a reconcile writes the value again (`suspectedDrift`).
 */
function wasWrittenBefore(
  { link, suspectedDrift }: Pick<Facts, 'link' | 'suspectedDrift'>,
  { name, desired, unmappable }: AccountDifference,
): boolean {
  const isUnsure = suspectedDrift.includes(name) || link.unsure?.includes(name) === true;
  // The memberships are not in the link of the user.
  if (isUnsure || unmappable !== undefined || name === 'groups') return false;
  const attribute = /^attributes[.](.*)$/.exec(name)?.[1];
  return sameValue(desired, attribute === undefined ? link.core?.[name] : link.attributes?.[attribute]);
}

/**
 * Returns whether a decision about the closing of an account is awaited, but no longer needed. Called only if the account is closed
 * or gone at the platform. By the link the account is open, so others closed it; after a restore, the bridge itself may have closed
 * it between the backup and the restore.
 */
export const isDecisionMoot = ({ link }: Pick<Facts, 'link'>): boolean =>
  isAwaitingDecision(link.condition) && link.id !== undefined && mayBeActive(link);
