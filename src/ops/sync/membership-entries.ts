// Lists the pending memberships of a person or group that the comparison of this resource alone does not show.
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { refOf, type Ref } from '../../directory/records.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { WAITS_FOR_GROUP } from '../../reconcile/compare/group-case.ts';
import { verifyGroups } from '../../reconcile/compare/verify-groups.ts';
import { isChange, NO_BASIS, type PlanEntry } from '../../reconcile/entry.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { createNarrowScan } from '../../reconcile/plan/narrow-scan.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { withoutUnwritten } from '../../reconcile/unwritten/unwritten.ts';
import type { FoundResource } from '../find.ts';
import { foreignRemovals, type PendingToList } from './foreign-removals.ts';

/**
 * Returns the entries that the comparison of one resource lacks. For a user: all pending memberships. If the source deleted the
 * group of such a membership, the entry is the deletion of this group, unless a decision of the guard prevents the deletion. For a
 * group: the pending removals of unmanaged accounts.
 */
export const membershipEntries = (
  scope: ReconcileScope,
  found: FoundResource,
  pending: PendingToList,
): Promise<PlanEntry[]> =>
  found.kind === 'Group' ? foreignRemovals(scope, found, pending) : pendingOfUser(scope, found, pending);

async function pendingOfUser(
  scope: ReconcileScope,
  { ref, name }: FoundResource,
  { look, pendingGroups, signal }: PendingToList,
): Promise<PlanEntry[]> {
  const { links, target, directory } = scope;
  // Groups that the person has already joined or left at the platform, although the membership is still pending.
  const doneGroups = look.pendingDone ?? [];
  const missing = notListed(look, pendingGroups);
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
  const member = { ref, platformId: ownLink.id ?? null, name };
  return missing.flatMap((membership, index): PlanEntry | [] => {
    const { group } = membership;
    const link = groupLinks[index] ?? {};
    const sourceName = names.get(group);
    // A group that was never made at the platform has no member to remove.
    if (sourceName === undefined && link.id === undefined) return [];
    const deletion = deletions.get(group);
    if (deletion) return deletion;
    if (doneGroups.includes(group)) return [];
    const groupName =
      (sourceName && target.mapping.groupName(sourceName)) ?? String(link.core?.displayName ?? '');
    return toEntry(membership, { link, groupName, member });
  });
}

/** A pending membership of a user. */
interface PendingMembership {
  group: Ref;
  action: 'addMember' | 'removeMember';
}

/** Returns the pending memberships for which the comparison has no entry. */
function notListed(
  { entries }: ComparedOne,
  pendingGroups: PendingToList['pendingGroups'],
): PendingMembership[] {
  const listed = new Set(entries.map(({ action, ref: group }) => `${action} ${group ?? ''}`));
  return Object.entries(pendingGroups)
    .map(([id, sign]) => ({
      group: refOf('Group', id),
      action: sign === MEMBERSHIP_SIGN.toAdd ? ('addMember' as const) : ('removeMember' as const),
    }))
    .filter(({ group, action }) => !listed.has(`${action} ${group}`));
}

/** Returns the entry of a pending membership. `report`: the last sync of the group was refused, so nothing writes it now. */
function toEntry(
  { group, action }: PendingMembership,
  { link, groupName, member }: { link: Link; groupName: string; member: NonNullable<PlanEntry['member']> },
): PlanEntry {
  const isAdded = action === 'addMember';
  const refusal = refusalOf(link);
  return {
    action,
    kind: 'Group',
    ref: group,
    platformId: link.id ?? null,
    name: groupName,
    member,
    before: { member: !isAdded },
    after: { member: isAdded },
    effect: refusal ? 'report' : 'apply',
    reason: `${isAdded ? 'member at the source' : 'no member at the source any more'}${refusal ? `${WAITS_FOR_GROUP} (${refusal.reason})` : ''}`,
    attribution: { cause: 'source changed' },
    basis: NO_BASIS,
  };
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
