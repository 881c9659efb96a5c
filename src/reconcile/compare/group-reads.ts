// Reads a limited number of groups of one user at the platform, to see whether the user is a member.
import type { Link } from '../../directory/outbox/link.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import type { ScanResult } from '../scope.ts';
import { asking } from './platform-reads.ts';
import type { GroupOfAccount } from './verified.ts';

/**
 * Largest number of groups that one comparison of a user reads, for each of three reasons: the account does not list the group, the
 * account shows another name of it, or a removal of the user is pending. Further groups are not compared.
 */
export const MOST_READ = 20;
/** Number of groups that are read at the same time. */
export const READ_AT_ONCE = 2;

/** A user with an account, as the platform showed it. */
export interface ComparedUser {
  ref: Ref;
  link: Link;
  /** Groups that the account names; a platform may name none, although the user is a member. */
  memberOf: readonly GroupOfAccount[];
  /** Groups with a pending change of the membership and its sign (`ResourceStatus.pendingMemberships`), read before the account. */
  pending: ReadonlyMap<string, string>;
  /** Groups from which the removal of the user was written and is not confirmed. */
  unconfirmed: ReadonlySet<string>;
}

/** The pending changes of a user's memberships, by what the platform shows of them. */
interface SortedPending {
  /** Groups that are already as the change wants. */
  pendingDone: Ref[];
  /** Groups whose removal of the user could not be looked up: beyond MOST_READ, or the read failed. */
  pendingUnread: Ref[];
}

/**
 * Sorts the user's pending memberships. A group that the account lists has the user. A platform may leave groups out of its
 * accounts, so only a read of the group proves that the user has left.
 * @param named names of the groups that the account lists, by platform id
 */
export async function sortPending(
  scan: ScanResult,
  user: ComparedUser,
  named: ReadonlyMap<string, string>,
): Promise<SortedPending> {
  const { links, target } = scan.scope;
  const refs = [...user.pending.keys()].map((group) => refOf('Group', group));
  const known = await links.getMany(target.name, refs);
  const linked = refs.flatMap((ref, index) => {
    const id = known[index]?.id;
    return id === undefined ? [] : [{ ref, id, isAdded: user.pending.get(parseRef(ref).id) === '+' }];
  });
  const joined = linked.filter(({ id, isAdded }) => isAdded && named.has(id));
  const maybeLeft = linked.filter(({ id, isAdded }) => !isAdded && !named.has(id));
  const read = await mapBounded(maybeLeft.slice(0, MOST_READ), READ_AT_ONCE, async ({ ref, id }) => ({
    ref,
    state: (await readMembership(scan, id, user)).state,
  }));
  const provenLeft = read.filter(({ state }) => state === 'notMember' || state === 'noGroup');
  const failed = read.filter(({ state }) => state === 'unknown');
  return {
    pendingDone: [...joined, ...provenLeft].map(({ ref }) => ref),
    pendingUnread: [...failed, ...maybeLeft.slice(MOST_READ)].map(({ ref }) => ref),
  };
}

/** Returns the number of groups that are not read. */
export const beyond = (groups: readonly unknown[]): number => Math.max(0, groups.length - MOST_READ);

/** Whether a user is a member of a group. `noGroup`: the platform has no such group. `unknown`: it could not be read. */
export type ReadMembership =
  | { state: 'member' | 'notMember'; name: string; changedAt: string | undefined }
  | { state: 'noGroup' | 'unknown'; name?: undefined; changedAt?: undefined };

/** Reads a group that the account does not name, because a platform may leave groups out of its accounts. */
export async function readMembership(
  scan: ScanResult,
  id: string,
  { link }: ComparedUser,
): Promise<ReadMembership> {
  const group = await asking(scan, (signal) => scan.scope.target.client.groups.get(id, {}, { signal }));
  if (group === 'unknown') return { state: 'unknown' };
  if (group === 'absent') return { state: 'noGroup' };
  // The read asks for the members, so absent `members` mean an empty group (WireGroup).
  const isMember = (group.members ?? []).some(({ value }) => value === link.id);
  const { displayName: name, meta } = group;
  return { state: isMember ? 'member' : 'notMember', name, changedAt: meta?.lastModified };
}
