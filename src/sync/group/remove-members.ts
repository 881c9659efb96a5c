// Removes members of a group whom the source no longer has (`removeMembers`). Flow: reads the users with a pending removal, and
// sorts them by what is known of their accounts (`toLeavers`). Asks the guard for those whose account is open (`permitted`), and
// writes the allowed removals (`removePermitted`). Every other removal ends, waits, or is kept:
// - A removal is kept (sign `r`) if it or the deactivation of the user was rejected, or if the user is protected.
// - It ends if the user has no account. If an account may exist but is not found yet, it waits for the user's sync. After a sync
//   that found none, it becomes unconfirmed (sign `u`).
// - It waits for the account if that is to be closed, so that held and rejected deactivations do not empty the groups.
// `ackMembers` clears a pending membership, or gives it another sign (directory/outbox/work.ts).
import type { MemberDecision } from '../../directory/guard/guard-store.ts';
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { readInPortions } from '../../directory/redis/portions.ts';
import type { SyncContext } from '../context.ts';
import { permit, refuse } from '../gate.ts';
import { removal } from '../names/succession.ts';
import { LISTED_AS_PROTECTED } from '../target.ts';
import { toLeavers, type Leaver } from './leavers.ts';
import { writeMembers, type Ignored, type LinkedMember } from './member-writes.ts';
import { leaving, PORTION, warnOfRoles, type PendingMembers } from './members.ts';

/** The result of the removals of a group. */
interface Removed {
  /** Removals wait until the sync of a user has asked the guard about the account, or looked for it. */
  isWaiting: boolean;
  /** Sentences about members that the platform did not remove. */
  ignored: Ignored;
  /** Number of protected members who stay although the source removed them. */
  protectedCount: number;
  /** Number of users who may still be members: an account that they may have was not found, so their removal is unconfirmed. */
  soughtCount: number;
}

/** Removes members that the source no longer has, if the guard allows it. */
export async function removeMembers(context: SyncContext, pending: PendingMembers): Promise<Removed> {
  const rejected = await reportRejected(context, pending);
  const users = leaving(pending).filter((user) => !rejected.has(user));
  if (users.length === 0) return { isWaiting: false, ignored: [], protectedCount: 0, soughtCount: 0 };
  await endAdoption(context);
  const { leavers, protectedUsers, sought, unknown } = sortLeavers(await toLeavers(context, users));
  // A user without account is no member at the platform, so the removal has nothing to write.
  await context.outbox.ackMembers(context.work, MEMBERSHIP_SIGN.toRemove, unknown);
  await keepProtected(context, pending, protectedUsers);
  const soughtCount = await leaveSought(context, sought);
  const { members, isWaiting } = await permitted(context, leavers);
  const ignored = await removePermitted(context, members);
  return {
    isWaiting: isWaiting || soughtCount < sought.length,
    ignored,
    protectedCount: protectedUsers.length,
    soughtCount,
  };
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
 * Ends the adoption of the group before its first removal. With `adopting`, a member whom the group lists is not added (`lacking`
 * in add-members.ts). After a removal the list may still show the removed member, who may have to be added again.
 */
async function endAdoption(context: SyncContext): Promise<void> {
  if (!context.link.adopting) return;
  delete context.link.adopting;
  await context.save();
}

/** Sorts users by what `toLeavers` knows of their accounts. `unknown`: the user has none. */
function sortLeavers(found: Awaited<ReturnType<typeof toLeavers>>) {
  const leavers: Leaver[] = [];
  const protectedUsers: string[] = [];
  const sought: string[] = [];
  const unknown: string[] = [];
  for (const [user, leaver] of found) {
    if (leaver === 'protected') protectedUsers.push(user);
    else if (leaver === 'sought') sought.push(user);
    else if (leaver) leavers.push(leaver);
    else unknown.push(user);
  }
  return { leavers, protectedUsers, sought, unknown };
}

/**
 * Gives new removals of protected users the sign `r` (`kept`). The first sync of the user after the protection makes them pending
 * again.
 */
async function keepProtected(context: SyncContext, pending: PendingMembers, users: string[]): Promise<void> {
  const fresh = users.filter((user) => pending.get(user) === MEMBERSHIP_SIGN.toRemove);
  if (fresh.length === 0) return;
  context.provisioning.leftMembers(fresh, {
    reason: 'Protected',
    message: `${LISTED_AS_PROTECTED}: the membership stays although the source removed it`,
  });
  await context.outbox.ackMembers(context.work, MEMBERSHIP_SIGN.toRemove, fresh, 'kept');
}

/**
 * Handles users whose account is still to be found. If the sync of a user has found no account that it may link, the removal
 * becomes unconfirmed; the sync that links an account makes it pending again (save_link.lua). All other removals wait.
 * @returns number of users whose removal became unconfirmed
 */
async function leaveSought({ outbox, work }: SyncContext, users: string[]): Promise<number> {
  return outbox.ackMembers(work, MEMBERSHIP_SIGN.toRemove, users, 'sought');
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
  const closed = leavers.filter(({ isOpen }) => !isOpen);
  const decisions = await decisionsOf(context, open);
  const openWith = (decision: MemberDecision) => open.filter((_, index) => decisions[index] === decision);
  gate.followers += openWith('follows').length;

  const judgedAlone = openWith('alone');
  const permissions = await permit(
    context,
    judgedAlone.map(({ user }) => ({ kind: 'removeMembers', subject: user })),
  );
  const keptWithAccount = openWith('rejected');
  gate.keptLeavers += keptWithAccount.length;

  const rejectedAlone = judgedAlone.filter((_, index) => permissions[index] === 'rejected');
  const rejected = [...rejectedAlone, ...keptWithAccount].map(({ user }) => user);
  await outbox.ackMembers(work, MEMBERSHIP_SIGN.toRemove, rejected, 'kept');
  const allowed = judgedAlone.filter((_, index) => permissions[index] === 'allowed');
  return { members: [...closed, ...allowed], isWaiting: decisions.includes('waits') };
}

/**
 * Returns what the guard decides about members with an open account. `waits`: the removal waits until the guard was asked for the
 * deactivation of the account. `follows`: it is held together with the deactivation. `rejected`: the deactivation was rejected, so
 * the membership stays too. `alone`: the guard judges the removal alone.
 */
async function decisionsOf({ outbox }: SyncContext, open: Leaver[]): Promise<MemberDecision[]> {
  const found = await outbox.guardStore.decisionsOfMembers(open.map(({ user }) => user));
  // The platform did not apply the last change of the account, so a deactivation may take long: the memberships do not wait for it.
  return found.map((each, index) => (each === 'waits' && open[index]?.isIgnored ? 'alone' : each));
}

/** Removes members whose removal the guard has allowed. @returns sentences about members that the platform did not remove */
export async function removePermitted(context: SyncContext, members: LinkedMember[]): Promise<Ignored> {
  const ignored = await readInPortions(members, PORTION, (portion) =>
    writeMembers(context, MEMBERSHIP_SIGN.toRemove, portion),
  );
  if (members.length > 0) warnOfRoles(context, String(context.link.core?.displayName));
  return ignored;
}
