// Handles a group that was deleted at the source. Steps, in this order:
// 1. Without a link: link the platform group that a create without answer made or a lost link led to.
// 2. Under a policy that removes nothing: list the leaving members in the link, and end; the group stays.
// 3. Delete a group that the bridge created; from an adopted one, or if a rejection keeps the group, remove the managed members.
//    The guard decides about both. If a managed member stays, the group keeps its link, and the sync ends.
// 4. End the pending memberships, and forget the link.
// Flags of the link: directory/outbox/link.ts. `gate`: context.ts.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { counted } from '../../support/counted.ts';
import { isAbsent } from '../calls/absence.ts';
import { blockedBy, condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { deleteThere, noteDeleted } from '../deletion.ts';
import { isGone } from '../calls/failures.ts';
import { findGroup, groupsCalled } from './find-group.ts';
import { ended, permit, refuse } from '../gate.ts';
import { linkLeftGroup } from './left-group.ts';
import { listPendingLeavers, makeLeaversPending } from './left-members.ts';
import type { LinkedMember } from './member-writes.ts';
import { toLeavers } from './leavers.ts';
import {
  dropPendingMembers,
  leaving,
  logLostMembers,
  membersWithSign,
  rejectedAmong,
  removeMembers,
  removePermitted,
  throwIfUnwritten,
  type PendingMembers,
} from './members.ts';
import type { SyncOutcome } from '../outcome.ts';
import { LISTED_AS_PROTECTED } from '../target.ts';
import { unprovenMade } from '../names/made-unproven.ts';
import { untilShown } from '../names/lost-create.ts';
import { temporaryNameLeft, withTemporaryName } from '../names/temporary-name.ts';

const DELETED = 'the group was deleted at the source';

/** Deletes the platform group if the bridge created it. From an adopted group it removes the managed members only. */
export async function dissolve(context: SyncContext): Promise<SyncOutcome> {
  const { link, target } = context;
  // `tried`: a create was sent and has no answer, so it may have made the group.
  if (link.tried) {
    const name = String(link.tried.core.displayName);
    const found = await findGroup(context, name);
    const later = found.kind === 'absent' ? untilShown(context) : found;
    if (later?.kind === 'later') return later;
    const unproven =
      found.kind === 'blocked' &&
      (await unprovenMade(context, await groupsCalled(context, name), 'remove its members or delete it'));
    if (unproven) return endUnlinked(context, unproven);
    delete link.tried;
  }
  // `mayExist`: the link was forgotten or lost, and its group may still be there.
  if (link.id === undefined && link.mayExist) {
    const unfinished = await linkLeftGroup(context, link.mayExist);
    if (unfinished) return endUnlinked(context, unfinished);
  }
  // A reconcile notes null as the observed name of a group that is gone, which needs no decision of the guard.
  const wasSeenGone = link.observed?.displayName === null;
  const isGoneThere = wasSeenGone && (await isAbsent(context, 'Group', link));
  // Only the policy `sync` removes anything; the link lists the members who leave, for a later change of the policy. The list may
  // be empty: without one, all members whom the source does not have would be removed then.
  if (link.id !== undefined && target.policy.policy !== 'sync' && !isGoneThere) {
    link.departed = true;
    link.leavers ??= [];
    const pending = await context.outbox.pendingMembers(context.work.id);
    await listPendingLeavers(context, pending);
    await dropPendingMembers(context, pending);
    // A group that stays must not keep a temporary name: it is blocked until an operator chooses a name.
    return (await temporaryNameLeft(context, DELETED)) ?? { kind: 'synced' };
  }
  if (link.id !== undefined && !isGoneThere) {
    // Members whom an earlier policy left in the group are removed too, so the guard has to count them.
    await makeLeaversPending(context);
    try {
      const unfinished = await deleteOrEmpty(context, link.id);
      // A group that stays keeps a temporary name (temporary-name.ts): another name would give its members the access of that name.
      if (unfinished) return await withTemporaryName(context, unfinished);
      // `deleting`: the group is deleted, so it keeps no temporary name.
      const left = link.deleting ? undefined : await temporaryNameLeft(context, DELETED);
      if (left) return left;
    } catch (error) {
      if (!isGone(error) || !(await isAbsent(context, 'Group', link))) throw error;
      noteDeleted(context, 'delete group');
    }
  }
  if (isGoneThere) noteDeleted(context, 'delete group');
  if (link.deleting) await logLostMembers(context);
  const { outbox, work } = context;
  await dropPendingMembers(context, await outbox.pendingMembers(work.id));
  // The group is gone or has no managed member left, so kept (`r`) and unconfirmed removals have nothing to remove.
  const kept = membersWithSign(await outbox.pendingMembers(work.id), MEMBERSHIP_SIGN.keptRemoval);
  const ending = [...kept, ...(await outbox.unconfirmedRemovals(work.id))];
  // An ack of removals (`-`) ends kept and unconfirmed ones too (ack_members.lua).
  if (ending.length > 0) await outbox.ackMembers(work, MEMBERSHIP_SIGN.toRemove, ending);
  return { kind: 'synced', forget: true };
}

/**
 * Ends the sync of a group of which it is not proven which platform group is its own. The outcome `synced` means that the policy of
 * the target removes no member. The pending memberships are dropped then, because users wait for the removals among them.
 */
async function endUnlinked(context: SyncContext, outcome: SyncOutcome): Promise<SyncOutcome> {
  const { outbox, work } = context;
  if (outcome.kind === 'synced') await dropPendingMembers(context, await outbox.pendingMembers(work.id));
  return outcome;
}

/**
 * Deletes the group or removes its managed members.
 * @returns the outcome if the group stays with a managed member; undefined: the group is gone, or has none
 */
async function deleteOrEmpty(context: SyncContext, id: string): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  const pending = await context.outbox.pendingMembers(context.work.id);
  // An adopted group existed before the bridge, which must not delete it.
  if (link.origin === 'adopted') return removeAll(context, pending);
  const { guardStore } = context.outbox;
  const [isDeletionRejected] = await guardStore.areRejected([{ kind: 'delete', ref: context.work.ref }]);
  if (isDeletionRejected) refuse(context, { kind: 'delete' }, 'rejected');
  // A rejected removal keeps the group with that member; all other members are removed as the guard allows.
  if (isDeletionRejected || (await rejectedAmong(context, leaving(pending))).length > 0)
    return removeAll(context, pending);
  // Deleting a group takes access from all its members, so the guard counts them too. `whole`: it allows all of them or none.
  const open = await openMembers(context, pending);
  const wishes = [{ kind: 'delete' as const }, ...open.map(({ user }) => toRemoval(user))];
  const [deletion, ...removals] = await permit(context, wishes, { whole: true });
  const allowed = open.filter((_, index) => removals[index] === 'allowed');
  if (deletion === 'allowed' && allowed.length === open.length) {
    await deleteThere(context, {
      operation: 'delete group',
      run: () => target.client.groups.delete(id, context.call),
      read: () => target.client.groups.get(id, { members: false }, context.call),
    });
    return undefined;
  }
  // The deletion is approved, but cannot be written in this sync, because the removal of a member is not. The end of the sync drops
  // approvals, as if their changes were written or needless by now; `unasked` keeps that of the deletion for a later sync.
  if (deletion === 'allowed') context.gate.unasked.push('delete');
  // A removal that the platform answered with success and did not carry out is tried again later.
  await throwIfUnwritten(context, await removePermitted(context, allowed));
  return ended(context);
}

/**
 * Removes the members whose removal the guard allows.
 * @returns the outcome if a managed member stays, or may be one without a linked account; undefined: none is left
 */
async function removeAll(context: SyncContext, pending: PendingMembers): Promise<SyncOutcome | undefined> {
  const { isWaiting, ignored, protectedCount, soughtCount } = await removeMembers(context, pending);
  await throwIfUnwritten(context, ignored);
  if (isWaiting) return { kind: 'waiting', for: 'members' };
  // `soughtCount`: members whose account was not found.
  if (soughtCount > 0) {
    // Without the link nothing would remove a member whose account is found later.
    const who = `${counted(soughtCount, 'person', 'people')} whose account is not linked`;
    return blockedBy(
      context,
      'Conflict',
      `the group was deleted at the source, and ${who} may still be a member: this ends by itself once ${soughtCount === 1 ? 'the person is' : 'they are'} linked; ` +
        `to leave the group as it is, order scim-bridge links forget ${context.work.ref} --target ${context.target.name} --leave-account`,
    );
  }
  const outcome = ended(context);
  // A rejected removal keeps the link, because without it the operator could not take the rejection back.
  const why = 'condition' in outcome ? outcome.condition : undefined;
  // Without a condition nothing was refused: no managed member is left.
  if (protectedCount === 0) return why && outcome;
  // A protected member stays in the group, so the group keeps its link: the removal follows when the protection ends.
  const stay = `${LISTED_AS_PROTECTED}, so ${counted(protectedCount, 'member')} of the group that was deleted at the source ${protectedCount === 1 ? 'stays' : 'stay'}`;
  return {
    kind: outcome.kind === 'held' ? 'held' : 'synced',
    condition: why ? { ...why, message: `${why.message}; ${stay}` } : condition(context, 'Protected', stay),
  };
}

/** Returns the removal of a member as `permit` takes it. @param subject id of the user */
const toRemoval = (subject: string) => ({ kind: 'removeMembers' as const, subject });

/** Returns the members to be removed whose account may be active, without protected ones. */
async function openMembers(context: SyncContext, pending: PendingMembers): Promise<LinkedMember[]> {
  const leavers = await toLeavers(context, leaving(pending));
  return leavers.flatMap(([, leaver]) => (typeof leaver === 'object' && leaver.isOpen ? [leaver] : []));
}
