// Compares one user or group with the platform, for explain and before a sync that an operator orders; writes nothing.
import type { Link } from '../../directory/outbox/link.ts';
import { refOf, type Ref } from '../../directory/records.ts';
import { readInPortions } from '../../directory/redis/portions.ts';
import type { ObservedAccount } from '../compare/compare.ts';
import { compareMemberships, type ComparedMemberships } from '../compare/compare-memberships.ts';
import { groupsUnderOtherName } from '../compare/group-names.ts';
import { withMissingCauses } from '../compare/missing-memberships.ts';
import { usersToVerify } from '../compare/desired-users.ts';
import type { DoneChanges } from '../compare/done-changes.ts';
import { NEWLY_LINKED, type PlanEntry } from '../entry.ts';
import { withFollowers } from './followers.ts';
import { renamesOfHolders } from '../compare/name-holders.ts';
import { withTakenName } from '../compare/taken-renames.ts';
import { createNarrowScan } from './narrow-scan.ts';
import { readLinkedUser, readValues } from '../compare/platform-reads.ts';
import { learnKeyOwner } from '../compare/protected.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { verifyGroups } from '../compare/verify-groups.ts';
import { verifyUsers } from '../compare/verify-users.ts';
import { groupsOfAccount, type GroupOfAccount, type VerifiedResource } from '../compare/verified.ts';

/** Number of users whose records are read at once. */
const PORTION = 1000;

/** The memberships of a user are absent if they were not compared. */
export interface ComparedOne extends Partial<
  Pick<ComparedMemberships, 'asNamed' | 'pendingUnread' | 'refusedNames'>
> {
  entries: PlanEntry[];
  /** Held or rejected changes that the platform has already. */
  done: DoneChanges | undefined;
  /**
   * Pending memberships that the platform has already: of a user the groups, of a group the members. If the account of a user is
   * gone, all pending removals of the user are among them, because the memberships ended with the account.
   */
  pendingDone?: readonly Ref[] | undefined;
  /**
   * Number of groups of a user, or of pending, held and rejected removals from a group, that were not compared, because they are
   * too many or could not be read.
   */
  notCompared?: number;
  /** The values of a user could not be read, so that only the rest was compared. */
  areValuesUnread?: boolean | undefined;
  /** The account of a user as it was read; undefined: there is none. */
  account?: ObservedAccount | undefined;
  /** The platform does not have the linked account of a user any more. */
  isGone?: boolean;
  /** Groups of the account of a protected user, whom no run compares; undefined: the user was compared. */
  groupsLeftAlone?: readonly GroupOfAccount[];
}

interface CompareOptions {
  signal: AbortSignal;
  /** Whether the members of a group are compared too; absent: they are. */
  members?: boolean;
  /**
   * Largest number of members of a group who are looked up to see which held and rejected removals the platform has already;
   * absent: all, because the report of an ordered sync is made from this comparison.
   */
  mostDone?: number;
  /**
   * Largest number of members of a group whose account is gone and who are compared too, to see whether the account can be made
   * anew. Further members are left out. Absent: all.
   */
  mostGone?: number;
  noteFailure?: ScanResult['noteFailure'];
}

/**
 * Compares one resource. The entries include those that its sync causes in other resources.
 * @returns the differences; null when the platform could not be read, or the resource changed at each read
 */
export async function compareOne(
  scope: ReconcileScope,
  ref: Ref,
  options: CompareOptions,
): Promise<ComparedOne | null> {
  const scan = createNarrowScan(scope, options.signal, options);
  await learnKeyOwner(scope, options.signal);
  return ref.startsWith('Group:') ? compareGroup(scan, ref, options) : compareUser(scan, ref);
}

/**
 * Compares one user, as `compareOne`: the account, with the renames of others that its new name waits for; the entries that follow
 * from these; and the memberships, unless the sync writes all of them anyway (`comparesMemberships`).
 */
async function compareUser(scan: ScanResult, ref: Ref): Promise<ComparedOne | null> {
  const { scope } = scan;
  // Read before the account, so that a write in between is not taken for drift.
  const { pendingMemberships, unconfirmedRemovals } = await scope.outbox.resourceStatus(ref);
  const verified = await verifyUsers(scan, [ref], { withValues: () => true });
  const [user] = verified;
  if (!user) return null;
  const own = await withTakenName(scan, user.entries);
  const renames = own && (await renamesOfHolders(scan, own));
  if (!renames) return null;
  const entries = await withFollowers(scan, [...own, ...renames], verified);
  const link = await scope.links.get(scope.target.name, ref);
  const { done, account, areValuesUnread } = user;
  // Nothing was compared, as for a protected user.
  if (user.version === undefined) return readUncompared(scan, entries, link, pendingMemberships);
  const isGone = link.id !== undefined && account === undefined;
  const common = {
    done,
    account,
    areValuesUnread,
    isGone,
    ...(isGone && { pendingDone: removalsIn(pendingMemberships) }),
  };
  if (!comparesMemberships(user, entries, link)) {
    // Of the groups that the sync adds the user to, only the names are compared: access goes by the name.
    const joined = entries.flatMap(({ action, ref: group, platformId }) =>
      action === 'addMember' && group && platformId !== null ? [group] : [],
    );
    const renamed = await groupsUnderOtherName(scan, joined);
    return renamed && { ...renamed, entries: [...renamed.entries, ...entries], ...common };
  }
  const memberships = await compareMemberships(scan, {
    ref,
    link,
    memberOf: user.memberOf,
    pending: pendingMemberships,
    unconfirmed: new Set(unconfirmedRemovals),
  });
  return memberships && { ...memberships, entries: [...entries, ...memberships.entries], ...common };
}

/** Reads the account of a user whom no run compares, such as a protected one. @returns null when it could not be read */
async function readUncompared(
  scan: ScanResult,
  entries: PlanEntry[],
  link: Link,
  pending: ReadonlyMap<string, string>,
): Promise<ComparedOne | null> {
  const user = await readLinkedUser(scan, link);
  if (user === 'unknown') return null;
  if (user === 'absent') {
    const isGone = link.id !== undefined;
    return { entries, done: undefined, isGone, ...(isGone && { pendingDone: removalsIn(pending) }) };
  }
  const read = await readValues(scan, link, user);
  if (read === 'unknown') return null;
  const account = { user, values: read?.values };
  return { entries, done: undefined, account, groupsLeftAlone: groupsOfAccount(user) ?? [] };
}

/** Returns the groups with a pending removal of the user. */
const removalsIn = (pending: ReadonlyMap<string, string>): Ref[] =>
  [...pending].flatMap(([group, sign]) => (sign === '+' ? [] : [refOf('Group', group)]));

/**
 * Returns whether the groups of the account are compared. They are not:
 * - Without the linked account: `memberOf` may be of an account that the sync refuses to adopt.
 * - For a user who is newly linked or comes back into scope: the sync writes all memberships, and `withFollowers` lists them.
 * - For a departed user: the bridge no longer maintains the memberships.
 */
function comparesMemberships(
  user: VerifiedResource,
  entries: readonly PlanEntry[],
  link: Link,
): user is VerifiedResource & { memberOf: readonly GroupOfAccount[] } {
  const isNewlyLinked = entries.some(({ action }) => NEWLY_LINKED.has(action));
  const hasGroups = user.account !== undefined && user.memberOf !== undefined;
  return hasGroups && !isNewlyLinked && user.isReturning !== true && link.departed !== true;
}

/** Compares one group, as `compareOne`. */
async function compareGroup(
  scan: ScanResult,
  ref: Ref,
  { members = true, mostDone, mostGone }: Pick<CompareOptions, 'members' | 'mostDone' | 'mostGone'>,
): Promise<ComparedOne | null> {
  const verified = await verifyGroups(scan, [ref], {
    withMembers: () => members,
    namesOnly: !members,
    mostDone,
  });
  const [group] = verified;
  if (!group) return null;
  // The sync of a member whose account is gone makes the account anew and adds it to the group.
  const gone = await verifyUsers(scan, (group.membersGone ?? []).slice(0, mostGone), {
    withValues: () => true,
  });
  const entries = [
    ...gone.flatMap((user) => user.entries),
    ...(await withMissingCauses(scan.scope, [group])),
  ];
  const added = await scopeOfAdded(scan, entries);
  return {
    entries: await withFollowers(scan, entries, [...verified, ...gone, ...added]),
    done: group.done,
    pendingDone: group.pendingDone,
    notCompared: group.removalsUnread ?? 0,
  };
}

/** Returns for each user whom the entries add to a group whether the user is out of scope (`isOut`). */
async function scopeOfAdded(scan: ScanResult, entries: readonly PlanEntry[]): Promise<VerifiedResource[]> {
  const users = entries.flatMap(({ action, member }) => (action === 'addMember' && member?.ref) || []);
  return readInPortions(users, PORTION, async (portion) => {
    scan.signal.throwIfAborted();
    const observed = portion.map((ref) => ({ ref }));
    const found = await usersToVerify(scan.scope, observed);
    return [...found].map(([ref, { wanted }]) => ({ ref, entries: [], isOut: !wanted.inScope }));
  });
}
