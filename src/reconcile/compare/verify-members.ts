// Decides which memberships of a group are pending, missing at the platform, surplus there, or removed there already. The member
// list of a group may be truncated, so the account of each member that it does not show is read. An account that names the group is
// a member. An account that could not be read proves nothing, but `compareMembers` still counts its member as missing, because an
// addition that is made twice does no harm. A 404 counts as:
// - nothing for a held or rejected removal (`doneOfGroup`): a person decides about it;
// - left for an unconfirmed removal, if a whole user list confirms it (`lookForLeavers`);
// - left for a pending removal (`pendingThere`): its sync ends by itself if the account is there after all;
// - missing in `compareMembers`, with the note `gone`.
import { isUnmanaged, unmanagedId, unmanagedName } from '../../directory/member-names.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import { mapBounded } from '../../support/bounded.ts';
import { namesGroup } from '../../sync/diff.ts';
import { linksOfUsers } from '../../sync/group/leavers.ts';
import { awaitsDecision } from './done-changes.ts';
import { isProtected, protectionAt } from './protected.ts';
import type { GroupCase, Member, MemberDifferences } from './group-case.ts';
import { asking } from './platform-reads.ts';
import { unmanagedMember } from './unmanaged-member.ts';
import type { ScanResult } from '../scope.ts';

/** Number of accounts that are read at the same time for one group. */
const CONCURRENT_READS = 2;
/**
 * Largest number of accounts that one comparison of a group reads to see whether a removal was made. Further members keep their sign
 * until a later comparison.
 */
const MOST_CONFIRMED = 100;

/** Changes that the platform has already, and the members whose account was not read, because they are too many. */
interface FoundThere<T> {
  found: T[];
  /** User ids, or `@<platform id>` of unmanaged members. */
  unread: string[];
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
  const accounts = await readAccounts(scan, read);
  const isRemoved = accounts.map(
    (account) => typeof account === 'object' && !namesGroup(account, observed.id),
  );
  return {
    found: read.filter((_, index) => isRemoved[index]).map(({ user }) => toRemoval(user)),
    unread: unlisted.slice(read.length).map(({ user }) => user),
  };
}

/**
 * Reads the accounts of up to MOST_CONFIRMED members (member-names.ts) whom the member list of a group does not show, because it
 * may be truncated. A member without account is in no group. An account that could not be read, or whose 404 no whole user list
 * confirms, decides nothing. With more members, each call begins at a random one, so that such accounts do not keep the rest
 * unread.
 * @param first members who are read before others: a reviewed plan has changes of them
 * @returns `gone`: members who are not in the group; `unlisted`: members whose account names the group, without protected ones;
 *   `undecided`: members of whom neither is known
 */
export async function lookForLeavers(
  scan: ScanResult,
  group: Pick<WireGroup, 'id' | 'members'>,
  users: string[],
  first: ReadonlySet<string> = new Set(),
): Promise<{ gone: string[]; unlisted: Member[]; undecided: ReadonlySet<string> }> {
  const undecided = new Set(users);
  const found: { gone: string[]; unlisted: Member[] } = { gone: [], unlisted: [] };
  if (users.length === 0) return { ...found, undecided };
  const { target } = scan.scope;
  const protection = protectionAt(target);
  const present = new Set((group.members ?? []).map(({ value }) => value));
  const ordered = fromRandomPlace(users, scan.scope.random).sort(
    (a, b) => Number(first.has(b)) - Number(first.has(a)),
  );
  const links = await linksOfUsers(scan.scope, ordered);
  const unseen = ordered
    .map((user, index) => {
      const link = links[index] ?? {};
      return { user, link, id: isUnmanaged(user) ? unmanagedId(user) : link.id };
    })
    // The user may have an account that is not known yet, so the read of the group tells nothing.
    .filter(({ link, id }) => !(id === undefined && (link.mayExist ?? link.tried)))
    .filter(({ id }) => id === undefined || !present.has(id))
    .slice(0, MOST_CONFIRMED);
  await mapBounded(unseen, CONCURRENT_READS, async ({ user, link, id }) => {
    const account =
      id === undefined ? 'absent' : await asking(scan, (signal) => target.client.users.get(id, { signal }));
    if (account === 'unknown') return;
    // A 404 alone does not end an unconfirmed removal: nothing else would show later that the platform did not make it.
    if (account === 'absent' && id !== undefined && (await scan.isUnlisted?.(id)) !== true) return;
    undecided.delete(user);
    if (account === 'absent' || !namesGroup(account, group.id)) found.gone.push(user);
    else if (!isProtected(link, protection))
      found.unlisted.push({
        ref: isUnmanaged(user) ? null : refOf('User', user),
        platformId: account.id,
        name: account.userName,
      });
  });
  return { ...found, undecided };
}

/** Returns the items rotated by a random number of places. */
function fromRandomPlace<T>(items: readonly T[], random: () => number): T[] {
  const start = Math.floor(random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}

/** Returns the userName that the bridge last wrote or read. */
const nameOf = (link: Link): string => String(link.core?.userName ?? '');

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
    const member = { ref, platformId: link.id ?? null, name: nameOf(link) };
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
  const accounts = await readAccounts(scan, read);
  // An account that cannot be read proves nothing.
  const hasLeft = accounts.map(
    (account) => account === 'absent' || (account !== 'unknown' && !namesGroup(account, group.id)),
  );
  return {
    found: [...added, ...read.filter((_, index) => hasLeft[index])].flatMap(({ ref }) => ref ?? []),
    unread: unlisted.slice(read.length).flatMap(({ ref }) => (ref ? [parseRef(ref).id] : [])),
  };
}

/** Reads the accounts of members who have one, in the order of the members. */
const readAccounts = (scan: ScanResult, members: readonly Pick<Member, 'platformId'>[]) =>
  mapBounded(members, CONCURRENT_READS, ({ platformId }) =>
    asking(scan, (signal) => scan.scope.target.client.users.get(platformId ?? '', { signal })),
  );

export type MemberChanges = Awaited<ReturnType<typeof findMadeChanges>>;

const NOTHING_THERE: FoundThere<never> = { found: [], unread: [] };

/**
 * Finds which pending, held and rejected changes of the members the platform has already.
 * @param present the group, if it is there
 * @returns `pendingDone`: users of `pending` whose change the platform has already; `doneItems`: held and rejected changes that it has
 *   already; `unreadCount`: number of members whose account was not read, because they are too many
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
  const { found: doneItems, unread: doneUnread } =
    link.id === undefined || !awaitsDecision(link)
      ? NOTHING_THERE
      : await doneOfGroup(scan, ref, { signs, isDeleted, marked, observed: present, isRead, most });
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
 * Returns missing and surplus members without pending and protected ones. A member that the platform shows without a name has ''.
 * `unknown`: a member may be the owner of the API key, whom the platform did not name.
 * @param sourceMembers the members at the source with their links
 * @param signs pending memberships: user id, or `@<platform id>` of an unmanaged member, to sign
 */
export async function compareMembers(
  scan: ScanResult,
  group: WireGroup,
  sourceMembers: { user: string; link: Link }[],
  signs: Map<string, string>,
): Promise<MemberDifferences | 'unknown'> {
  const present = new Map((group.members ?? []).map((member) => [member.value, member.display ?? '']));
  const protection = protectionAt(scan.scope.target);
  const expected = new Set<string>();
  const missing: Member[] = [];
  for (const { user, link } of sourceMembers) {
    // A user without account is no member at the platform.
    if (link.id === undefined) continue;
    expected.add(link.id);
    // A departed or protected user need not be a member, and a pending membership is no drift.
    const isDue = !link.departed && !isProtected(link, protection) && !signs.has(user);
    if (isDue && !present.has(link.id))
      missing.push({ ref: refOf('User', user), platformId: link.id, name: nameOf(link) });
  }
  // A member list may be truncated, so the account of each missing member is read.
  const accounts = await readAccounts(scan, missing);
  const unexpected = [...present].filter(([id]) => !expected.has(id) && !signs.has(unmanagedName(id)));
  const holders = await scan.scope.drifts.linkedTo(
    'User',
    unexpected.map(([id]) => id),
  );
  const surplus = await mapBounded(
    unexpected,
    CONCURRENT_READS,
    async ([platformId, display], index): Promise<Member[] | 'unknown'> => {
      const holder = holders[index];
      if (!holder) return unmanagedMember(scan, platformId, display);
      const link = parseLink(holder.text);
      if (isProtected(link, protection) || signs.has(parseRef(holder.ref).id)) return [];
      return [{ ref: holder.ref, platformId, name: nameOf(link) || display }];
    },
  );
  if (surplus.includes('unknown')) return 'unknown';
  const isMissing = (_: Member, index: number): boolean => {
    const account = accounts[index];
    return typeof account !== 'object' || !namesGroup(account, group.id);
  };
  const gone = missing.filter((_, index) => accounts[index] === 'absent').map(({ ref }) => ref);
  return {
    missing: missing.filter(isMissing),
    gone: new Set(gone),
    surplus: surplus.flatMap((members) => (members === 'unknown' ? [] : members)),
  };
}
