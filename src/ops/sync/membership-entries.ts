// Lists the pending memberships of a person or group that the comparison of this resource alone does not show.
import { refOf, type Ref } from '../../directory/records.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { WAITS_FOR_GROUP } from '../../reconcile/compare/plan-groups.ts';
import { verifyGroups } from '../../reconcile/compare/verify-groups.ts';
import { isChange, NO_BASIS, refusalOf, type PlanEntry } from '../../reconcile/entry.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { createNarrowScan } from '../../reconcile/plan/narrow-scan.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { withoutUnwritten } from '../../reconcile/unwritten/unwritten.ts';
import type { FoundResource } from '../find.ts';

export interface PendingToList {
  /** The comparison with the platform. */
  look: ComparedOne;
  /** Signs of the pending memberships (`SyncReport.pendingGroups`). */
  pendingGroups: Readonly<Record<string, '+' | '-' | 'r'>>;
  signal: AbortSignal;
}

/**
 * Returns entries for the pending memberships of a user; those of a group are in its own comparison. For a pending removal from a
 * group that the source deleted, the entry is the deletion of the group, as long as no decision of the guard prevents the deletion.
 */
export async function membershipEntries(
  scope: ReconcileScope,
  { kind, ref, name }: FoundResource,
  { look, pendingGroups, signal }: PendingToList,
): Promise<PlanEntry[]> {
  if (kind === 'Group') return [];
  const { links, target, directory } = scope;
  const done = look.pendingDone ?? [];
  const shown = new Set(look.entries.map(({ action, ref: group }) => `${action} ${group ?? ''}`));
  const entries = Object.entries(pendingGroups).map(([id, sign]) => ({
    group: refOf('Group', id),
    action: sign === '+' ? ('addMember' as const) : ('removeMember' as const),
  }));
  const missing = entries.filter(
    ({ group, action }) => !shown.has(`${action} ${group}`) && !done.includes(group),
  );
  const refs = missing.map(({ group }) => group);
  const [names, groups, account] = await Promise.all([
    readRecordNames(directory, refs),
    links.getMany(target.name, refs),
    links.get(target.name, ref),
  ]);
  const unnamed = missing.flatMap(({ group, action }) =>
    action === 'removeMember' && !names.has(group) ? [group] : [],
  );
  const deletions = await deletionsOf(scope, unnamed, signal);
  return missing.flatMap(({ group, action }, index): PlanEntry | [] => {
    const link = groups[index] ?? {};
    const source = names.get(group);
    // A group that was deleted before it was made has no member to remove.
    if (source === undefined && link.id === undefined) return [];
    const deletion = deletions.get(group);
    if (deletion) return deletion;
    const isAdded = action === 'addMember';
    const refusal = refusalOf(link);
    return {
      action,
      kind: 'Group',
      ref: group,
      platformId: link.id ?? null,
      name: (source && target.mapping.groupName(source)) ?? String(link.core?.displayName ?? ''),
      member: { ref, platformId: account.id ?? null, name },
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
 * Returns the entries of the groups that the sync of a member deletes. A group that the platform had before the bridge stays, and
 * so does one whose deletion, or the removal of one of its members, is held or was rejected.
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
