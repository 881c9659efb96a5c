// Syncs one group at one target. Only pending memberships of the outbox are written, so the cost depends on the changes and
// not on the size of the group. The member list is never replaced (contract 12.5). directory/outbox/link.ts defines the flags of a link.
import type { Resource } from '../../scim/index.ts';
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { unlinkAbsent } from '../calls/absence.ts';
import { isRecordLost, recordDamaged, recordLost } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { dissolve } from './dissolve-group.ts';
import { createPlatformGroup, findGroup } from './find-group.ts';
import { ended } from '../gate.ts';
import { isNameConfirmed, renameGroup } from './group-name.ts';
import { comeBack, leave, noteLeavers } from './left-members.ts';
import { throwRefusal } from './member-writes.ts';
import { addMembers, dropPendingMembers, removeMembers, throwIfUnwritten } from './members.ts';
import type { SyncOutcome } from '../outcome.ts';
import { nameBehind } from '../names/name-circle.ts';
import { temporaryNameLeft } from '../names/temporary-name.ts';

/** Syncs a group. If it is gone at the platform, it is looked up or created anew, once. @throws PlatformError */
export async function syncGroup(context: SyncContext): Promise<SyncOutcome> {
  const { work, link, target } = context;
  if (isRecordLost(work)) return recordLost(context);
  if (!work.record) return dissolve(context);
  if (work.record.damaged) return recordDamaged(context);
  const { displayName } = JSON.parse(work.record.text) as Resource & { displayName: string };
  const name = target.mapping.groupName(displayName);
  if (name === undefined) {
    // The settings leave this group out: pending memberships are dropped, and the group at the platform is not changed.
    const pending = await context.outbox.pendingMembers(work.id);
    if (link.id !== undefined) await leave(context, pending);
    await dropPendingMembers(context, pending);
    delete link.adopting;
    const left = await temporaryNameLeft(context, 'the settings leave the group out');
    return left ?? { kind: 'synced', writes: context.writes };
  }
  for (let restart = 0; ; restart++) {
    try {
      return await syncInScope(context, name);
    } catch (error) {
      if (restart > 0) throw error;
      await unlinkAbsent(context, error);
    }
  }
}

/** Syncs a group in scope: link, removals of members, name, additions of members. */
async function syncInScope(context: SyncContext, name: string): Promise<SyncOutcome> {
  const { link, target } = context;
  const { policy } = target;
  // The group is wanted, so a deletion that was sent before is no longer the reason of an absence.
  delete link.deleting;
  if (link.id === undefined) {
    let found = await findGroup(context, name);
    if (found.kind === 'absent') found = await createPlatformGroup(context, name);
    if (found.kind === 'later' || found.kind === 'blocked') return { ...found, writes: context.writes };
  }
  // The policy forbade removals before: the members whom the link lists become pending removals now.
  const hasLeaversToRemove = link.leavers !== undefined && policy.policy === 'sync';
  if (link.departed || hasLeaversToRemove) await comeBack(context);
  // `create-only` writes nothing more to a completed group.
  if (policy.policy === 'create-only' && !link.isIncomplete) {
    const pending = await context.outbox.pendingMembers(context.work.id);
    await noteLeavers(context, pending);
    await dropPendingMembers(context, pending, { ending: 'left' });
    // A temporary name (name-circle.ts) is replaced under this policy too.
    const waiting = nameBehind(context) === undefined ? undefined : await renameGroup(context, name);
    return waiting ?? { kind: 'synced', writes: context.writes };
  }
  // Removals come first, so that a refused rename does not keep a member in the group.
  const pending = await context.outbox.pendingMembers(context.work.id);
  const removed =
    policy.policy === 'sync' ? await removeMembers(context, pending) : { isWaiting: false, ignored: [] };
  if (!isNameConfirmed(link, name)) {
    const waiting = await renameGroup(context, name);
    // A temporary name is replaced by the next sync, which a refused removal must not prevent.
    if (waiting && nameBehind(context) === undefined) await throwRefusal(context);
    if (waiting) return waiting;
  }
  // Other policies remove no member, so the link notes the members who should leave.
  if (policy.policy !== 'sync') {
    await noteLeavers(context, pending);
    await dropPendingMembers(context, pending, { only: MEMBERSHIP_SIGN.toRemove });
  }
  const added = await addMembers(context, pending);
  const { coalesceMs, underWay } = added; // `addMembers` waits for accounts of more members, to add them in one call
  // An ignored removal is no wait: it is reported now, and tried again with growing delay.
  if (coalesceMs > 0 && removed.ignored.length === 0)
    return { kind: 'waiting', writes: context.writes, for: 'members', afterMs: coalesceMs };
  await throwIfUnwritten(context, [...removed.ignored, ...added.ignored]);
  // A created or adopted group is complete when no member is under way.
  if (underWay === 0) {
    delete link.isIncomplete;
    delete link.adopting;
  }
  if (removed.isWaiting) return { kind: 'waiting', writes: context.writes, for: 'members' };
  return ended(context);
}
