// Finds groups whose pending memberships the present settings do not want, as after a change of the policy.
import { readRecordNames } from '../../directory/resources/record-names.ts';
import type { Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Returns the groups from which the present settings remove no member: the policy leaves members, or groups.include or
 * groups.exclude leave the group out. The next sync of such a group ends its pending removals, also held ones, without a write
 * (sync-group.ts, dissolve-group.ts). So nothing waits for a decision about them.
 */
export async function keptBySettings(
  { directory, target }: Pick<ReconcileScope, 'directory' | 'target'>,
  groups: readonly Ref[],
): Promise<Set<Ref>> {
  if (target.policy.policy !== 'sync') return new Set(groups);
  return new Set(await leftOutGroups({ directory, target }, groups));
}

/** Returns the groups that groups.include or groups.exclude leave out. No sync writes a membership of such a group. */
export async function leftOutGroups(
  { directory, target }: Pick<ReconcileScope, 'directory' | 'target'>,
  groups: readonly Ref[],
): Promise<Ref[]> {
  const names = await readRecordNames(directory, groups);
  return [...names].flatMap(([ref, name]) => (target.mapping.groupName(name) === undefined ? [ref] : []));
}

/** Returns the groups with a held change that the present settings do not want: their next sync ends the change without a write. */
export async function groupsWithEndedHold(
  scope: Pick<ReconcileScope, 'outbox' | 'directory' | 'target'>,
): Promise<Ref[]> {
  const held = await scope.outbox.guardStore.heldRefs();
  return [
    ...(await keptBySettings(
      scope,
      held.filter((ref) => ref.startsWith('Group:')),
    )),
  ];
}
