// Defines the pending members of a group, and what their removal (remove-members.ts) and addition (add-members.ts) share.
// `ackMembers` clears a pending membership, or gives it another sign (directory/outbox/work.ts).
import { MEMBERSHIP_SIGN, withSign, type WrittenSign } from '../../directory/outbox/pending-memberships.ts';
import { fold } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import type { SyncContext } from '../context.ts';
import { WriteIgnored } from '../outcome.ts';
import { linksOfUsers } from './leavers.ts';
import type { Ignored } from './member-writes.ts';
import { throwIfRefused } from './refused-members.ts';

/** Most members in one PATCH, and in one entry of the log. */
export const PORTION = 100;

/**
 * User id, or `@<platform id>` of an unmanaged member → sign. `+`: to be added; `-`: to be removed; `r`: a kept removal, not
 * written because it or the user's deactivation was rejected, or the user is protected.
 */
export type PendingMembers = Map<string, string>;

/**
 * Returns the keys of the pending and kept removals (signs `-` and `r`).
 * @param pending members of a group, or groups of a user, without unconfirmed removals (sign `u`)
 */
export const leaving = (pending: PendingMembers): string[] =>
  [...pending].filter(([, each]) => each !== MEMBERSHIP_SIGN.toAdd).map(([key]) => key);

/**
 * Throws the failures that were kept while members were written. Called after all writes of members, so that one refused member
 * does not stop the others.
 * @param ignored sentences about members whose change the platform answered with success and did not apply
 * @throws what `throwIfRefused` throws, or WriteIgnored with these sentences
 */
export async function throwIfUnwritten(context: SyncContext, ignored: Ignored): Promise<void> {
  await throwIfRefused(context);
  if (ignored.length > 0) throw new WriteIgnored(ignored.join('; '));
}

/**
 * Drops the pending additions and removals of members, or only those of one sign, because they will not be written and no
 * user must wait for them. Kept removals (`r`) stay.
 * @param pending the pending members whom the caller has read: a removal that the source pushes meanwhile stays, because the caller
 *   has not noted that leaver in the link (left-members.ts)
 * @param ending `left`: the policy leaves these memberships out; additions that were never sent stay noted as such (`ackMembers`)
 */
export async function dropPendingMembers(
  context: SyncContext,
  pending: PendingMembers,
  { only, ending }: { only?: WrittenSign; ending?: 'left' } = {},
): Promise<void> {
  for (const sign of [MEMBERSHIP_SIGN.toAdd, MEMBERSHIP_SIGN.toRemove]) {
    if (only !== undefined && sign !== only) continue;
    const users = withSign(pending, sign);
    if (users.length > 0) await context.outbox.ackMembers(context.work, sign, users, ending);
  }
}

/** Logs the end of a membership by the deletion of the group, for each member with an account. */
export async function logLostMembers(context: SyncContext): Promise<void> {
  const { links, outbox, provisioning, target, work } = context;
  const users = leaving(await outbox.pendingMembers(work.id));
  for (const portion of inPortions(users, PORTION)) {
    const found = await linksOfUsers({ links, target }, portion);
    const members = portion.filter((_, index) => found[index]?.id !== undefined);
    if (members.length > 0) provisioning.lostMembers(members);
  }
}

/** Logs a warning: the platform gives roles by group name and never takes them away (contract 12.6). */
export function warnOfRoles({ target, logger, work }: SyncContext, ...names: string[]): void {
  const mapped = Object.keys(target.policy.groupsRolesMap).map(fold);
  if (names.some((name) => mapped.includes(fold(name)))) {
    logger.warn(
      { ref: work.ref },
      'this group carries roles: those already given remain, take them away by hand',
    );
  }
}
