// Finds dead letters whose refused change somebody then made at the platform. Pure.
import type { Link } from '../directory/outbox/link.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import type { AttributeState, MembershipState } from './explanation.ts';

/** Returns whether the resource is a dead letter without a mark, so that no sync of the resource waits or runs. */
export const isLetter = ({ blockedSince, mark }: ResourceStatus): boolean => blockedSince !== null && !mark;

/**
 * Returns whether the resource is a dead letter with nothing left to be written. Equal values at the platform are not enough:
 * an earlier write may still take effect, and a membership, a decision or a deletion may be pending.
 * @param found.isAsDesired whether the platform was read, and nothing differs there
 */
export function isLetterDone(
  status: ResourceStatus,
  found: { isAsDesired: boolean; link: Link; memberships: MembershipState[]; values: AttributeState[] },
): boolean {
  const { isAsDesired, link, memberships, values } = found;
  // A comparison skips the account of a leaver, so it cannot show that the refused deletion or closing was made.
  const isCompared = !link.departed && link.condition?.write !== 'delete';
  // A deactivation that was sent without an answer (`unsure`) may still close the account, although `active` is wanted again.
  const mayStillClose = values.some(
    ({ name, desired, state }) => name === 'active' && desired === true && state === 'unsure',
  );
  const isWritten = memberships.every(({ state }) => state === 'applied' || state === 'notForTarget');
  return (
    isLetter(status) && isAsDesired && isCompared && !mayStillClose && isWritten && status.guard.length === 0
  );
}
