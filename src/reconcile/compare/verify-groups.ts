// Verifies suspected drift of groups one by one, with their members where needed.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { hashOfLink, type ObservedResource } from '../../directory/outbox/drift.ts';
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { fold, nameInRecord, parseRef, refOf, type Ref, type StoredRecord } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import { mapBounded } from '../../support/bounded.ts';
import { usersToVerify } from './desired-users.ts';
import { isUnverified, lookAgain, readNoted, toLook, type Look } from './look-again.ts';
import type { ScanResult } from '../scope.ts';
import type { VerifiedResource } from './verified.ts';
import { compareMembers, findMadeChanges, lookForLeavers, type MemberChanges } from './verify-members.ts';
import type { GroupCase, Member } from './group-case.ts';
import { groupEntries } from './plan-groups.ts';
import { ownerOfName, readGroupNamesake, type GroupStrangers, readLinkedGroup } from './group-namesake.ts';

interface VerifyGroupsOptions {
  /** Returns whether the members of a group are compared too. */
  withMembers: (ref: Ref) => boolean;
  /**
   * True: only names matter, so neither a hold nor changes while the target was out of the settings lead to a read of the members.
   */
  namesOnly?: boolean;
  /** Undefined: the list was not read completely, so a namesake is looked up by a call. */
  strangers?: GroupStrangers | undefined;
  /** Largest number of accounts that are read to see which held and rejected removals the platform has already; absent: all. */
  mostDone?: number | undefined;
  /** Of each group the members (member-names.ts) whose unconfirmed removals are looked for before those of others; absent: none. */
  leaversFirst?: ReadonlyMap<Ref, ReadonlySet<string>>;
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

/**
 * Verifies one group. Reads in this order: the stored memberships; the group, or if it is missing the one that has its name; the
 * pending changes that the platform has already; the members of a group that is to be adopted; the differing members; the members
 * with an unconfirmed removal.
 * @returns undefined when the platform could not be read
 */
async function verifyGroup(
  scan: ScanResult,
  group: ObservedResource,
  record: StoredRecord | undefined,
  options: EachGroupOptions,
): Promise<VerifiedResource | undefined> {
  const { strangers, mostDone = Infinity, leaversFirst } = options;
  const { clock, drifts, target, outbox } = scan.scope;
  const { ref, text, marked } = group;
  const link = parseLink(text);
  const { id } = parseRef(ref);
  const wantedName = record && target.mapping.groupName(nameInRecord(record) ?? '');
  const isLeftOut = record !== undefined && wantedName === undefined;
  if (isLeftOut) {
    // The last sync has noted that the group is left out, or the pending sync will.
    const isNoted = link.departed === true || marked;
    return link.id === undefined || isNoted ? { ref, entries: [] } : { ref, entries: [], leftOut: link.id };
  }
  const isDeleted = !record && (await drifts.deletedAtSource(id));

  // Stored memberships are read before the member list of the platform, so that a write in between is not taken for drift.
  const stored = await readStoredMembers(scan, { id, link, record, wantedName, isDeleted }, options);
  const { signs, unconfirmed, needsMemberReview, isUnwritten, isRead } = stored;
  const sourceMembers = isRead ? await drifts.membersOf(id) : [];
  const observed = await readLinkedGroup(scan, link, { withMembers: isRead });
  if (observed === 'unknown') return undefined;
  const present = observed === 'absent' ? undefined : observed;
  const owner =
    present || wantedName === undefined ? {} : await ownerOfName(scan, { ref, wantedName }, strangers);
  if (owner === 'unknown') return undefined;
  const { namesake, takenBy } = owner;

  const made = await findMadeChanges(scan, group, present, { signs, isRead, isDeleted, most: mostDone });
  const isAuthoritative = target.policy.groups.members === 'authoritative' && target.policy.policy === 'sync';
  // The members of the group that is to be adopted matter if the sync removes members, or if it adds only members whom the group
  // lacks.
  const needsNamesakeMembers =
    !link.adopting && (isAuthoritative || made.pending.some(({ sign }) => sign === MEMBERSHIP_SIGN.toAdd));
  const toBeAdopted = needsNamesakeMembers ? await readGroupNamesake(scan, namesake) : undefined;
  if (toBeAdopted === 'unknown') return undefined;
  const adopted = link.adopting ? present : toBeAdopted;
  const differing = present && isRead ? await compareMembers(scan, present, sourceMembers, signs) : undefined;
  const surplusThere = present || !isAuthoritative ? [] : await surplusOf(scan, id, { adopted, signs });
  if (differing === 'unknown' || surplusThere === 'unknown') return undefined;
  // If the group was not read, no removal is looked for, so the empty id is never used.
  const { gone, unlisted, undecided } = await lookForLeavers(
    scan,
    present ?? { id: '' },
    differing ? unconfirmed : [],
    leaversFirst?.get(ref),
  );
  const basis = { version: record?.version ?? 0, link: hashOfLink(text) };
  const groupCase: GroupCase = {
    ref,
    link,
    basis,
    marked,
    isLost:
      scan.isRepaired ||
      isUnwritten ||
      scan.lost.has(ref) ||
      (needsMemberReview && link.leavers === undefined),
    needsMemberReview,
    wantedName,
    isDeleted,
    observed: present,
    namesake,
    takenBy,
    members: differing && { ...differing, surplus: [...differing.surplus, ...unlisted] },
    unconfirmed: new Set(unconfirmed),
    unsent: new Set(await outbox.unsentMembers(id)),
    surplusThere,
    pending: pendingWrites(made, { adopted, signs, policy: target.policy.policy }),
  };
  return {
    ref,
    entries: groupEntries(groupCase, { policy: target.policy, now: clock.now() }),
    version: basis.version,
    changedAt: present?.meta?.lastModified,
    writtenAt: link.writtenAt,
    refusal: refusalOf(link, marked),
    needsMemberReview,
    pendingDone: made.pendingDone,
    removalsUnread: made.unreadCount,
    leaversUndecided: undecided,
    unmanagedLeavers: new Set(
      [...signs.keys()].flatMap((user) => (isUnmanaged(user) ? [unmanagedId(user)] : [])),
    ),
    membersGone: [...(differing?.gone ?? [])].flatMap((member) => member ?? []),
    isMembersRead: present !== undefined && isRead,
    ...(gone.length > 0 ? { confirmed: { ref, link: basis.link, users: gone } } : {}),
    ...(made.doneItems.length > 0 ? { done: { items: made.doneItems, basis, marked } } : {}),
  };
}

/**
 * Returns the pending memberships that the sync still has to write: without those that the platform shows as done, and without
 * additions of accounts that the adopted group had before.
 * @param adopted the group that the sync adopts, with its members
 */
function pendingWrites(
  { pending, pendingDone }: MemberChanges,
  {
    adopted,
    signs,
    policy,
  }: { adopted: WireGroup | undefined; signs: ReadonlyMap<string, string>; policy: string },
): GroupCase['pending'] {
  // An unmanaged member has the ref null, which this set never contains.
  const done = new Set<Ref | null>(pendingDone);
  // The sync of an adopted group adds only members whom the group lacks, but all members if it removes some first.
  const isRemoving = policy === 'sync' && [...signs.values()].includes(MEMBERSHIP_SIGN.toRemove);
  const membersBefore = new Set(isRemoving ? [] : adopted?.members?.map(({ value }) => value));
  return pending.filter(({ member: { ref, platformId }, sign }) => {
    const isMemberBefore = platformId !== null && membersBefore.has(platformId);
    const isAddedBefore = sign === MEMBERSHIP_SIGN.toAdd && isMemberBefore;
    return !done.has(ref) && !isAddedBefore;
  });
}

/**
 * Returns the members of a group that is to be adopted whom the source does not have. An account with the name of a member at the
 * source that has no account yet is left out: that member's sync adopts the account. `unknown`: the platform could not be read.
 */
async function surplusOf(
  scan: ScanResult,
  id: string,
  { adopted, signs }: { adopted: WireGroup | undefined; signs: Map<string, string> },
): Promise<Member[] | 'unknown'> {
  if (!adopted) return [];
  const sourceMembers = await scan.scope.drifts.membersOf(id);
  const differing = await compareMembers(scan, adopted, sourceMembers, signs);
  if (differing === 'unknown') return 'unknown';
  if (differing.surplus.length === 0) return [];
  const unlinked = sourceMembers.flatMap(({ user, link }) =>
    link.id === undefined ? [{ ref: refOf('User', user) }] : [],
  );
  const wanted = [...(await usersToVerify(scan.scope, unlinked)).values()].map((each) => each.wanted);
  const names = new Set(
    wanted.flatMap(({ inScope, core }) => (inScope ? [fold(String(core.userName))] : [])),
  );
  return differing.surplus.filter(({ ref, name }) => ref !== null || !names.has(fold(name)));
}

/**
 * Reads the pending memberships of a group, and decides whether its members are compared.
 * @returns `signs`: `+`, `-` or `r` by member (docs/glossary.md); `unconfirmed`: members with the sign `u`; `isRead`: the
 *   comparison reads the members at the platform too
 */
async function readStoredMembers(
  { scope: { outbox, target } }: ScanResult,
  group: {
    id: string;
    link: Link;
    record: StoredRecord | undefined;
    wantedName: string | undefined;
    isDeleted: boolean;
  },
  {
    withMembers,
    namesOnly = false,
    unwrittenSince,
  }: { withMembers: (ref: Ref) => boolean; namesOnly?: boolean; unwrittenSince: number },
) {
  const { id, link, record, wantedName, isDeleted } = group;
  const signs = await outbox.pendingMembers(id);
  const unconfirmed = await outbox.unconfirmedRemovals(id);
  // Member changes were not written while a group was out of scope, or while the policy left its members. So the sync of
  // such a group compares all members.
  const isLeftByPolicy = link.leavers !== undefined && (isDeleted || wantedName !== undefined);
  const needsMemberReview =
    (link.departed === true && wantedName !== undefined) ||
    (isLeftByPolicy && target.policy.policy === 'sync');
  // Pending changes wait while the target is on hold, and somebody may make them at the platform meanwhile.
  const isStopped = !namesOnly && signs.size > 0 && (await outbox.guardStore.onHold()) !== undefined;
  // After the target came back into the settings, syncs wrote new changes only, so members who left before may still be there.
  const isUnwritten = !namesOnly && record !== undefined && record.lastModified > unwrittenSince;
  const isRead =
    withMembers(refOf('Group', id)) ||
    isUnwritten ||
    needsMemberReview ||
    isLeftByPolicy ||
    isStopped ||
    link.adopting === true ||
    unconfirmed.length > 0;
  return { signs, unconfirmed, needsMemberReview, isUnwritten, isRead };
}
