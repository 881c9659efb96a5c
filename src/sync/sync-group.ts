// Syncs one group at one target. Members are added and removed as the outbox notes them, so the cost depends on the changes
// and not on the size of the group. The member list is never replaced (contract 12.5).
import { fold, parseRef, type Ref } from '../directory/records.ts';
import type { PlatformPatchOperation, WireGroup } from '../platform/wire.ts';
import type { Resource } from '../scim/index.ts';
import { isAbsent } from './absence.ts';
import { condition, isRecordLost, recordDamaged, recordLost } from './condition.ts';
import type { SyncContext } from './context.ts';
import { deleteThere, noteDeleted } from './deletion.ts';
import { isGone, isStatus, mayHaveCommitted } from './failures.ts';
import type { Exists } from './find-user.ts';
import { ended, permit, refuse } from './gate.ts';
import {
  addMembers,
  leaving,
  marked,
  rejectedAmong,
  removeMembers,
  removePermitted,
  throwIfIgnored,
  toLeavers,
  warnOfRoles,
  type PendingMembers,
} from './members.ts';
import { comeBack, leave, noteLeavers, takeUpLeavers } from './left-members.ts';
import type { LinkedMember } from './member-writes.ts';
import type { SyncOutcome } from './outcome.ts';
import { claim, takenElsewhere, type NotOurs } from './taken-by-connection.ts';
import { isHandedOn, isOutdated, successionWait } from './succession.ts';

export async function syncGroup(context: SyncContext, exists: Exists): Promise<SyncOutcome> {
  const { work, link, target } = context;
  if (isRecordLost(work)) return recordLost(context);
  if (!work.record) return dissolve(context, exists);
  if (work.record.damaged) return recordDamaged(context);
  const { displayName } = JSON.parse(work.record.text) as Resource & { displayName: string };
  const name = target.mapping.groupName(displayName);
  if (name === undefined) {
    // Out of scope: pending memberships are dropped, and the group at the platform is not changed.
    if (link.id !== undefined) await leave(context);
    await forgetMarks(context);
    return { kind: 'synced', writes: context.writes };
  }
  for (let restart = 0; ; restart++) {
    try {
      return await bring(context, name, exists);
    } catch (error) {
      if (!isGone(error) || link.id === undefined || restart > 0) throw error;
      if (!(await isAbsent(context, 'Group', link))) throw error;
      context.logger.warn({ ref: work.ref }, 'group is gone at the platform, looking for it anew');
      delete link.id;
      delete link.core;
      delete link.origin;
      delete link.departed;
      delete link.leavers;
      delete link.unsure;
    }
  }
}

async function bring(context: SyncContext, name: string, exists: Exists): Promise<SyncOutcome> {
  const { link, target } = context;
  const { client, policy } = target;
  delete link.deleting;
  if (link.id === undefined) {
    let found = await findGroup(context, name, exists);
    if (found.kind === 'absent') found = await createGroup(context, name, exists);
    if (found.kind === 'later' || found.kind === 'blocked') return { ...found, writes: context.writes };
    if (found.kind === 'conflict') {
      return {
        kind: 'blocked',
        writes: context.writes,
        condition: condition(context, found.isNotAdopted ? 'NotAdopted' : 'Conflict', found.message),
      };
    }
  }
  if (link.departed || (link.leavers && policy.policy === 'sync')) await comeBack(context);
  if (policy.policy === 'create-only' && !link.making) {
    await noteLeavers(context);
    await forgetMarks(context);
    return { kind: 'synced', writes: context.writes };
  }
  // Removals come first, so that a refused rename does not keep a member in the group.
  const pending = await context.outbox.pendingMembers(context.work.id);
  const removed =
    policy.policy === 'sync' ? await removeMembers(context, pending) : { isWaiting: false, ignored: [] };
  if (link.core?.displayName !== name || link.unsure !== undefined) {
    warnOfRoles(context, String(link.core?.displayName), name);
    const rename: PlatformPatchOperation[] = [{ op: 'replace', path: 'displayName', value: name }];
    try {
      await context.attempt(['displayName'], 'rename group', () =>
        client.groups.patch(link.id ?? '', rename, context.call),
      );
    } catch (error) {
      const taken = isStatus(error, 409) && (await nameTakenElsewhere(context, name));
      if (taken) return { ...taken, writes: context.writes };
      const afterMs =
        isStatus(error, 409) && (await nameMayComeFree(context, name)) ? successionWait(context) : undefined;
      if (afterMs === undefined) throw error;
      return { kind: 'later', writes: context.writes, afterMs };
    }
    link.core = { displayName: name };
    await context.save();
  }
  if (policy.policy !== 'sync') {
    await noteLeavers(context);
    await forgetMarks(context, '-');
  }
  const added = await addMembers(context, pending);
  const { coalesceMs, missing } = added;
  if (coalesceMs > 0) return { kind: 'waiting', writes: context.writes, for: 'members', afterMs: coalesceMs };
  throwIfIgnored([...removed.ignored, ...added.ignored]);
  if (missing === 0) delete link.making;
  if (removed.isWaiting) return { kind: 'waiting', writes: context.writes, for: 'members' };
  return ended(context);
}

type FoundGroup =
  { kind: 'linked' | 'absent' } | NotOurs | { kind: 'conflict'; message: string; isNotAdopted?: boolean };

/** Finds the platform's group by name and adopts it if allowed. */
async function findGroup(context: SyncContext, name: string, exists: Exists): Promise<FoundGroup> {
  const { link, links, outbox, target, work } = context;
  const matches = await groupsCalled(context, name);
  if (matches.length > 1) {
    return {
      kind: 'conflict',
      message: `${matches.length} groups are called ${name}: rename or delete all but one`,
    };
  }
  const [group] = matches;
  if (!group) return { kind: 'absent' };
  const taken = await takenElsewhere(context, 'Group', [group.id]);
  if (taken) return taken;
  const holder = await links.holderOf(target.name, 'Group', group.id);
  const former = holder !== undefined && holder !== work.ref ? holder : undefined;
  const afterMs = (await isPassing(context, group)) ? successionWait(context) : undefined;
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  if (former !== undefined && (await exists(former))) {
    return {
      kind: 'conflict',
      message: `the group ${name} is already linked to ${former}: rename one of the two`,
    };
  }
  const ours = holder !== undefined || link.creating === true;
  if (!ours && target.policy.adopt !== 'exact') {
    return {
      kind: 'conflict',
      isNotAdopted: true,
      message: `the group ${name} exists already and adopt is ${target.policy.adopt}`,
    };
  }
  const { origin, leavers } = former === undefined ? {} : await links.get(target.name, former);
  if (former !== undefined) {
    // While the platform group cannot be linked, the former group keeps it.
    const notOurs = await claim(context, 'Group', group.id);
    if (notOurs) return notOurs;
    await outbox.inheritRemovals(parseRef(former).id, work.id);
    // The platform group has members whom the source took out of the former group.
    if (leavers) link.leavers = leavers;
  }
  return linkTo(context, group, origin ?? (ours ? 'created' : 'adopted'), former);
}

const nameTakenElsewhere = async (context: SyncContext, name: string): Promise<NotOurs | undefined> =>
  takenElsewhere(
    context,
    'Group',
    (await groupsCalled(context, name)).map(({ id }) => id),
  );

async function nameMayComeFree(context: SyncContext, name: string): Promise<boolean> {
  const [holder] = await groupsCalled(context, name);
  // The name was released just now, or the list lags.
  if (holder === undefined || holder.id === context.link.id) return true;
  return isPassing(context, holder);
}

/** Returns whether the group with this name belongs to another resource that is being renamed. */
const isPassing = async (context: SyncContext, { id, displayName }: WireGroup): Promise<boolean> =>
  (await isHandedOn(context, 'Group', id)) || (await isOutdated(context, 'Group', { id, name: displayName }));

/** Finds groups by the current name, and by the name of an earlier create with a lost answer. */
async function groupsCalled(context: SyncContext, name: string): Promise<WireGroup[]> {
  const { link, links, target, work, call } = context;
  const called = async (wanted: string): Promise<WireGroup[]> => {
    const found = await target.client.groups.findByDisplayName(wanted, call);
    return found.filter((group) => fold(group.displayName) === fold(wanted));
  };
  const exact = await called(name);
  const tried = link.creating && link.core ? String(link.core.displayName) : name;
  if (exact.length > 0 || fold(tried) === fold(name)) return exact;
  const made = await called(tried);
  const holders = await Promise.all(made.map(({ id }) => links.holderOf(target.name, 'Group', id)));
  return made.filter((_, index) => [undefined, work.ref].includes(holders[index]));
}

async function createGroup(context: SyncContext, name: string, exists: Exists): Promise<FoundGroup> {
  const { link, target } = context;
  const triedBefore = link.creating === true;
  link.creating = true;
  link.core = { displayName: name };
  await context.save();
  let created: WireGroup;
  try {
    const body = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: name };
    created = await context.write('create group', () => target.client.groups.create(body, context.call));
  } catch (error) {
    link.creating = triedBefore || mayHaveCommitted(error);
    if (!isStatus(error, 409)) throw error;
    const found = await findGroup(context, name, exists);
    if (found.kind !== 'absent') return found;
    // Lists may lag behind writes (contract 12.9), so the lookup is repeated before an operator is asked.
    const afterMs = successionWait(context);
    if (afterMs !== undefined) return { kind: 'later', afterMs };
    const message =
      error.platformMessage || `the platform says that the group ${name} exists, but does not show it`;
    return { kind: 'conflict', message };
  }
  return linkTo(context, created, 'created');
}

async function linkTo(
  context: SyncContext,
  group: WireGroup,
  origin: 'created' | 'adopted',
  takenFrom?: Ref,
): Promise<FoundGroup> {
  const notOurs = await claim(context, 'Group', group.id);
  if (notOurs) return notOurs;
  // Members in portions first, because the link of the former group is deleted with the save of the id.
  await context.save({ rewriteMemberships: true });
  const { link } = context;
  link.id = group.id;
  link.origin = origin;
  if (origin === 'created') link.making = true;
  delete link.creating;
  link.core = { displayName: group.displayName };
  delete link.unsure;
  await context.save({ linked: true, takenFrom });
  return { kind: 'linked' };
}

/** Handles a group that was deleted at the source: a created group is deleted, an adopted one loses its managed members. */
async function dissolve(context: SyncContext, exists: Exists): Promise<SyncOutcome> {
  const { link, target } = context;
  // A create with a lost answer may have created the group.
  if (link.creating && link.core) await findGroup(context, String(link.core.displayName), exists);
  // A comparison found that the group is gone, which needs no decision of the guard.
  const wasSeenGone = link.observed?.displayName === null;
  const isGoneThere = wasSeenGone && (await isAbsent(context, 'Group', link));
  if (link.id !== undefined && target.policy.policy !== 'sync' && !isGoneThere) {
    link.departed = true;
    link.leavers ??= [];
    await noteLeavers(context);
    await forgetMarks(context);
    return { kind: 'synced', writes: context.writes };
  }
  if (link.id !== undefined && !isGoneThere) {
    // The guard counts the members whom the policy left too, and a group that was there before the bridge loses them.
    await takeUpLeavers(context);
    try {
      const unfinished = await takeAway(context, link.id);
      if (unfinished) return unfinished;
    } catch (error) {
      if (!isGone(error) || !(await isAbsent(context, 'Group', link))) throw error;
      noteDeleted(context, 'delete group');
    }
  }
  if (isGoneThere) noteDeleted(context, 'delete group');
  await forgetMarks(context);
  const rejected = marked(await context.outbox.pendingMembers(context.work.id), 'r');
  if (rejected.length > 0) await context.outbox.ackMembers(context.work, '-', rejected);
  return { kind: 'synced', writes: context.writes, forget: true };
}

/** Deletes the group or removes its managed members. @returns an outcome when the guard refused a part */
async function takeAway(context: SyncContext, id: string): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  const pending = await context.outbox.pendingMembers(context.work.id);
  if (link.origin === 'adopted') return takeMembers(context, pending);
  const [deletion] = await context.outbox.guardStore.areRejected([{ kind: 'delete', ref: context.work.ref }]);
  if (deletion) refuse(context, { kind: 'delete' }, 'rejected');
  // A rejected removal keeps the group with that member; all other members are removed as the guard allows.
  if (deletion || (await rejectedAmong(context, leaving(pending))).length > 0)
    return takeMembers(context, pending);
  // Deleting a group takes access from all its members, so the guard counts them too.
  const open = await openMembers(context, pending);
  const wishes = [{ kind: 'delete' as const }, ...open.map(({ user }) => toRemoval(user))];
  const [permission, ...permissions] = await permit(context, wishes, { whole: true });
  const allowed = open.filter((_, index) => permissions[index] === 'allowed');
  if (permission === 'allowed' && allowed.length === open.length) {
    await deleteThere(context, {
      operation: 'delete group',
      run: () => target.client.groups.delete(id, context.call),
      read: () => target.client.groups.get(id, { members: false }, context.call),
    });
    return undefined;
  }
  // The approval of the deletion is kept until it can be written.
  if (permission === 'allowed') context.gate.unasked.push('delete');
  throwIfIgnored(await removePermitted(context, allowed));
  return ended(context);
}

/** Removes the members one by one. @returns an outcome unless all are removed and the deletion is not rejected */
async function takeMembers(context: SyncContext, pending: PendingMembers): Promise<SyncOutcome | undefined> {
  const { isWaiting, ignored } = await removeMembers(context, pending);
  throwIfIgnored(ignored);
  if (isWaiting) return { kind: 'waiting', writes: context.writes, for: 'members' };
  const outcome = ended(context);
  // A rejected removal keeps the link, without which the decision could not be taken back.
  return 'condition' in outcome && outcome.condition ? outcome : undefined;
}

const toRemoval = (subject: string) => ({ kind: 'removeMembers' as const, subject });

/** Returns the members with an account that may be active. */
async function openMembers(context: SyncContext, pending: PendingMembers): Promise<LinkedMember[]> {
  const leavers = await toLeavers(context, leaving(pending));
  return leavers.flatMap(([, leaver]) => (leaver?.isOpen ? [leaver] : []));
}

/** Removes pending memberships that will not be written, so that no user waits for them. */
async function forgetMarks(context: SyncContext, only?: '+' | '-'): Promise<void> {
  const pending = await context.outbox.pendingMembers(context.work.id);
  for (const sign of ['+', '-'] as const) {
    if (only !== undefined && sign !== only) continue;
    const users = marked(pending, sign);
    if (users.length > 0) await context.outbox.ackMembers(context.work, sign, users);
  }
}
