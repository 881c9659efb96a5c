// Keeps a list (`leavers` in the link) of members whom the source removed from a group while the group is out of scope or its
// policy forbids removals. They are removed when the settings allow it. The list has three states:
// - with entries: these users have left, and may still be members at the platform.
// - empty; or, for a group in scope, absent: no user has left.
// - for a group out of scope (`departed`), absent: more users have left than are listed (MOST_OUT_OF_SCOPE).
// Flags of the link: directory/outbox/link.ts.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import { type Link, platformIdOf } from '../../directory/outbox/link.ts';
import { isUnmanaged, unmanagedId, unmanagedName } from '../../directory/member-names.ts';
import { MEMBERS_PORTION } from '../../directory/outbox/work.ts';
import { parseRef } from '../../directory/records.ts';
import { inPortions, readInPortions } from '../../directory/redis/portions.ts';
import type { SyncContext } from '../context.ts';
import { linksOfUsers, MEMBERS_PER_READ } from './leavers.ts';
import type { PendingMembers } from './members.ts';

/**
 * Most leavers that the link of a group out of scope lists. With more, the list is dropped: when the group is in scope again, all
 * managed users who are no members at the source leave it.
 */
const MOST_OUT_OF_SCOPE = 1000;
/** Most leavers that the link of a group lists under a policy that forbids removals. Each sync of the group reads the link. */
const MOST_UNDER_POLICY = 10_000;

/**
 * Notes in the link that the group is out of scope, and lists its leavers. If removals are pending, the link is saved at once,
 * because the caller then drops them.
 * @param pending the pending members of the group
 */
export async function noteOutOfScope(context: SyncContext, pending: PendingMembers): Promise<void> {
  const { link } = context;
  // Undefined: the group was out of scope before, and its list was dropped.
  const before = link.departed ? link.leavers : (link.leavers ?? []);
  if (before === undefined) return;
  const removed = [...(await pendingLeavers(context, pending)).values()];
  const leavers = [...new Set([...before, ...removed])];
  if (leavers.length > MOST_OUT_OF_SCOPE) delete link.leavers;
  else link.leavers = leavers;
  // Set together with the list: the lease may save the link at any time, and without a list it would count as dropped.
  link.departed = true;
  if (removed.length > 0) await context.save();
}

/** Logs the members with a pending removal, and adds them to the list of leavers. The caller then drops the removals. */
export async function listPendingLeavers(context: SyncContext, pending: PendingMembers): Promise<void> {
  const removed = await pendingLeavers(context, pending);
  if (removed.size === 0) return;
  const { policy } = context.target.policy;
  context.provisioning.leftMembers([...removed.keys()], {
    reason: 'LeftByPolicy',
    message: `the membership stays although the source removed it: the policy is ${policy}`,
  });
  const leavers = [...new Set([...(context.link.leavers ?? []), ...removed.values()])];
  if (leavers.length > MOST_UNDER_POLICY) {
    context.logger.warn(
      { ref: context.work.ref, noted: MOST_UNDER_POLICY, left: leavers.length },
      'the policy leaves more members in this group than are noted: the others stay when the policy is sync again',
    );
  }
  context.link.leavers = leavers.slice(0, MOST_UNDER_POLICY);
  await context.save();
}

/**
 * Returns the managed users whose removal from the group is pending: user id → entry of the list. The entry of a user with an
 * account is `@<platform id>`, because a later record of the person may take the account over; without an account it is the id.
 */
async function pendingLeavers(context: SyncContext, pending: PendingMembers): Promise<Map<string, string>> {
  const users = withSign(pending, MEMBERSHIP_SIGN.toRemove).filter((user) => !isUnmanaged(user));
  const found = await readInPortions(users, MEMBERS_PER_READ, (portion) => linksOfUsers(context, portion));
  return new Map(
    users.map((user, index) => {
      const { id } = found[index] ?? {};
      return [user, id === undefined ? user : unmanagedName(id)];
    }),
  );
}

/** Returns a function that tells whether the link lists a member as removed at the source; undefined: the link has no list. */
export function leaverTestOf({
  leavers,
}: Link): ((user: string | undefined, platformId: string | null) => boolean) | undefined {
  if (!leavers) return undefined;
  const listed = new Set(leavers);
  // The list has neither an empty id nor `@` alone, so an unknown user or account is not found.
  return (user, platformId) => listed.has(user ?? '') || listed.has(unmanagedName(platformId ?? ''));
}

/**
 * Makes the removals of all listed leavers pending, for a group that was deleted at the source. For an adopted group, which stays
 * at the platform, also the unconfirmed removals (sign `u`). A group that the bridge made is deleted with its members.
 */
export async function makeLeaversPending(context: SyncContext): Promise<void> {
  const { link, links, outbox, target, work } = context;
  const { leavers = [] } = link;
  const unconfirmed = link.origin === 'adopted' ? await outbox.unconfirmedRemovals(work.id) : [];
  if (leavers.length + unconfirmed.length === 0) return;
  const userOf = async (leaver: string): Promise<string[]> => {
    if (!isUnmanaged(leaver)) return [leaver];
    const holder = await links.holderOf(target.name, 'User', unmanagedId(leaver));
    return holder === undefined ? [] : [parseRef(holder).id];
  };
  const users = await readInPortions(leavers, MEMBERS_PER_READ, (portion) =>
    Promise.all(portion.map(userOf)),
  );
  for (const surplus of inPortions([...users.flat(), ...unconfirmed], MEMBERS_PORTION))
    await context.save({ surplus });
  if (leavers.length === 0) return;
  // Emptied after the saves above: if the process is killed before, the stored link still lists the leavers, and the next sync
  // makes them pending again. Emptied before any removal is written: a leaver who is still listed would become pending again
  // afterwards, and the guard would hold the removal a second time.
  link.leavers = [];
  await context.save();
}

/**
 * Compares all members of a group that comes back into scope or has leavers, because its member changes were not written meanwhile.
 * Each desired member becomes a pending addition; each managed member whom the source lacks becomes a pending removal. With
 * `groups.members: owned` only listed leavers are removed, so that members of others stay; without a list, all are removed. Reads
 * the member list of the platform.
 */
export async function compareMembersAnew(context: SyncContext): Promise<void> {
  const { link, links, outbox, target, work } = context;
  const group = await target.client.groups.get(platformIdOf(link), { members: true }, context.call);
  const memberOf = async (platformId: string) => {
    const holder = await links.holderOf(target.name, 'User', platformId);
    return holder === undefined ? [] : [{ user: parseRef(holder).id, platformId }];
  };
  const members = await readInPortions(group.members ?? [], MEMBERS_PER_READ, (portion) =>
    Promise.all(portion.map(({ value }) => memberOf(value))),
  );
  const present = members.flat();
  // Undefined: there is no list, so every managed member may be removed.
  const isListed = target.policy.groups.members === 'owned' ? leaverTestOf(link) : undefined;
  const removable = present.filter(({ user, platformId }) => isListed?.(user, platformId) ?? true);
  // First all members at the source become pending additions. Then `save` makes a pending removal of each user in `surplus` whom
  // the source does not have.
  await context.save({ rewriteMemberships: true });
  for (const portion of inPortions(removable, MEMBERS_PORTION))
    await context.save({ surplus: portion.map(({ user }) => user) });
  // Deleted after the saves above: if the process is killed before the next save, the stored link still has `departed` and
  // `leavers`, and the next sync compares the members again.
  delete link.departed;
  delete link.leavers;
  // Members whom the platform has already need no write, so their additions end.
  const users = present.map(({ user }) => user);
  await outbox.ackMembers(work, MEMBERSHIP_SIGN.toAdd, users);
}
