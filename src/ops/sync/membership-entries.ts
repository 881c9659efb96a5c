// Lists the pending memberships of a person or group that the comparison of this resource alone does not show.
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { MEMBERSHIP_SIGN, type PendingSign } from '../../directory/outbox/pending-memberships.ts';
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import { refOf, type Ref } from '../../directory/records.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { WAITS_FOR_GROUP } from '../../reconcile/compare/group-case.ts';
import { unmanagedMember } from '../../reconcile/compare/unmanaged-member.ts';
import { verifyGroups } from '../../reconcile/compare/verify-groups.ts';
import { isChange, NO_BASIS, MEMBER_REMOVED, type PlanEntry } from '../../reconcile/entry.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { createNarrowScan } from '../../reconcile/plan/narrow-scan.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { mapBounded } from '../../support/bounded.ts';
import { withoutUnwritten } from '../../reconcile/unwritten/unwritten.ts';
import type { FoundResource } from '../find.ts';

interface PendingToList {
  /** The comparison with the platform. */
  look: ComparedOne;
  /** Signs of the pending memberships (`SyncReport.pendingGroups`). */
  pendingGroups: Readonly<Record<string, PendingSign>>;
  signal: AbortSignal;
}

/**
 * Returns the entries that the comparison of one resource lacks. For a user: all pending memberships. If the source deleted the
 * group of such a membership, the entry is the deletion of this group, unless a decision of the guard prevents the deletion. For a
 * group: the pending removals of accounts that nobody pushed.
 */
export async function membershipEntries(
  scope: ReconcileScope,
  found: FoundResource,
  pending: PendingToList,
): Promise<PlanEntry[]> {
  const { kind, ref, name } = found;
  const { look, pendingGroups, signal } = pending;
  if (kind === 'Group') return foreignRemovals(scope, found, pending);
  const { links, target, directory } = scope;
  // Groups whose pending membership the platform has already.
  const doneGroups = look.pendingDone ?? [];
  const shown = new Set(look.entries.map(({ action, ref: group }) => `${action} ${group ?? ''}`));
  const entries = Object.entries(pendingGroups).map(([id, sign]) => ({
    group: refOf('Group', id),
    action: sign === MEMBERSHIP_SIGN.toAdd ? ('addMember' as const) : ('removeMember' as const),
  }));
  const missing = entries.filter(({ group, action }) => !shown.has(`${action} ${group}`));
  const refs = missing.map(({ group }) => group);
  const [names, groupLinks, ownLink] = await Promise.all([
    readRecordNames(directory, refs),
    links.getMany(target.name, refs),
    links.get(target.name, ref),
  ]);
  const deletedGroups = missing.flatMap(({ group, action }) =>
    action === 'removeMember' && !names.has(group) ? [group] : [],
  );
  const deletions = await deletionsOf(scope, deletedGroups, signal);
  return missing.flatMap(({ group, action }, index): PlanEntry | [] => {
    const link = groupLinks[index] ?? {};
    const sourceName = names.get(group);
    // A group that was never made at the platform has no member to remove.
    if (sourceName === undefined && link.id === undefined) return [];
    const deletion = deletions.get(group);
    if (deletion) return deletion;
    if (doneGroups.includes(group)) return [];
    const isAdded = action === 'addMember';
    const refusal = refusalOf(link);
    return {
      action,
      kind: 'Group',
      ref: group,
      platformId: link.id ?? null,
      name: (sourceName && target.mapping.groupName(sourceName)) ?? String(link.core?.displayName ?? ''),
      member: { ref, platformId: ownLink.id ?? null, name },
      before: { member: !isAdded },
      after: { member: isAdded },
      effect: refusal ? 'report' : 'apply',
      reason: `${isAdded ? 'member at the source' : 'no member at the source any more'}${refusal ? `${WAITS_FOR_GROUP} (${refusal.reason})` : ''}`,
      attribution: { cause: 'source changed' },
      basis: NO_BASIS,
    };
  });
}

/**
 * Returns the entries of groups that the source deleted. The sync of a member deletes such a group in place of the removal of the
 * member. A group that the platform had before the bridge stays. A group also stays while its deletion, or the removal of one of
 * its members, is held or was rejected.
 */
async function deletionsOf(
  scope: ReconcileScope,
  groups: Ref[],
  signal: AbortSignal,
): Promise<Map<Ref, PlanEntry>> {
  if (groups.length === 0) return new Map();
  const scan = createNarrowScan(scope, signal);
  const verified = await verifyGroups(scan, groups, { withMembers: () => false, namesOnly: true });
  const entries = verified
    .filter(({ refusal }) => !refusal)
    .flatMap((group) => group.entries.filter(({ action }) => action === 'delete'));
  const written = (await withoutUnwritten(scope, entries)).filter(isChange);
  return new Map(
    written.flatMap((entry) =>
      entry.ref
        ? [[entry.ref, { ...entry, reason: `${entry.reason}, with all its memberships` }] as const]
        : [],
    ),
  );
}

/** Number of accounts that are read at the same time. */
const READ_AT_ONCE = 2;
/** Largest number of accounts that are read; the others are listed without a read. */
const MOST_READ = 100;

/** End of the reason of a removal beyond MOST_READ: the sync reads the account before it removes the member. */
const UNREAD = `; not read, as one of more than ${MOST_READ}: nothing is written if the account is protected or gone`;

/**
 * Returns the pending removals of accounts that nobody pushed. Returns none unless the settings are `groups.members: authoritative`
 * and the policy `sync`, because no other settings remove such accounts. Returns none either for a group that is created or deleted
 * as a whole. Members who are gone from the group at the platform are left out, and so are accounts that are gone or protected, as
 * far as they are read.
 */
async function foreignRemovals(
  scope: ReconcileScope,
  { ref, name }: FoundResource,
  { look, pendingGroups, signal }: PendingToList,
): Promise<PlanEntry[]> {
  const { links, outbox, target } = scope;
  const { groups, policy } = target.policy;
  const isWhole = look.entries.some(
    (entry) =>
      entry.ref === ref && (entry.action === 'create' || (entry.action === 'delete' && isChange(entry))),
  );
  if (isWhole || groups.members !== 'authoritative' || policy !== 'sync') return [];
  // Held or rejected removals that the platform has already.
  const removed = new Set((look.done?.items ?? []).map(({ subject }) => subject));
  const foreign = Object.keys(pendingGroups).filter((user) => isUnmanaged(user) && !removed.has(user));
  if (foreign.length === 0) return [];
  const scan = createNarrowScan(scope, signal);
  const unread = foreign.slice(MOST_READ);
  const [link, accounts, names] = await Promise.all([
    links.get(target.name, ref),
    // '': the member's name in a list, which is used only under `groups.members: owned`.
    mapBounded(foreign.slice(0, MOST_READ), READ_AT_ONCE, (user) =>
      unmanagedMember(scan, unmanagedId(user), ''),
    ),
    outbox.unmanagedNames.namesOf(unread),
  ]);
  const unreadMembers = unread.map((user) => {
    const platformId = unmanagedId(user);
    return { ref: null, platformId, name: names.get(user) ?? platformId };
  });
  const readMembers = accounts.flatMap((members) => (members === 'unknown' ? [] : members));
  return [...readMembers, ...unreadMembers].map((member, index) => ({
    ...MEMBER_REMOVED,
    kind: 'Group',
    ref,
    platformId: link.id ?? null,
    name: target.mapping.groupName(name) ?? name,
    member,
    effect: 'apply',
    reason: `no member at the source, added at the platform${index < readMembers.length ? '' : UNREAD}`,
    attribution: { cause: 'source changed' },
    basis: NO_BASIS,
  }));
}
