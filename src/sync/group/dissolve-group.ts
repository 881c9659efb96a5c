// Handles a group that was deleted at the source. If a reconcile did not find the group, and it is gone at the platform, the sync
// goes on with step 4, without policy and guard. Steps, in this order:
// 1. Without a link: link the platform group that a create without answer made or a lost link led to.
// 2. Under a policy that removes nothing: list the leaving members in the link, and end; the group stays.
// 3. Delete the group or remove its managed members, as the guard allows (delete-or-empty.ts). If a managed member stays, the group
//    keeps its link, and the sync ends.
// 4. End the pending memberships, and forget the link.
// Flags of the link: directory/outbox/link.ts.
import { platformIdOf, type Link } from '../../directory/outbox/link.ts';
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import { fold } from '../../directory/records.ts';
import { isAbsent } from '../calls/absence.ts';
import { isGone } from '../calls/failures.ts';
import type { SyncContext } from '../context.ts';
import { noteDeleted } from '../deletion.ts';
import { untilShown } from '../names/lost-create.ts';
import { unprovenMade, isLinkedToOther, linkLeft, readLeft, unprovenLeft } from '../names/left-there.ts';
import { temporaryNameLeft, withTemporaryName } from '../names/temporary-name.ts';
import type { SyncOutcome } from '../outcome.ts';
import { deleteOrEmpty } from './delete-or-empty.ts';
import { findGroup, groupsCalled } from './find-group.ts';
import { listPendingLeavers, makeLeaversPending } from './left-members.ts';
import { dropPendingMembers, logLostMembers } from './members.ts';

const DELETED = 'the group was deleted at the source';
/** Advice to an operator about a platform group that may be that of the deleted group. */
const REMOVE = 'remove its members or delete it';

/** Deletes the platform group if the bridge created it. From an adopted group it removes the managed members only. */
export async function dissolve(context: SyncContext): Promise<SyncOutcome> {
  const { link, target } = context;
  if (link.tried) {
    const unfinished = await linkTriedGroup(context, link.tried);
    if (unfinished) return endUnlinked(context, unfinished);
  }
  // `mayExist`: the link was forgotten or lost, and its group may still be there.
  if (link.id === undefined && link.mayExist) {
    const unfinished = await linkLeftGroup(context, link.mayExist);
    if (unfinished) return endUnlinked(context, unfinished);
  }
  // A reconcile notes the name null for a group that is gone. The end of such a group needs no decision of the guard.
  const wasSeenGone = link.observed?.displayName === null;
  const isGoneThere = wasSeenGone && (await isAbsent(context, 'Group', link));
  const isThere = link.id !== undefined && !isGoneThere;
  if (isThere && target.policy.policy !== 'sync') return leaveByPolicy(context);
  if (isThere) {
    const unfinished = await endPlatformGroup(context);
    if (unfinished) return unfinished;
  }
  if (isGoneThere) noteDeleted(context, 'delete group');
  if (link.deleting) await logLostMembers(context);
  await endMemberships(context);
  return { kind: 'synced', forget: true };
}

/**
 * Deletes the platform group or removes its managed members. A group that is gone counts as deleted.
 * @returns an outcome if the group stays with a managed member or a temporary name; else undefined
 */
async function endPlatformGroup(context: SyncContext): Promise<SyncOutcome | undefined> {
  const { link } = context;
  // Members whom an earlier policy left in the group are removed too, so the guard has to count them.
  await makeLeaversPending(context);
  try {
    const unfinished = await deleteOrEmpty(context, platformIdOf(link));
    // If the group stays, its temporary name (temporary-name.ts) stays too: another name would give its members other access.
    if (unfinished) return await withTemporaryName(context, unfinished);
    // `deleting`: the group is deleted, so it keeps no temporary name.
    return link.deleting ? undefined : await temporaryNameLeft(context, DELETED);
  } catch (error) {
    if (!isGone(error) || !(await isAbsent(context, 'Group', link))) throw error;
    noteDeleted(context, 'delete group');
    return undefined;
  }
}

/**
 * Leaves the group and its members, because only the policy `sync` removes anything. The link lists the members who leave, for a
 * later change of the policy.
 */
async function leaveByPolicy(context: SyncContext): Promise<SyncOutcome> {
  const { link, outbox, work } = context;
  link.departed = true;
  // An empty list is stored too: without a list, a later policy `sync` removes every managed member whom the source does not have.
  link.leavers ??= [];
  const pending = await outbox.pendingMembers(work.id);
  await listPendingLeavers(context, pending);
  await dropPendingMembers(context, pending);
  // A group that stays with a temporary name becomes a dead letter, so that an operator chooses another name.
  return (await temporaryNameLeft(context, DELETED)) ?? { kind: 'synced' };
}

/** Ends all pending memberships of a group that is gone or has no managed member left: no removal has anything to remove. */
async function endMemberships(context: SyncContext): Promise<void> {
  const { outbox, work } = context;
  await dropPendingMembers(context, await outbox.pendingMembers(work.id));
  // Kept (`r`) and unconfirmed removals are not dropped with the others.
  const kept = withSign(await outbox.pendingMembers(work.id), MEMBERSHIP_SIGN.keptRemoval);
  const ending = [...kept, ...(await outbox.unconfirmedRemovals(work.id))];
  // An ack of removals (`-`) ends kept and unconfirmed ones too (ack_members.lua).
  if (ending.length > 0) await outbox.ackMembers(work, MEMBERSHIP_SIGN.toRemove, ending);
}

/**
 * Links the platform group that a create without answer made (`tried`), if it is there.
 * @returns an outcome when the sync cannot continue; else undefined
 */
async function linkTriedGroup(
  context: SyncContext,
  { core }: NonNullable<Link['tried']>,
): Promise<SyncOutcome | undefined> {
  const { link } = context;
  const name = String(core.displayName);
  // A group that is found and may be linked is linked by findGroup, which sets `link.id`.
  const found = await findGroup(context, name);
  if (found.kind === 'later') return found;
  const later = found.kind === 'absent' ? untilShown(context) : undefined;
  if (later) return later;
  const unproven =
    found.kind === 'blocked' && (await unprovenMade(context, await groupsCalled(context, name), REMOVE));
  if (unproven) return unproven;
  // Either the group is linked, or the create counts as having made none: the platform shows no group of this name even after
  // SHOWN_WITHIN_MS (lost-create.ts), or only groups that are linked to another resource or were made at another time.
  delete link.tried;
  return undefined;
}

/**
 * Ends the sync of a group whose platform group is not proven. The outcome `synced` means that the policy of the target removes no
 * member: the pending memberships are then dropped, because users wait for the removals among them.
 */
async function endUnlinked(context: SyncContext, outcome: SyncOutcome): Promise<SyncOutcome> {
  const { outbox, work } = context;
  if (outcome.kind === 'synced') await dropPendingMembers(context, await outbox.pendingMembers(work.id));
  return outcome;
}

/**
 * Links the platform group of a deleted group whose link was lost (an operator ordered to forget it, or a restore lost it), so that
 * its members lose the access. Only a group that is proven to be the deleted one is linked.
 * @returns an outcome when the sync cannot continue; else undefined
 */
async function linkLeftGroup(
  context: SyncContext,
  { id }: NonNullable<Link['mayExist']>,
): Promise<SyncOutcome | undefined> {
  const { link, target, call } = context;
  const name = String(link.core?.displayName ?? '');
  if (id === undefined) return lookUp(context, name);
  if (await isLinkedToOther(context, id)) return undefined;
  const { groups } = target.client;
  const group = await readLeft(context, 'Group', id, () => groups.get(id, { members: true }, call));
  if (!group) return undefined;
  if (fold(group.displayName) === fold(name))
    return linkLeft(context, id, { displayName: group.displayName });
  // The group has another name now, so it is not proven to be the deleted one; without members it gives no access anyway.
  if (group.members?.length === 0) return undefined;
  return unprovenLeft(context, `its group ${name} is called ${group.displayName} now`, REMOVE);
}

/**
 * Looks the platform group of a deleted group up by the name. After a restore it is not known which members the bridge added, so an
 * operator decides about a group with members.
 * @param displayName name at the source
 * @returns an outcome when a group that may be this one has members; else undefined, and no group is linked
 */
async function lookUp(context: SyncContext, displayName: string): Promise<SyncOutcome | undefined> {
  const { directory, target, call } = context;
  const { groups } = target.client;
  const name = target.mapping.groupName(displayName);
  const holders = (await directory.lookup('Group', 'displayname', displayName)) ?? [];
  if (name === undefined || holders.length > 0) return undefined;
  for (const { id, displayName: shown } of await groups.findByDisplayName(name, call)) {
    if (fold(shown) !== fold(name) || (await isLinkedToOther(context, id))) continue;
    const { members = [] } = await groups.get(id, { members: true }, call);
    if (members.length > 0)
      return unprovenLeft(context, `a group is called ${name}, which may be this one`, REMOVE);
  }
  return undefined;
}
