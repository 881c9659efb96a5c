// Syncs one group at one target. Only pending memberships of the outbox are written, so the cost depends on the changes and
// not on the size of the group. The member list is never replaced (contract 12.5). Steps of a group in scope (of a deleted one:
// dissolve-group.ts), in this order:
// 1. Find, adopt or create the group.
// 2. After a time out of scope, or without removals: compare all members anew (left-members.ts).
// 3. Remove members (policy `sync`): before the name, so that a refused rename keeps no member in the group.
// 4. Rename the group.
// 5. Under other policies: list the leaving members in the link, and drop their removals.
// 6. Add the members who are ready. If few are, wait shortly for more.
// 7. Report what the platform refused or ignored: last, so that all other members are written.
// Under `create-only` a complete group has steps 1, 2 and 5 only: additions are dropped too, and only a temporary name is replaced.
// Flags of the link: directory/outbox/link.ts.
import { nameInRecord } from '../../directory/records.ts';
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { unlinkAbsent } from '../calls/absence.ts';
import { isRecordLost, recordDamaged, recordLost } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { dissolve } from './dissolve-group.ts';
import { createPlatformGroup, findGroup } from './find-group.ts';
import { ended } from '../gate.ts';
import { isNameConfirmed, renameGroup } from './group-name.ts';
import { compareMembersAnew, listPendingLeavers, noteOutOfScope } from './left-members.ts';
import { addMembers } from './add-members.ts';
import { dropPendingMembers, throwIfUnwritten } from './members.ts';
import { throwIfRefused } from './refused-members.ts';
import { removeMembers } from './remove-members.ts';
import type { SyncOutcome } from '../outcome.ts';
import { nameBehind } from '../names/name-circle.ts';
import { temporaryNameLeft } from '../names/temporary-name.ts';

/** Syncs a group. If it is gone at the platform, it is looked up or created anew, once. @throws PlatformError */
export async function syncGroup(context: SyncContext): Promise<SyncOutcome> {
  const { work, target } = context;
  if (isRecordLost(work)) return recordLost(context);
  if (!work.record) return dissolve(context);
  const displayName = nameInRecord(work.record);
  if (displayName === undefined) return recordDamaged(context);
  const name = target.mapping.groupName(displayName);
  if (name === undefined) return leaveGroupOut(context);
  try {
    return await syncInScope(context, name);
  } catch (error) {
    await unlinkAbsent(context, error);
    return syncInScope(context, name);
  }
}

/** Ends the sync of a group that the settings leave out: drops pending memberships; the group at the platform is not changed. */
async function leaveGroupOut(context: SyncContext): Promise<SyncOutcome> {
  const { link, outbox, work } = context;
  const pending = await outbox.pendingMembers(work.id);
  if (link.id !== undefined) await noteOutOfScope(context, pending);
  await dropPendingMembers(context, pending);
  delete link.adopting;
  const unfinished = await temporaryNameLeft(context, 'the settings leave the group out');
  return unfinished ?? { kind: 'synced' };
}

/** Syncs a group in scope, in the steps of the header. */
async function syncInScope(context: SyncContext, name: string): Promise<SyncOutcome> {
  const { link, target } = context;
  const { policy } = target.policy;
  // The group is wanted, so an earlier deletion no longer explains its absence.
  delete link.deleting;
  if (link.id === undefined) {
    let found = await findGroup(context, name);
    if (found.kind === 'absent') found = await createPlatformGroup(context, name);
    if (found.kind === 'later' || found.kind === 'blocked') return found;
  }
  // The group was out of scope, or the policy forbade the removals that the link lists.
  const hasLeaversToRemove = link.leavers !== undefined && policy === 'sync';
  if (link.departed || hasLeaversToRemove) await compareMembersAnew(context);
  if (policy === 'create-only' && !link.isIncomplete) return endCompleteGroup(context, name);
  const pending = await context.outbox.pendingMembers(context.work.id);
  const removed =
    policy === 'sync' ? await removeMembers(context, pending) : { isWaiting: false, ignored: [] };
  if (!isNameConfirmed(link, name)) {
    const waiting = await renameGroup(context, name);
    // A refused removal is thrown, except in a group with a temporary name: its next sync has to replace the name.
    if (waiting && nameBehind(context) === undefined) await throwIfRefused(context);
    if (waiting) return waiting;
  }
  // Other policies remove no member, so the link notes the members who should leave.
  if (policy !== 'sync') {
    await listPendingLeavers(context, pending);
    await dropPendingMembers(context, pending, { only: MEMBERSHIP_SIGN.toRemove });
  }
  const added = await addMembers(context, pending);
  const { coalesceMs, underWay } = added; // `addMembers` waits for accounts of more members, to add them in one call
  // A removal that the platform ignored is reported now, and not after this wait.
  if (coalesceMs > 0 && removed.ignored.length === 0)
    return { kind: 'waiting', for: 'members', afterMs: coalesceMs };
  await throwIfUnwritten(context, [...removed.ignored, ...added.ignored]);
  // A created or adopted group is complete when no member is under way.
  if (underWay === 0) {
    delete link.isIncomplete;
    delete link.adopting;
  }
  if (removed.isWaiting) return { kind: 'waiting', for: 'members' };
  return ended(context);
}

/** Ends the sync of a completed group under `create-only`, which writes nothing to it, except that it replaces a temporary name. */
async function endCompleteGroup(context: SyncContext, name: string): Promise<SyncOutcome> {
  const { outbox, work } = context;
  const pending = await outbox.pendingMembers(work.id);
  await listPendingLeavers(context, pending);
  await dropPendingMembers(context, pending, { ending: 'left' });
  const hasTemporaryName = nameBehind(context) !== undefined;
  const waiting = hasTemporaryName ? await renameGroup(context, name) : undefined;
  return waiting ?? { kind: 'synced' };
}
