// Decides whether the marked change of a user is still to be written, or nothing of it is left to be written. Pure.
import { isAwaitingDecision } from '../directory/outbox/links.ts';
import { sameValue } from '../sync/mapping/values.ts';
import { mayBeActive } from '../sync/user/account-state.ts';
import { isInactiveAsDesired, waitingText } from './desired-access.ts';
import type { Facts } from './facts.ts';
import type { AccountDifference } from './report.ts';

/**
 * Returns whether the user has a mark whose sync may still write something. While the target is on hold or fails, a mark stays although
 * somebody has made the same change at the platform by hand; such a mark is not waited for.
 */
export function isChangeWaiting(facts: Omit<Facts, 'context' | 'visibility'>): boolean {
  const { differences, isMarked, link, reading, wanted } = facts;
  if (!isMarked || !reading || link.id === undefined) return isMarked;
  // The account should be open: a difference that was not written yet waits.
  if (wanted.kind === 'open') return !differences.every((each) => isApplied(facts, each));
  // It should be closed and is open.
  if (reading.view.active) return true;
  // Values that wait for the decision are still to be written.
  if (isDecisionMoot(facts)) return waitingText(wanted, reading) !== undefined;
  // It is closed: the sync may still delete the account of a leaver, or write what else differs.
  return facts.deletesLeavers || link.condition !== undefined || !isInactiveAsDesired(wanted, reading);
}

/**
 * Returns whether the bridge wrote the desired value before, so that somebody else changed the value at the platform. The sync of a
 * change does not read the account, so only a reconcile writes the value again (`suspectedDrift`).
 */
function isApplied(
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
 * Returns whether a decision about an account that the platform shows closed or does not have is needed no more: by the link the
 * account is open, so others made the change, or, after a restore, the bridge itself between backup and restore. Not to be asked about
 * an open account.
 */
export const isDecisionMoot = ({ link }: Pick<Facts, 'link'>): boolean =>
  isAwaitingDecision(link.condition) && link.id !== undefined && mayBeActive(link);
