// Syncs one group at one target. Only pending memberships of the outbox are written, so the cost depends on the changes and
// not on the size of the group. The member list is never replaced (contract 12.5).
import type { Resource } from '../../scim/index.ts';
import { isAbsent } from '../calls/absence.ts';
import { condition, isRecordLost, recordDamaged, recordLost } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { dissolve } from './dissolve-group.ts';
import { isGone } from '../calls/failures.ts';
import { createPlatformGroup, findGroup } from './find-group.ts';
import type { Exists } from '../user/find-user.ts';
import { ended, resetGate } from '../gate.ts';
import { isNameConfirmed, renameGroup } from './group-name.ts';
import { comeBack, leave, noteLeavers } from './left-members.ts';
import { addMembers, dropPendingMembers, removeMembers, throwIfIgnored } from './members.ts';
import type { SyncOutcome } from '../outcome.ts';
import { nameBehind } from '../names/taken-name.ts';
import { temporaryNameLeft } from '../names/temporary-name.ts';

/** Returns the outcome. A group that is gone at the platform is looked up or created anew, once. @throws PlatformError */
export async function syncGroup(context: SyncContext, exists: Exists): Promise<SyncOutcome> {
  const { work, link, target } = context;
  if (isRecordLost(work)) return recordLost(context);
  if (!work.record) return dissolve(context, exists);
  if (work.record.damaged) return recordDamaged(context);
  const { displayName } = JSON.parse(work.record.text) as Resource & { displayName: string };
  const name = target.mapping.groupName(displayName);
  if (name === undefined) {
    // The settings leave this group out: pending memberships are dropped, and the group at the platform is not changed.
    if (link.id !== undefined) await leave(context);
    await dropPendingMembers(context);
    delete link.adopting;
    const left = await temporaryNameLeft(context, 'the settings leave the group out');
    return left ?? { kind: 'synced', writes: context.writes };
  }
  for (let restart = 0; ; restart++) {
    try {
      return await syncInScope(context, name, exists);
    } catch (error) {
      if (!isGone(error) || link.id === undefined || restart > 0) throw error;
      if (!(await isAbsent(context, 'Group', link))) throw error;
      context.logger.warn({ ref: work.ref }, 'group is gone at the platform, looking for it anew');
      // Removals that wait for a decision or were rejected end with the group.
      resetGate(context);
      delete link.id;
      delete link.core;
      delete link.origin;
      delete link.adopting;
      delete link.departed;
      delete link.leavers;
      delete link.unsure;
    }
  }
}

/** Syncs a group in scope: link, removals of members, name, additions of members. */
async function syncInScope(context: SyncContext, name: string, exists: Exists): Promise<SyncOutcome> {
  const { link, target } = context;
  const { policy } = target;
  // The group is wanted, so a deletion that was sent before is no longer the reason of an absence.
  delete link.deleting;
  if (link.id === undefined) {
    let found = await findGroup(context, name, exists);
    if (found.kind === 'absent') found = await createPlatformGroup(context, name, exists);
    if (found.kind === 'later' || found.kind === 'blocked') return { ...found, writes: context.writes };
    if (found.kind === 'conflict') {
      return {
        kind: 'blocked',
        writes: context.writes,
        condition: condition(context, found.isNotAdopted ? 'NotAdopted' : 'Conflict', found.message),
      };
    }
  }
  const hasLeaversToRemove = link.leavers !== undefined && policy.policy === 'sync';
  if (link.departed || hasLeaversToRemove) await comeBack(context);
  // `create-only` writes nothing more to a completed group.
  if (policy.policy === 'create-only' && !link.making) {
    await noteLeavers(context);
    await dropPendingMembers(context);
    const waiting = nameBehind(context) === undefined ? undefined : await renameGroup(context, name);
    return waiting ?? { kind: 'synced', writes: context.writes };
  }
  // Removals come first, so that a refused rename does not keep a member in the group.
  const pending = await context.outbox.pendingMembers(context.work.id);
  const removed =
    policy.policy === 'sync' ? await removeMembers(context, pending) : { isWaiting: false, ignored: [] };
  if (!isNameConfirmed(link, name)) {
    const waiting = await renameGroup(context, name);
    if (waiting) return waiting;
  }
  // Other policies remove no member, so the link notes the members who should leave.
  if (policy.policy !== 'sync') {
    await noteLeavers(context);
    await dropPendingMembers(context, '-');
  }
  const added = await addMembers(context, pending);
  const { coalesceMs, underWay } = added;
  if (coalesceMs > 0) return { kind: 'waiting', writes: context.writes, for: 'members', afterMs: coalesceMs };
  throwIfIgnored([...removed.ignored, ...added.ignored]);
  // A created or adopted group is complete when no member is under way.
  if (underWay === 0) {
    delete link.making;
    delete link.adopting;
  }
  if (removed.isWaiting) return { kind: 'waiting', writes: context.writes, for: 'members' };
  return ended(context);
}
