// Compares one group with the platform, with its members where needed: reads what Redis has pending (stored-members.ts), reads
// the platform (`readAtPlatform`), and converts both to plan entries (plan-groups.ts). The stored memberships are read before the
// member list, so that a write of the bridge in between is not taken for drift.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { hashOfLink, type ObservedResource } from '../../directory/outbox/drift.ts';
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { nameInRecord, parseRef, type Ref, type StoredRecord } from '../../directory/records.ts';
import { pendingWrites, surplusAtAdoption } from './adopted-members.ts';
import { groupAsApplied } from './as-applied.ts';
import { compareMembers } from './compare-members.ts';
import type { GroupCase } from './group-case.ts';
import { ownerOfName, readGroupNamesake, type GroupStrangers, readLinkedGroup } from './group-namesake.ts';
import { lookForLeavers } from './look-for-leavers.ts';
import { findMadeChanges } from './made-changes.ts';
import { groupEntries } from './plan-groups.ts';
import { isAsDesired } from '../entry.ts';
import type { ScanResult } from '../scope.ts';
import { readStoredMembers } from './stored-members.ts';
import type { VerifiedResource } from './verified.ts';

export interface VerifyGroupsOptions {
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

/** `unwrittenSince` as in RunStore: Infinity unless the target has come back into the settings. */
type EachGroupOptions = VerifyGroupsOptions & { unwrittenSince: number };

/**
 * Verifies one group.
 * @returns undefined when the platform could not be read
 */
export async function verifyGroup(
  scan: ScanResult,
  group: ObservedResource,
  record: StoredRecord | undefined,
  options: EachGroupOptions,
): Promise<VerifiedResource | undefined> {
  const { clock, drifts, target, outbox } = scan.scope;
  const { ref, text, marked } = group;
  const link = parseLink(text);
  const { id } = parseRef(ref);
  const wantedName = record && target.mapping.groupName(nameInRecord(record) ?? '');
  if (record !== undefined && wantedName === undefined) return leftOutGroup(group, link);
  const isDeleted = !record && (await drifts.deletedAtSource(id));

  const stored = await readStoredMembers(scan, { id, link, record, wantedName, isDeleted }, options);
  const { signs, unconfirmed, needsMemberReview, isUnwritten, isRead } = stored;
  const found = await readAtPlatform(scan, group, { link, wantedName, isDeleted, stored }, options);
  if (found === 'unknown') return undefined;
  const { present, namesake, takenBy, adopted, made, differing, surplusThere, leavers } = found;

  const basis = { version: record?.version ?? 0, link: hashOfLink(text) };
  // Without the list of leavers, every difference of members may be a change that no sync wrote.
  const isReviewWithoutList = needsMemberReview && link.leavers === undefined;
  const groupCase: GroupCase = {
    ref,
    link,
    basis,
    marked,
    isLost: scan.isRepaired || isUnwritten || scan.lost.has(ref) || isReviewWithoutList,
    needsMemberReview,
    wantedName,
    isDeleted,
    observed: present,
    namesake,
    takenBy,
    members: differing && { ...differing, surplus: [...differing.surplus, ...leavers.unlisted] },
    unconfirmed: new Set(unconfirmed),
    unsent: new Set(await outbox.unsentMembers(id)),
    surplusThere,
    pending: pendingWrites(made, { adopted, signs, policy: target.policy.policy }),
  };
  const entries = groupEntries(groupCase, { policy: target.policy, now: clock.now() });
  return {
    ref,
    entries,
    asApplied: present && isAsDesired(entries) ? groupAsApplied(groupCase) : undefined,
    version: basis.version,
    linkHash: basis.link,
    changedAt: present?.meta?.lastModified,
    writtenAt: link.writtenAt,
    refusal: refusalOf(link, marked),
    needsMemberReview,
    pendingDone: made.pendingDone,
    removalsUnread: made.unreadCount,
    leaversUndecided: leavers.undecided,
    unmanagedLeavers: new Set(
      [...signs.keys()].flatMap((user) => (isUnmanaged(user) ? [unmanagedId(user)] : [])),
    ),
    membersGone: [...(differing?.gone ?? [])].flatMap((member) => member ?? []),
    isMembersRead: present !== undefined && isRead,
    ...(leavers.gone.length > 0 ? { confirmed: { ref, link: basis.link, users: leavers.gone } } : {}),
    ...(made.doneItems.length > 0 ? { done: { items: made.doneItems, basis, marked } } : {}),
  };
}

/** Returns the findings about a group that the settings leave out: `leftOut`, if its link does not say so yet. */
function leftOutGroup({ ref, marked }: ObservedResource, link: Link): VerifiedResource {
  // The last sync has noted that the group is left out, or the pending sync will.
  const isNoted = link.departed === true || marked;
  return link.id === undefined || isNoted ? { ref, entries: [] } : { ref, entries: [], leftOut: link.id };
}

/**
 * Reads a group at the platform, in this order: the group, or if it is missing the one that has its name; the pending changes that
 * the platform has already; the members of a group that is to be adopted; the differing members; the members with an unconfirmed
 * removal.
 * @returns `unknown` when the platform could not be read; `adopted`: the group that the sync adopts, with its members
 */
async function readAtPlatform(
  scan: ScanResult,
  group: ObservedResource,
  known: {
    link: Link;
    wantedName: string | undefined;
    isDeleted: boolean;
    stored: Awaited<ReturnType<typeof readStoredMembers>>;
  },
  { strangers, mostDone = Infinity, leaversFirst }: VerifyGroupsOptions,
) {
  const { drifts, target } = scan.scope;
  const { link, wantedName, isDeleted } = known;
  const { signs, unconfirmed, isRead } = known.stored;
  const { ref } = group;
  const { id } = parseRef(ref);
  const sourceMembers = isRead ? await drifts.membersOf(id) : [];
  const observed = await readLinkedGroup(scan, link, { withMembers: isRead });
  if (observed === 'unknown') return 'unknown';
  const present = observed === 'absent' ? undefined : observed;
  const owner =
    present || wantedName === undefined ? {} : await ownerOfName(scan, { ref, wantedName }, strangers);
  if (owner === 'unknown') return 'unknown';
  const { namesake, takenBy } = owner;

  const made = await findMadeChanges(scan, group, present, { signs, isRead, isDeleted, most: mostDone });
  const isAuthoritative = target.policy.groups.members === 'authoritative' && target.policy.policy === 'sync';
  // The members of the group that is to be adopted matter if the sync removes members, or if it adds only members whom the group
  // lacks.
  const needsNamesakeMembers =
    !link.adopting && (isAuthoritative || made.pending.some(({ sign }) => sign === MEMBERSHIP_SIGN.toAdd));
  const toBeAdopted = needsNamesakeMembers ? await readGroupNamesake(scan, namesake) : undefined;
  if (toBeAdopted === 'unknown') return 'unknown';
  const adopted = link.adopting ? present : toBeAdopted;

  const differing = present && isRead ? await compareMembers(scan, present, sourceMembers, signs) : undefined;
  const surplusThere =
    present || !isAuthoritative ? [] : await surplusAtAdoption(scan, id, { adopted, signs });
  if (differing === 'unknown' || surplusThere === 'unknown') return 'unknown';
  // If the group was not read, no removal is looked for, so the empty id is never used.
  const leavers = await lookForLeavers(
    scan,
    present ?? { id: '' },
    differing ? unconfirmed : [],
    leaversFirst?.get(ref),
  );
  return { present, namesake, takenBy, adopted, made, differing, surplusThere, leavers };
}
