// Verifies suspected drift of groups one by one, with their members where needed.
import { hashOfLink, type ObservedResource } from '../directory/outbox/drift.ts';
import type { Destruction } from '../directory/guard/held-changes.ts';
import { isUnmanaged, unmanagedId, unmanagedName } from '../directory/member-names.ts';
import { parseLink, type Link } from '../directory/outbox/links.ts';
import { fold, parseRef, refOf, type Ref, type StoredRecord } from '../directory/records.ts';
import type { WireGroup } from '../platform/wire.ts';
import type { Resource } from '../scim/index.ts';
import { mapBounded } from '../support/bounded.ts';
import { namesGroup } from '../sync/diff.ts';
import { awaitsDecision } from './done-changes.ts';
import { isProtected, refusalOf } from './entry.ts';
import { lookAgain, toLook, type Look } from './look-again.ts';
import type { ScanResult } from './scope.ts';
import { takenElsewhereText } from './taken.ts';
import { asking } from './platform-reads.ts';
import type { VerifiedResource } from './verified.ts';
import { groupEntries, type GroupCase, type Member, type MemberDifferences } from './plan-groups.ts';

/** Unmanaged groups of a complete list, and groups of other connections. */
export interface GroupStrangers {
  /** Unmanaged groups, by folded name. */
  byName: ReadonlyMap<string, { id: string; name: string }>;
  /** Ids of groups of other connections, by folded name. */
  taken: ReadonlyMap<string, string>;
}

/** Number of accounts that are read at the same time for one group. */
const CONCURRENT_READS = 2;

export interface VerifyGroupsOptions {
  /** Returns whether the members of a group are compared too. */
  withMembers: (ref: Ref) => boolean;
  /** Undefined: the list was not read completely, so a namesake is looked up by a call. */
  strangers?: GroupStrangers | undefined;
}

/** Reads each group alone. A group that cannot be read, or changes at each read, is left out. */
export const verifyGroups = (
  scan: ScanResult,
  refs: Ref[],
  options: VerifyGroupsOptions,
): Promise<VerifiedResource[]> => lookAgain(scan, refs, (left) => lookAtEach(scan, left, options));

/** Reads each group once, and sorts the findings by whether the group changed meanwhile. */
async function lookAtEach(
  scan: ScanResult,
  refs: Ref[],
  options: VerifyGroupsOptions,
): Promise<Look<VerifiedResource>> {
  const { directory, drifts, concurrency } = scan.scope;
  const observed = await drifts.observe(refs);
  const records = await directory.getMany(
    'Group',
    refs.map((ref) => parseRef(ref).id),
  );
  const sound = records.filter(({ damaged }) => !damaged);
  const byRef = new Map(sound.map((record) => [refOf('Group', record.id), record]));
  let done = 0;
  const found = await mapBounded(observed, concurrency, async (each) => {
    const verified = await verifyGroup(scan, each, byRef.get(each.ref), options);
    scan.onProgress({ phase: 'members', done: ++done, total: refs.length });
    return verified;
  });
  const now = await drifts.observe(refs);
  return toLook(scan, found, observed, now);
}

/** Verifies one group. @returns undefined when the platform could not be read */
async function verifyGroup(
  scan: ScanResult,
  { ref, text, marked }: ObservedResource,
  record: StoredRecord | undefined,
  { withMembers, strangers }: VerifyGroupsOptions,
): Promise<VerifiedResource | undefined> {
  const { target, members, outbox } = scan.scope;
  const link = parseLink(text);
  const { id } = parseRef(ref);
  const displayName = record && (JSON.parse(record.text) as Resource & { displayName: string }).displayName;
  const wantedName = displayName === undefined ? undefined : target.mapping.groupName(displayName);
  const isDeleted = !record && (await scan.scope.drifts.deletedAtSource(id));
  const isLeftOut = record !== undefined && wantedName === undefined;
  // The last sync has noted that the group is left out, or the pending one will.
  const isNoted = link.departed === true || marked;
  if (isLeftOut)
    return link.id === undefined || isNoted ? { ref, entries: [] } : { ref, entries: [], leftOut: link.id };
  // Pending memberships are read before the member list, so that a write in between is not taken for drift.
  const signs = await outbox.pendingMembers(id);
  // Member changes were not written while a group was out of scope, or while the policy left its members. So the sync of
  // such a group compares all members.
  const isLeftByPolicy = link.leavers !== undefined && (isDeleted || wantedName !== undefined);
  const isBack =
    (link.departed === true && wantedName !== undefined) ||
    (isLeftByPolicy && target.policy.policy === 'sync');
  const isRead = withMembers(ref) || isBack || isLeftByPolicy || link.adopting === true;
  const ours = isRead ? await scan.scope.drifts.membersOf(id) : [];
  const observed = await readGroup(scan, link, isRead);
  if (observed === 'unknown') return undefined;
  const present = observed === 'absent' ? undefined : observed;
  const namesake =
    present || wantedName === undefined ? undefined : await findNamesake(scan, wantedName, strangers);
  if (namesake === 'unknown') return undefined;
  const isMissing = !present && wantedName !== undefined;
  const basis = { version: record?.version ?? 0, link: hashOfLink(text) };
  const doneItems =
    link.id === undefined || !awaitsDecision(link)
      ? []
      : await doneOfGroup(scan, ref, { signs, isDeleted, marked, observed: present, isRead });
  const done = new Set(doneItems.map(({ subject }) => subject));
  const candidate = namesake?.id ?? (isMissing ? strangers?.taken.get(fold(wantedName)) : undefined);
  const pending = await pendingOf(scan, new Map([...signs].filter(([user]) => !done.has(user))));
  const adopted = link.adopting ? present : await readNamesake(scan, namesake, pending);
  if (adopted === 'unknown') return undefined;
  // The sync of an adopted group adds only members whom the group lacks, or all if it removes members before.
  const isRemoving = target.policy.policy === 'sync' && [...signs.values()].includes('-');
  const before = new Set(isRemoving ? [] : adopted?.members?.map(({ value }) => value));
  const isMemberBefore = ({ platformId }: Member): boolean => platformId !== null && before.has(platformId);
  const group: GroupCase = {
    ref,
    link,
    basis,
    marked,
    isLost: scan.isRepaired || scan.lost.has(ref) || (isBack && link.leavers === undefined),
    isBack,
    wantedName,
    isDeleted,
    observed: present,
    namesake,
    takenBy: await takenElsewhereText(scan, 'Group', candidate),
    members: present && isRead ? await compareMembers(scan, present, ours, signs) : undefined,
    pending: pending.filter(({ member, sign }) => sign !== '+' || !isMemberBefore(member)),
  };
  return {
    ref,
    entries: groupEntries(group, { policy: target.policy, members }),
    version: basis.version,
    changedAt: present?.meta?.lastModified,
    writtenAt: link.writtenAt,
    refusal: refusalOf(link, marked),
    isBack,
    unmanagedLeavers: new Set(
      [...signs.keys()].flatMap((user) => (isUnmanaged(user) ? [unmanagedId(user)] : [])),
    ),
    isMembersRead: present !== undefined && isRead,
    ...(doneItems.length > 0 ? { done: { items: doneItems, basis, marked } } : {}),
  };
}

/**
 * Returns the held and rejected removals that the platform has already: of the group itself, or of members who are not in
 * it. Each of these members is read, because a member list may be truncated. An account that could not be read does not
 * count as removed.
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
  },
): Promise<Destruction[]> {
  const { signs, isDeleted, marked, observed, isRead } = group;
  const toRemoval = (subject: string): Destruction => ({ kind: 'removeMembers', ref, subject });
  const all = [...signs].flatMap(([user, sign]) => (sign === '+' ? [] : [user]));
  const verdicts = marked ? await scan.scope.outbox.guardStore.verdictsOn(all.map(toRemoval)) : [];
  // The pending sync of a marked group writes the removals that were not judged yet.
  const leavers = marked ? all.filter((_, index) => verdicts[index] !== undefined) : all;
  if (isDeleted && !observed) return [{ kind: 'delete', ref }, ...leavers.map(toRemoval)];
  // Without the member list nothing shows who has left.
  if (!observed || !isRead) return [];
  const present = new Set((observed.members ?? []).map(({ value }) => value));
  const links = await scan.scope.links.getMany(
    scan.scope.target.name,
    leavers.map((user) => refOf('User', user)),
  );
  const gone = await mapBounded(leavers, CONCURRENT_READS, async (user, index) => {
    const platformId = isUnmanaged(user) ? unmanagedId(user) : links[index]?.id;
    // A user without account has no membership that somebody could have removed; a listed member is there.
    if (platformId === undefined || present.has(platformId)) return false;
    const account = await asking(scan, (signal) =>
      scan.scope.target.client.users.get(platformId, { signal }),
    );
    return account !== 'absent' && account !== 'unknown' && !namesGroup(account, observed.id);
  });
  return leavers.filter((_, index) => gone[index]).map(toRemoval);
}

/** Reads a linked group; `absent` without a link or after a 404. */
async function readGroup(
  scan: ScanResult,
  link: Link,
  members: boolean,
): Promise<WireGroup | 'absent' | 'unknown'> {
  if (link.id === undefined) return 'absent';
  return asking(scan, (signal) =>
    scan.scope.target.client.groups.get(link.id ?? '', members ? {} : { members: false }, { signal }),
  );
}

/** Reads the group that is to be adopted with its members; undefined when nothing depends on them. */
async function readNamesake(
  scan: ScanResult,
  namesake: { id: string } | undefined,
  pending: GroupCase['pending'],
): Promise<WireGroup | undefined | 'unknown'> {
  const { adopt } = scan.scope.target.policy;
  if (!namesake || adopt !== 'exact' || !pending.some(({ sign }) => sign === '+')) return undefined;
  const found = await readGroup(scan, { id: namesake.id }, true);
  return found === 'absent' ? undefined : found;
}

/** Returns an unmanaged group of this name. */
async function findNamesake(
  scan: ScanResult,
  name: string,
  strangers: GroupStrangers | undefined,
): Promise<{ id: string; name: string } | undefined | 'unknown'> {
  if (strangers) return strangers.byName.get(fold(name));
  const found = await asking(scan, (signal) =>
    scan.scope.target.client.groups.findByDisplayName(name, { signal }),
  );
  if (found === 'unknown' || found === 'absent') return 'unknown';
  const exact = found.filter((group) => fold(group.displayName) === fold(name));
  const holders = await scan.scope.drifts.linkedTo(
    'Group',
    exact.map(({ id }) => id),
  );
  const free = exact.find((_, index) => holders[index] === undefined);
  return free && { id: free.id, name: free.displayName };
}

/** Returns the userName that the bridge last wrote or read. */
const nameOf = (link: Link): string => String(link.core?.userName ?? '');

/** Returns the pending memberships of a group, without additions of users who are out of scope. */
async function pendingOf(scan: ScanResult, signs: Map<string, string>): Promise<GroupCase['pending']> {
  const users = [...signs.keys()].filter((user) => !isUnmanaged(user));
  const observed = await scan.scope.drifts.observe(users.map((user) => refOf('User', user)));
  return observed.flatMap(({ ref, text, marked }) => {
    const link = parseLink(text);
    const sign = signs.get(parseRef(ref).id) ?? '+';
    // A user out of scope is no member until the user is back or is created (followers.ts).
    const isOut = link.departed || (link.id === undefined && !marked && !link.condition);
    if (sign === '+' && isOut) return [];
    const member = { ref, platformId: link.id ?? null, name: nameOf(link) };
    return [{ member, sign, refusal: refusalOf(link, marked) }];
  });
}

/** Returns missing and surplus members without pending and protected ones. */
async function compareMembers(
  scan: ScanResult,
  group: WireGroup,
  ours: { user: string; link: Link }[],
  signs: Map<string, string>,
): Promise<MemberDifferences> {
  const present = new Map((group.members ?? []).map((member) => [member.value, member.display ?? '']));
  const expected = new Set<string>();
  const missing: Member[] = [];
  for (const { user, link } of ours) {
    // A user without account is no member at the platform.
    if (link.id === undefined) continue;
    expected.add(link.id);
    // A departed or protected user need not be a member, and a pending membership is no drift.
    const isDue =
      !link.departed && !isProtected(link, scan.scope.target.policy.users.protected) && !signs.has(user);
    if (isDue && !present.has(link.id))
      missing.push({ ref: refOf('User', user), platformId: link.id, name: nameOf(link) });
  }
  const absent = await mapBounded(missing, CONCURRENT_READS, (member) =>
    isReallyMissing(scan, group, member),
  );
  const unexpected = [...present].filter(([id]) => !expected.has(id) && !signs.has(unmanagedName(id)));
  const holders = await scan.scope.drifts.linkedTo(
    'User',
    unexpected.map(([id]) => id),
  );
  const surplus = await mapBounded(
    unexpected,
    CONCURRENT_READS,
    async ([platformId, display], index): Promise<Member[]> => {
      const holder = holders[index];
      if (!holder) return unmanagedMember(scan, platformId, display);
      const link = parseLink(holder.text);
      if (isProtected(link, scan.scope.target.policy.users.protected) || signs.has(parseRef(holder.ref).id))
        return [];
      return [{ ref: holder.ref, platformId, name: nameOf(link) || display }];
    },
  );
  return { missing: missing.filter((_, index) => absent[index]), surplus: surplus.flat() };
}

/** Reads the account of a missing member, because a member list may be truncated. */
async function isReallyMissing(scan: ScanResult, group: WireGroup, { platformId }: Member): Promise<boolean> {
  const { client } = scan.scope.target;
  const account = await asking(scan, (signal) => client.users.get(platformId ?? '', { signal }));
  return account === 'absent' || account === 'unknown' || !namesGroup(account, group.id);
}

/**
 * Returns the member without a link of this connection; none for an account that is protected, owns the key, or cannot be
 * read.
 */
async function unmanagedMember(scan: ScanResult, platformId: string, display: string): Promise<Member[]> {
  const { members, target } = scan.scope;
  // Under `owned` nothing is removed, so the account is not read.
  if (members === 'owned') return [{ ref: null, platformId, name: display }];
  const account = await asking(scan, (signal) => target.client.users.get(platformId, { signal }));
  if (account === 'absent' || account === 'unknown') return [];
  const owner = await target.catalogue.keyOwner(scan.signal);
  const names = [...target.policy.users.protected, ...(owner === undefined ? [] : [owner])].map(fold);
  return names.includes(fold(account.userName)) ? [] : [{ ref: null, platformId, name: account.userName }];
}
