// Handles the platform group of a group that was deleted at the source. A group that the bridge created is deleted. Of an adopted
// group, which existed before the bridge, only the managed members are removed; so are those of a group that stays because its
// deletion or a removal was rejected. The guard decides about deletion and removals. `gate`: context.ts.
import { counted } from '../../support/counted.ts';
import { blockedBy, condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { deleteThere } from '../deletion.ts';
import { ended, permit, refuse } from '../gate.ts';
import type { SyncOutcome } from '../outcome.ts';
import { LISTED_AS_PROTECTED } from '../target.ts';
import { toLeavers } from './leavers.ts';
import type { LinkedMember } from './member-writes.ts';
import { leaving, throwIfUnwritten, type PendingMembers } from './members.ts';
import { rejectedAmong, removeMembers, removePermitted } from './remove-members.ts';

/**
 * Deletes the group or removes its managed members, as the guard allows.
 * @param id SCIM id of the platform group
 * @returns the outcome if the group stays with a managed member; undefined: the group is gone, or has no managed member
 */
export async function deleteOrEmpty(context: SyncContext, id: string): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  const pending = await context.outbox.pendingMembers(context.work.id);
  // An adopted group existed before the bridge, which must not delete it.
  if (link.origin === 'adopted') return removeAll(context, pending);
  const { guardStore } = context.outbox;
  const [isDeletionRejected] = await guardStore.areRejected([{ kind: 'delete', ref: context.work.ref }]);
  if (isDeletionRejected) refuse(context, { kind: 'delete' }, 'rejected');
  // A rejected removal keeps the group and its member; the other members are removed as the guard allows.
  if (isDeletionRejected || (await rejectedAmong(context, leaving(pending))).length > 0)
    return removeAll(context, pending);
  // Deleting a group takes access from all its members, so the guard counts them too. `whole`: of the changes without an earlier
  // verdict, all are allowed or none. Earlier verdicts stay, so the guard may allow a part of the changes.
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
  // The deletion is approved, but the removal of a member is not allowed yet. `postponed` keeps the approval after the end of the
  // sync.
  if (deletion === 'allowed') context.gate.postponed.push('delete');
  // A removal that the platform answered with success and did not carry out is tried again later.
  await throwIfUnwritten(context, await removePermitted(context, allowed));
  return ended(context);
}

/**
 * Removes the members whose removal the guard allows.
 * @returns the outcome if a managed member stays, or a user without linked account may be a member; undefined: none is left
 */
async function removeAll(context: SyncContext, pending: PendingMembers): Promise<SyncOutcome | undefined> {
  const { isWaiting, ignored, protectedCount, soughtCount } = await removeMembers(context, pending);
  await throwIfUnwritten(context, ignored);
  if (isWaiting) return { kind: 'waiting', for: 'members' };
  // `soughtCount`: members whose account was not found.
  if (soughtCount > 0) {
    // Without the link nothing would remove a member whose account is found later.
    const who = `${counted(soughtCount, 'person', 'people')} whose account is not linked`;
    const areLinked = `${soughtCount === 1 ? 'the person is' : 'they are'} linked`;
    return blockedBy(
      context,
      'Conflict',
      `the group was deleted at the source, and ${who} may still be a member: this ends by itself once ${areLinked}; ` +
        `to leave the group as it is, order scim-bridge links forget ${context.work.ref} --target ${context.target.name} --leave-account`,
    );
  }
  const outcome = ended(context);
  // Held and rejected changes, also a rejected deletion of the group; undefined: there are none.
  const refusal = 'condition' in outcome ? outcome.condition : undefined;
  // After a rejected removal the link stays, because the operator needs it to withdraw the rejection.
  if (protectedCount === 0) return refusal ? outcome : undefined;
  // A protected member stays in the group, so the group keeps its link: the removal follows when the protection ends.
  const stay = protectedCount === 1 ? 'stays' : 'stay';
  const text = `${LISTED_AS_PROTECTED}, so ${counted(protectedCount, 'member')} of the group that was deleted at the source ${stay}`;
  return {
    kind: outcome.kind === 'held' ? 'held' : 'synced',
    condition: refusal
      ? { ...refusal, message: `${refusal.message}; ${text}` }
      : condition(context, 'Protected', text),
  };
}

/** Returns the removal of a member as `permit` takes it. @param subject id of the user */
const toRemoval = (subject: string) => ({ kind: 'removeMembers' as const, subject });

/** Returns the members to be removed whose account may be active, without protected ones. */
async function openMembers(context: SyncContext, pending: PendingMembers): Promise<LinkedMember[]> {
  const leavers = await toLeavers(context, leaving(pending));
  return leavers.flatMap(([, leaver]) => (typeof leaver === 'object' && leaver.isOpen ? [leaver] : []));
}
