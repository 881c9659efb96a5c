// Decides which pending members of a group are removed (`removeMembers`) and added (`addMembers`) now, and in which portions.
// `ackMembers` clears a pending membership, or gives it another sign (directory/outbox/work.ts). Failures about single members are
// thrown after all writes (`throwIfUnwritten`), or at once after many in a row. Flags of the link: directory/outbox/link.ts.
import { platformIdOf } from '../../directory/outbox/link.ts';
import {
  MEMBERSHIP_SIGN,
  withSign,
  type Readiness,
  type WrittenSign,
} from '../../directory/outbox/pending-memberships.ts';
import { fold } from '../../directory/records.ts';
import { inPortions, readInPortions } from '../../directory/redis/portions.ts';
import type { SyncContext } from '../context.ts';
import { permit, refuse } from '../gate.ts';
import { linksOfUsers, MEMBERS_PER_READ, toLeavers, type Leaver } from './leavers.ts';
import { throwIfRefused, writeMembers, type Ignored, type LinkedMember } from './member-writes.ts';
import { LISTED_AS_PROTECTED } from '../target.ts';
import { removal } from '../names/succession.ts';
import { WriteIgnored } from '../outcome.ts';

/** Most members in one PATCH, and in one entry of the log. */
const PORTION = 100;
/** Longest time for which few ready members wait for others that are not ready yet, so that one PATCH adds them together. */
const COALESCE_LIMIT_MS = 3000;

/**
 * User id, or `@<platform id>` of an unmanaged member → sign. `+`: to be added; `-`: to be removed; `r`: a kept removal, not
 * written because it or the user's deactivation was rejected, or the user is protected.
 */
export type PendingMembers = Map<string, string>;

/**
 * Removes members that the source no longer has, if the guard allows it. A removal is not written if
 * a person rejected it, if the user is protected or has no account, or if the account is still to be found. The removal of a user
 * whose account is to be closed is decided with the account, so that held and rejected deactivations do not empty the groups.
 * @returns `isWaiting`: removals wait until the sync of a user has asked the guard about the account, or looked for it; `ignored`:
 *   sentences about members that the platform did not remove; `protectedCount`: number of protected members who stay although the
 *   source removed them; `soughtCount`: number of users who may stay, because the account that they may have was not found
 */
export async function removeMembers(
  context: SyncContext,
  pending: PendingMembers,
): Promise<{ isWaiting: boolean; ignored: Ignored; protectedCount: number; soughtCount: number }> {
  const stay = await reportRejected(context, pending);
  const users = leaving(pending).filter((user) => !stay.has(user));
  const ignored: Ignored = [];
  if (users.length === 0) return { isWaiting: false, ignored, protectedCount: 0, soughtCount: 0 };
  if (context.link.adopting) {
    // With `adopting`, a member whom the group lists is not added (`lacking`). After a removal the list may still show the removed
    // member, who may have to be added again, so `adopting` ends before the first removal.
    delete context.link.adopting;
    await context.save();
  }
  const leavers: Leaver[] = [];
  const unknown: string[] = [];
  const sought: string[] = [];
  const protectedUsers: string[] = [];
  for (const [user, leaver] of await toLeavers(context, users)) {
    if (leaver === 'protected') protectedUsers.push(user);
    else if (leaver === 'sought') sought.push(user);
    else if (leaver) leavers.push(leaver);
    else unknown.push(user);
  }
  // A user without account is no member at the platform, so the removal has nothing to write.
  if (unknown.length > 0) await context.outbox.ackMembers(context.work, MEMBERSHIP_SIGN.toRemove, unknown);
  // `kept`: the removals get the sign `r`. The first sync of the user after the protection makes them pending again.
  const fresh = protectedUsers.filter((user) => pending.get(user) === MEMBERSHIP_SIGN.toRemove);
  if (fresh.length > 0) {
    context.provisioning.leftMembers(fresh, {
      reason: 'Protected',
      message: `${LISTED_AS_PROTECTED}: the membership stays although the source removed it`,
    });
    await context.outbox.ackMembers(context.work, MEMBERSHIP_SIGN.toRemove, fresh, 'kept');
  }
  const soughtCount = await leaveSought(context, sought);
  const { members, isWaiting } = await permitted(context, leavers);
  ignored.push(...(await removePermitted(context, members)));
  return {
    isWaiting: isWaiting || soughtCount < sought.length,
    ignored,
    protectedCount: protectedUsers.length,
    soughtCount,
  };
}

/**
 * Handles users whose account is still to be found. If the sync of a user has found no account that it may link, the removal
 * becomes unconfirmed; the sync that links an account makes it pending again (save_link.lua). All other removals wait.
 * @returns number of users whose removal became unconfirmed
 */
async function leaveSought({ outbox, work }: SyncContext, users: string[]): Promise<number> {
  let count = 0;
  for (const portion of inPortions(users, MEMBERS_PER_READ))
    count += await outbox.ackMembers(work, MEMBERSHIP_SIGN.toRemove, portion, 'sought');
  return count;
}

/** Removes members whose removal the guard has allowed. @returns sentences about members that the platform did not remove */
export async function removePermitted(context: SyncContext, members: LinkedMember[]): Promise<Ignored> {
  const ignored = await readInPortions(members, PORTION, (portion) =>
    writeMembers(context, MEMBERSHIP_SIGN.toRemove, portion),
  );
  if (members.length > 0) warnOfRoles(context, String(context.link.core?.displayName));
  return ignored;
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
 * Notes rejected removals for the condition of the group, so that the group stays an exception. A rejection ends only when
 * an operator withdraws it, the source adds the member again, or the member gets a new account, which is in no group.
 * @returns the users whose removal is rejected
 */
async function reportRejected(context: SyncContext, pending: PendingMembers): Promise<Set<string>> {
  const stay = await rejectedAmong(context, leaving(pending));
  for (const subject of stay) refuse(context, { kind: 'removeMembers', subject }, 'rejected');
  // Removals that were rejected since the last sync get the sign `r` (`kept`), so that nothing waits for them.
  const fresh = stay.filter((user) => pending.get(user) === MEMBERSHIP_SIGN.toRemove);
  if (fresh.length > 0)
    await context.outbox.ackMembers(context.work, MEMBERSHIP_SIGN.toRemove, fresh, 'kept');
  return new Set(stay);
}

/** Returns those of the users whose removal from the group an operator rejected. */
export async function rejectedAmong(context: SyncContext, users: string[]): Promise<string[]> {
  const { outbox, work } = context;
  const rejected = await outbox.guardStore.areRejected(users.map((user) => removal(work.id, user)));
  return users.filter((_, index) => rejected[index]);
}

/**
 * Asks the guard for the removals that take access away. The removal of a member whose account is closed takes none away, so it
 * needs no permission.
 * @returns the members to be removed now; `isWaiting`: others wait until the guard was asked for a deactivation
 */
async function permitted(
  context: SyncContext,
  leavers: Leaver[],
): Promise<{ members: LinkedMember[]; isWaiting: boolean }> {
  const { gate, outbox, work } = context;
  const open = leavers.filter(({ isOpen }) => isOpen);
  // `waits`: until the guard was asked for the deactivation of the account. `follows`: held together with the deactivation.
  // `rejected`: the deactivation was rejected, so the membership is kept too. `alone`: the removal is judged alone.
  const found = await outbox.guardStore.decisionsOfMembers(open.map(({ user }) => user));
  // The platform did not apply the last change of the account, so a deactivation may take long: the memberships do not wait for it.
  const decisions = found.map((each, index) => (each === 'waits' && open[index]?.isIgnored ? 'alone' : each));
  const judgedAlone = open.filter((_, index) => decisions[index] === 'alone');
  gate.followers += decisions.filter((decision) => decision === 'follows').length;
  const permissions = await permit(
    context,
    judgedAlone.map(({ user }) => ({ kind: 'removeMembers', subject: user })),
  );
  const keptWithAccount = open.filter((_, index) => decisions[index] === 'rejected');
  gate.keptLeavers += keptWithAccount.length;
  const rejected = [
    ...judgedAlone.filter((_, index) => permissions[index] === 'rejected'),
    ...keptWithAccount,
  ].map(({ user }) => user);
  if (rejected.length > 0) await outbox.ackMembers(work, MEMBERSHIP_SIGN.toRemove, rejected, 'kept');
  const allowed = judgedAlone.filter((_, index) => permissions[index] === 'allowed');
  return {
    members: [...leavers.filter(({ isOpen }) => !isOpen), ...allowed],
    isWaiting: decisions.includes('waits'),
  };
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

/**
 * Adds members whose attributes are applied; other members mark this group when they are ready.
 * @returns `coalesceMs`: time to wait until a portion is full, 0 when the ready members were added; `underWay`:
 *   number of members that are not ready and whose sync is to come; `ignored`: sentences about members that the platform did not
 *   add
 */
export async function addMembers(
  context: SyncContext,
  pending: PendingMembers,
): Promise<{ coalesceMs: number; underWay: number; ignored: Ignored }> {
  const { link, clock, outbox } = context;
  const states = await readInPortions(
    withSign(pending, MEMBERSHIP_SIGN.toAdd),
    MEMBERS_PER_READ,
    outbox.readiness,
  );
  const ready = states.filter((state) => state.ready);
  const underWay = states.filter((state) => !state.ready && state.underWay).length;
  // After a refusal the sync ends blocked, so the ready members do not wait.
  const isBlocked = context.refusedMembers !== undefined;
  if (!isBlocked && ready.length > 0 && ready.length < PORTION && underWay > 0) {
    link.coalescingSince ??= clock.now();
    const left = link.coalescingSince + COALESCE_LIMIT_MS - clock.now();
    if (left > 0) return { coalesceMs: left, underWay, ignored: [] };
  }
  delete link.coalescingSince;
  const ignored: Ignored = [];
  for (const portion of inPortions(await lacking(context, ready), PORTION)) {
    const members = portion.map(({ user, link: account, isListed }) => ({
      user,
      platformId: platformIdOf(account), // a ready member has an account
      isListed,
    }));
    ignored.push(...(await writeMembers(context, MEMBERSHIP_SIGN.toAdd, members)));
  }
  return { coalesceMs: 0, underWay, ignored };
}

/**
 * Returns the members to be added, with whether the group lists them already: the log must not tell of access that they had before.
 * Members whom a group under adoption (`adopting`) lists are left out, and their additions cleared. The member list is read only
 * for such a group, and if a member comes back (`rejoining`); if the read fails, all members are returned.
 */
async function lacking(
  context: SyncContext,
  ready: Readiness[],
): Promise<(Readiness & Pick<LinkedMember, 'isListed'>)[]> {
  const { link, target, call, outbox, work, logger } = context;
  const isRead = ready.some((state) => link.adopting ?? state.link.rejoining);
  if (!isRead) return ready;
  let present: Set<string>;
  try {
    const { members = [] } = await target.client.groups.get(platformIdOf(link), { members: true }, call);
    present = new Set(members.map(({ value }) => value));
  } catch (error) {
    logger.warn(
      { ref: work.ref, err: error },
      'members of the group cannot be read: the log may name members as added who were there before',
    );
    return ready;
  }
  const isThere = (state: Readiness): boolean => present.has(state.link.id ?? '');
  // After a removal the list may still show a member who has to be added again, so the addition is written all the same.
  if (!link.adopting) return ready.map((state) => ({ ...state, isListed: isThere(state) }));
  for (const portion of inPortions(ready.filter(isThere), MEMBERS_PER_READ)) {
    const users = portion.map(({ user }) => user);
    await outbox.ackMembers(work, MEMBERSHIP_SIGN.toAdd, users);
  }
  return ready.filter((state) => !isThere(state));
}

/**
 * Returns the keys of the pending and kept removals (signs `-` and `r`).
 * @param pending members of a group, or groups of a user, without unconfirmed removals (sign `u`)
 */
export const leaving = (pending: PendingMembers): string[] =>
  [...pending].filter(([, each]) => each !== MEMBERSHIP_SIGN.toAdd).map(([key]) => key);

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
