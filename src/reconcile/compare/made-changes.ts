// Finds changes of the members of one group that somebody else has already made at the platform, so that they need neither a write
// nor a decision. The changes are pending memberships, and removals that the guard holds or a person rejected. For a member whom
// the member list does not show, the account is read, because the list may be truncated. A 404 for the account may be wrong:
// - For a held or rejected removal (`doneOfGroup`) it proves nothing, because a person decides about the removal.
// - For a pending removal (`pendingThere`) it counts as proof that the member has left. The removal stays pending, so a sync of the
//   group writes it if the account is there after all.
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import { namesGroup } from '../../sync/diff.ts';
import { linksOfUsers } from '../../sync/group/leavers.ts';
import { awaitsDecision } from './done-changes.ts';
import type { GroupCase, Member } from './group-case.ts';
import { MOST_CONFIRMED, readMemberAccounts, userNameInLink } from './member-accounts.ts';
import type { ScanResult } from '../scope.ts';

/** Changes that the platform has already, and the members whose account was not read, because they are too many. */
interface FoundThere<T> {
  found: T[];
  /** User ids, or `@<platform id>` of unmanaged members. */
  unread: string[];
}

export type MemberChanges = Awaited<ReturnType<typeof findMadeChanges>>;

const NOTHING_THERE: FoundThere<never> = { found: [], unread: [] };

/**
 * Finds which pending, held and rejected changes of the members the platform has already.
 * @param present the group, if it is there
 * @param stored.signs pending memberships: `+`, `-` or `r` by member (docs/glossary.md)
 * @param stored.isRead whether the member list of `present` was read
 * @param stored.most largest number of accounts that are read because of held and rejected removals
 * @returns `pending`: the pending memberships that are not among `doneItems`; `pendingDone`: users of `pending` whose change the
 *   platform has already; `doneItems`: held and rejected changes that it has already; `unreadCount`: number of members whose
 *   account was not read, because they are too many
 */
export async function findMadeChanges(
  scan: ScanResult,
  { ref, text, marked }: ObservedResource,
  present: WireGroup | undefined,
  {
    signs,
    isRead,
    isDeleted,
    most,
  }: { signs: Map<string, string>; isRead: boolean; isDeleted: boolean; most: number },
) {
  const link = parseLink(text);
  const { outbox } = scan.scope;
  const mayBeDone = link.id !== undefined && awaitsDecision(link);
  const { found: doneItems, unread: doneUnread } = mayBeDone
    ? await doneOfGroup(scan, ref, { signs, isDeleted, marked, observed: present, isRead, most })
    : NOTHING_THERE;
  const done = new Set(doneItems.map(({ subject }) => subject));
  const takenOut = signs.size > 0 ? await outbox.takenOutMembers(parseRef(ref).id) : new Set<string>();
  const pending = await pendingOf(scan, new Map([...signs].filter(([user]) => !done.has(user))), takenOut);
  // The accounts of these members were too many for `doneOfGroup`, so they are not read here either.
  const leftUnread = new Set<Ref | null>(doneUnread.map((user) => refOf('User', user)));
  const toLookUp = pending.filter(({ member }) => !leftUnread.has(member.ref));
  const { found: pendingDone, unread: pendingUnread } =
    present && isRead ? await pendingThere(scan, present, toLookUp) : NOTHING_THERE;
  return { pending, pendingDone, doneItems, unreadCount: doneUnread.length + pendingUnread.length };
}

/**
 * Returns the held and rejected removals that the platform has already: of the group itself, or of members who are not in it. The
 * account of each of these members is read, because a member list may be truncated. A member whose account was not read, or is
 * gone, does not count as removed.
 * @param group.most largest number of accounts that are read
 */
async function doneOfGroup(
  scan: ScanResult,
  ref: Ref,
  group: {
    signs: Map<string, string>;
    isDeleted: boolean;
    marked: boolean;
    observed: WireGroup | undefined;
    isRead: boolean;
    most: number;
  },
): Promise<FoundThere<Destruction>> {
  const { signs, isDeleted, marked, observed, isRead } = group;
  const toRemoval = (subject: string): Destruction => ({ kind: 'removeMembers', ref, subject });
  const all = [...signs].flatMap(([user, sign]) => (sign === '+' ? [] : [user]));
  const verdicts = marked ? await scan.scope.outbox.guardStore.verdictsOn(all.map(toRemoval)) : [];
  // The pending sync of a marked group writes the removals that were not judged yet.
  const leavers = marked ? all.filter((_, index) => verdicts[index] !== undefined) : all;
  if (isDeleted && !observed)
    return { found: [{ kind: 'delete', ref }, ...leavers.map(toRemoval)], unread: [] };
  // Without the member list nothing shows who has left.
  if (!observed || !isRead) return { found: [], unread: [] };
  const present = new Set((observed.members ?? []).map(({ value }) => value));
  const links = await linksOfUsers(scan.scope, leavers);
  // A user without account has no membership that somebody could have removed, and a listed member was not removed.
  const unlisted = leavers.flatMap((user, index) => {
    const platformId = isUnmanaged(user) ? unmanagedId(user) : links[index]?.id;
    return platformId === undefined || present.has(platformId) ? [] : [{ user, platformId }];
  });
  const read = unlisted.slice(0, group.most);
  const accounts = await readMemberAccounts(scan, read);
  const isRemoved = accounts.map(
    (account) => typeof account === 'object' && !namesGroup(account, observed.id),
  );
  return {
    found: read.filter((_, index) => isRemoved[index]).map(({ user }) => toRemoval(user)),
    unread: unlisted.slice(read.length).map(({ user }) => user),
  };
}

/**
 * Returns the pending memberships of users in a group (not those of unmanaged accounts), without additions that wait until the user
 * comes back into scope.
 * @param takenOut ids of the members whom a comparison found taken out at the platform
 */
async function pendingOf(
  scan: ScanResult,
  signs: Map<string, string>,
  takenOut: ReadonlySet<string>,
): Promise<GroupCase['pending']> {
  const users = [...signs.keys()].filter((user) => !isUnmanaged(user));
  const observed = await scan.scope.drifts.readLinks(users.map((user) => refOf('User', user)));
  return observed.flatMap(({ ref, text, marked }) => {
    const link = parseLink(text);
    const sign = signs.get(parseRef(ref).id) ?? '+';
    // `isOut`: the user has left, or has neither an account nor a due sync. The sync that opens or creates the account adds the
    // member.
    const isOut = link.departed || (link.id === undefined && !marked && !link.condition);
    if (sign === '+' && isOut) return [];
    const member = { ref, platformId: link.id ?? null, name: userNameInLink(link) };
    return [{ member, sign, refusal: refusalOf(link, marked), isTakenOut: takenOut.has(parseRef(ref).id) }];
  });
}

/**
 * Returns the pending members whose change somebody else has already made at the platform. The account of a member who has left is
 * read, because a member list may be truncated.
 */
async function pendingThere(
  scan: ScanResult,
  group: WireGroup,
  pending: GroupCase['pending'],
): Promise<FoundThere<Ref>> {
  const present = new Set((group.members ?? []).map(({ value }) => value));
  const isListed = ({ platformId }: Member): boolean => platformId !== null && present.has(platformId);
  const added = pending.flatMap(({ member, sign }) => (sign === '+' && isListed(member) ? [member] : []));
  const unlisted = pending.flatMap(({ member, sign }) =>
    sign !== '+' && member.platformId !== null && !isListed(member) ? [member] : [],
  );
  const read = unlisted.slice(0, MOST_CONFIRMED);
  const accounts = await readMemberAccounts(scan, read);
  // An account that cannot be read proves nothing.
  const hasLeft = accounts.map(
    (account) => account === 'absent' || (account !== 'unknown' && !namesGroup(account, group.id)),
  );
  return {
    found: [...added, ...read.filter((_, index) => hasLeft[index])].flatMap(({ ref }) => ref ?? []),
    unread: unlisted.slice(read.length).flatMap(({ ref }) => (ref ? [parseRef(ref).id] : [])),
  };
}
