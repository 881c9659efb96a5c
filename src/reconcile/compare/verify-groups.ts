// Verifies suspected drift of groups one by one, with their members where needed.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { hashOfLink, type ObservedResource } from '../../directory/outbox/drift.ts';
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import { parseLink, refusalOf, type Link } from '../../directory/outbox/links.ts';
import { fold, parseRef, refOf, type Ref, type StoredRecord } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import type { Resource } from '../../scim/index.ts';
import { mapBounded } from '../../support/bounded.ts';
import { usersToVerify } from './desired-users.ts';
import { isUnverified, lookAgain, readNoted, toLook, type Look } from './look-again.ts';
import type { ScanResult } from '../scope.ts';
import { linkedText } from '../../sync/group/find-group.ts';
import { takenElsewhereText } from './taken.ts';
import { asking } from './platform-reads.ts';
import type { VerifiedResource } from './verified.ts';
import { compareMembers, findMadeChanges, lookForLeavers } from './verify-members.ts';
import type { GroupCase, Member } from './group-case.ts';
import { groupEntries } from './plan-groups.ts';

/** Unmanaged groups of a complete list, and groups of other connections. */
export interface GroupStrangers {
  /** Unmanaged groups, by folded name. */
  byName: ReadonlyMap<string, { id: string; name: string }>;
  /** Refs of the linked groups without a mark, by folded name. */
  linked: ReadonlyMap<string, Ref>;
  /** Ids of groups of other connections, by folded name. */
  taken: ReadonlyMap<string, string>;
}

export interface VerifyGroupsOptions {
  /** Returns whether the members of a group are compared too. */
  withMembers: (ref: Ref) => boolean;
  /** True: only names matter, so the members are not read because of a hold either. */
  namesOnly?: boolean;
  /** Undefined: the list was not read completely, so a namesake is looked up by a call. */
  strangers?: GroupStrangers | undefined;
  /** Largest number of accounts that are read to see which held and rejected removals the platform has already; absent: all. */
  mostDone?: number | undefined;
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
  const { directory, drifts, runs, concurrency } = scan.scope;
  const unwrittenSince = await runs.unwrittenSince();
  const observed = await drifts.readLinks(refs);
  const records = await directory.getMany(
    'Group',
    refs.map((ref) => parseRef(ref).id),
  );
  const sound = records.filter(({ damaged }) => !damaged);
  const byRef = new Map(sound.map((record) => [refOf('Group', record.id), record]));
  let done = 0;
  const found = await mapBounded(observed, concurrency, async (each) => {
    const verified = await readNoted(
      scan,
      each,
      (notingScan) => verifyGroup(notingScan, each, byRef.get(each.ref), { ...options, unwrittenSince }),
      isUnverified,
    );
    scan.onProgress({ phase: 'members', done: ++done, total: refs.length });
    return verified;
  });
  const now = await drifts.readLinks(refs);
  return toLook(found, observed, now);
}

/** `unwrittenSince` as in RunStore: Infinity unless the target has come back into the settings. */
type EachGroupOptions = VerifyGroupsOptions & { unwrittenSince: number };

/** Stored facts about the members of a group, and whether the comparison reads the members at the platform too (`isRead`). */
interface StoredMembers {
  /** Pending memberships: `+`, `-` or `r` by member (docs/glossary.md). */
  signs: Map<string, string>;
  /** Members whose removal was written and is not confirmed. */
  unconfirmed: string[];
  /** The group comes back into scope, or the policy `sync` removes members again whom another policy left. */
  isBack: boolean;
  /** The record changed while the target was out of the settings, so the change may be unwritten. */
  isUnwritten: boolean;
  isRead: boolean;
}

/** Reads the pending memberships of a group, and decides whether its members are compared. */
async function readStoredMembers(
  { scope: { outbox, target } }: ScanResult,
  group: {
    id: string;
    link: Link;
    record: StoredRecord | undefined;
    wantedName: string | undefined;
    isDeleted: boolean;
  },
  { withMembers, namesOnly = false, unwrittenSince }: EachGroupOptions,
): Promise<StoredMembers> {
  const { id, link, record, wantedName, isDeleted } = group;
  const signs = await outbox.pendingMembers(id);
  const unconfirmed = await outbox.unconfirmedRemovals(id);
  // Member changes were not written while a group was out of scope, or while the policy left its members. So the sync of
  // such a group compares all members.
  const isLeftByPolicy = link.leavers !== undefined && (isDeleted || wantedName !== undefined);
  const isBack =
    (link.departed === true && wantedName !== undefined) ||
    (isLeftByPolicy && target.policy.policy === 'sync');
  // Pending changes wait while the target is on hold, so that somebody may make them at the platform meanwhile.
  const isStopped = !namesOnly && signs.size > 0 && (await outbox.guardStore.onHold()) !== undefined;
  // After the target came back into the settings, syncs wrote new changes only, so members who left before may still be there.
  const isUnwritten = !namesOnly && record !== undefined && record.lastModified > unwrittenSince;
  const isRead =
    withMembers(refOf('Group', id)) ||
    isUnwritten ||
    isBack ||
    isLeftByPolicy ||
    isStopped ||
    link.adopting === true ||
    unconfirmed.length > 0;
  return { signs, unconfirmed, isBack, isUnwritten, isRead };
}

/** Verifies one group. @returns undefined when the platform could not be read */
async function verifyGroup(
  scan: ScanResult,
  group: ObservedResource,
  record: StoredRecord | undefined,
  options: EachGroupOptions,
): Promise<VerifiedResource | undefined> {
  const { strangers, mostDone = Infinity } = options;
  const { target, members, outbox } = scan.scope;
  const { ref, text, marked } = group;
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
  // Read before the member list of the platform, so that a write in between is not taken for drift.
  const stored = await readStoredMembers(scan, { id, link, record, wantedName, isDeleted }, options);
  const { signs, unconfirmed, isBack, isUnwritten, isRead } = stored;
  const sourceMembers = isRead ? await scan.scope.drifts.membersOf(id) : [];
  const observed = await readGroup(scan, link, { withMembers: isRead });
  if (observed === 'unknown') return undefined;
  const present = observed === 'absent' ? undefined : observed;
  const found =
    present || wantedName === undefined ? undefined : await findNamesake(scan, wantedName, strangers);
  if (found === 'unknown') return undefined;
  const heldBy = found && 'heldBy' in found && found.heldBy !== ref ? found.heldBy : undefined;
  const namesake = found && 'id' in found ? found : undefined;
  const isMissing = !present && wantedName !== undefined;
  const basis = { version: record?.version ?? 0, link: hashOfLink(text) };
  const { pending, pendingDone, doneItems, unreadCount } = await findMadeChanges(scan, group, present, {
    signs,
    isRead,
    isDeleted,
    most: mostDone,
  });
  const candidate = namesake?.id ?? (isMissing ? strangers?.taken.get(fold(wantedName)) : undefined);
  const madeThere = new Set<Ref | null>(pendingDone);
  const isAuthoritative = members === 'authoritative' && target.policy.policy === 'sync';
  const readsNamesake = isAuthoritative || pending.some(({ sign }) => sign === '+');
  const adopted = link.adopting ? present : readsNamesake ? await readNamesake(scan, namesake) : undefined;
  if (adopted === 'unknown') return undefined;
  // The sync of an adopted group adds only members whom the group lacks, but all members if it has removed members before.
  const isRemoving =
    target.policy.policy === 'sync' && [...signs.values()].includes(MEMBERSHIP_SIGN.toRemove);
  const membersBefore = new Set(isRemoving ? [] : adopted?.members?.map(({ value }) => value));
  const isMemberBefore = ({ platformId }: Member): boolean =>
    platformId !== null && membersBefore.has(platformId);
  const differing = present && isRead ? await compareMembers(scan, present, sourceMembers, signs) : undefined;
  // Without a read group no removal is looked for, so its empty id is never used.
  const { gone, unlisted } = await lookForLeavers(scan, present ?? { id: '' }, differing ? unconfirmed : []);
  const groupCase: GroupCase = {
    ref,
    link,
    basis,
    marked,
    isLost: scan.isRepaired || isUnwritten || scan.lost.has(ref) || (isBack && link.leavers === undefined),
    isBack,
    wantedName,
    isDeleted,
    observed: present,
    namesake,
    takenBy: heldBy
      ? `Conflict: ${linkedText(wantedName ?? '', heldBy)}`
      : await takenElsewhereText(scan, 'Group', candidate),
    members: differing && { ...differing, surplus: [...differing.surplus, ...unlisted] },
    unconfirmed: new Set(unconfirmed),
    unsent: new Set(await outbox.unsentMembers(id)),
    surplusThere: present || !isAuthoritative ? [] : await surplusOf(scan, id, { adopted, signs }),
    // An unmanaged member has the ref null, which `madeThere` never contains.
    pending: pending.filter(
      ({ member, sign }) => !madeThere.has(member.ref) && (sign !== '+' || !isMemberBefore(member)),
    ),
  };
  return {
    ref,
    entries: groupEntries(groupCase, { policy: target.policy, members, now: scan.scope.clock.now() }),
    version: basis.version,
    changedAt: present?.meta?.lastModified,
    writtenAt: link.writtenAt,
    refusal: refusalOf(link, marked),
    isBack,
    pendingDone,
    removalsUnread: unreadCount,
    unmanagedLeavers: new Set(
      [...signs.keys()].flatMap((user) => (isUnmanaged(user) ? [unmanagedId(user)] : [])),
    ),
    membersGone: [...(differing?.gone ?? [])].flatMap((member) => member ?? []),
    isMembersRead: present !== undefined && isRead,
    ...(gone.length > 0 ? { confirmed: { ref, link: basis.link, users: gone } } : {}),
    ...(doneItems.length > 0 ? { done: { items: doneItems, basis, marked } } : {}),
  };
}

/** Reads a linked group; `absent` when nothing is linked, or when the read is answered with 404. */
async function readGroup(
  scan: ScanResult,
  { id }: Link,
  { withMembers }: { withMembers: boolean },
): Promise<WireGroup | 'absent' | 'unknown'> {
  if (id === undefined) return 'absent';
  return asking(scan, (signal) =>
    scan.scope.target.client.groups.get(id, withMembers ? {} : { members: false }, { signal }),
  );
}

/**
 * Returns the members of a group that is to be adopted whom the source does not have. An account with the name of a member at the
 * source that has no account yet is left out: that member's sync adopts the account.
 */
async function surplusOf(
  scan: ScanResult,
  id: string,
  { adopted, signs }: { adopted: WireGroup | undefined; signs: Map<string, string> },
): Promise<Member[]> {
  if (!adopted) return [];
  const sourceMembers = await scan.scope.drifts.membersOf(id);
  const { surplus } = await compareMembers(scan, adopted, sourceMembers, signs);
  if (surplus.length === 0) return [];
  const unlinked = sourceMembers.flatMap(({ user, link }) =>
    link.id === undefined ? [{ ref: refOf('User', user) }] : [],
  );
  const wanted = [...(await usersToVerify(scan.scope, unlinked)).values()].map((each) => each.wanted);
  const names = new Set(
    wanted.flatMap(({ inScope, core }) => (inScope ? [fold(String(core.userName))] : [])),
  );
  return surplus.filter(({ ref, name }) => ref !== null || !names.has(fold(name)));
}

/** Reads the group that is to be adopted with its members; undefined when it is not adopted. */
async function readNamesake(
  scan: ScanResult,
  namesake: { id: string } | undefined,
): Promise<WireGroup | undefined | 'unknown'> {
  const { adopt } = scan.scope.target.policy;
  if (!namesake || adopt !== 'exact') return undefined;
  const found = await readGroup(scan, { id: namesake.id }, { withMembers: true });
  return found === 'absent' ? undefined : found;
}

/** Returns an unmanaged group of this name, or the group at the source that has it and keeps it. */
async function findNamesake(
  scan: ScanResult,
  name: string,
  strangers: GroupStrangers | undefined,
): Promise<{ id: string; name: string } | { heldBy: Ref } | undefined | 'unknown'> {
  if (strangers)
    return strangers.byName.get(fold(name)) ?? keeper(scan, name, strangers.linked.get(fold(name)));
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
  if (free) return { id: free.id, name: free.displayName };
  const [holder] = holders;
  return keeper(scan, name, holder && !holder.marked ? holder.ref : undefined);
}

/** Returns the linked group if it stays at the source, and no pending sync or other rules give it another name. */
async function keeper(
  { scope: { directory, target } }: ScanResult,
  name: string,
  holder: Ref | undefined,
): Promise<{ heldBy: Ref } | undefined> {
  const record = holder && (await directory.get('Group', parseRef(holder).id));
  if (!holder || !record || record.damaged) return undefined;
  const { displayName } = JSON.parse(record.text) as Resource & { displayName: string };
  return fold(target.mapping.groupName(displayName) ?? name) === fold(name) ? { heldBy: holder } : undefined;
}
