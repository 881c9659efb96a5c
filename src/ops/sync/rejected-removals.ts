// Reports after the sync of a person in which groups the person stays, because an operator rejected the removal.
import { refOf, type Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { counted } from '../../support/counted.ts';
import { someOf } from '../../support/sentence-parts.ts';
import { leaving } from '../../sync/group/members.ts';
import { removal } from '../../sync/names/succession.ts';
import { readApprovalIds } from '../approvals/approval-ids.ts';
import type { FoundResource } from '../find.ts';
import { firstNamesOf } from './sync-end-memberships.ts';
import type { SyncEnd } from './sync-outcome.ts';

/**
 * Adds to the report of a person the groups in which the person stays, because an operator rejected the removal, with the commands
 * that take the rejections back. These exceptions do not change the outcome.
 * @param leftOut groups that the message leaves out: others removed the person from them at the platform, or they were not read,
 *   so the person may be in them or not
 */
export async function withRejectedRemovals(
  scope: ReconcileScope,
  end: SyncEnd,
  { kind, id, ref }: FoundResource,
  leftOut: readonly Ref[] = [],
): Promise<SyncEnd> {
  const { guardStore, resourceStatus } = scope.outbox;
  if (kind !== 'User') return end;
  const { pendingMemberships } = await resourceStatus(ref);
  const removals = leaving(pendingMemberships)
    .filter((group) => !leftOut.includes(refOf('Group', group)))
    .map((group) => removal(group, id));
  const verdicts = await guardStore.verdictsOn(removals);
  const rejected = removals.filter((_, index) => verdicts[index] === 'rejected');
  if (rejected.length === 0) return end;
  const [deletions, names, ids] = await Promise.all([
    guardStore.areRejected(rejected.map(({ ref: group }) => ({ kind: 'delete', ref: group }))),
    firstNamesOf(
      scope,
      rejected.map((item) => item.ref),
    ),
    readApprovalIds(scope.connection, scope.outbox),
  ]);
  // One decision may be about the removals from many groups, so its command names the person instead of the groups. After a
  // rejected deletion of the group the command names the group, so that the removals of the other members are judged again with the
  // deletion.
  const selections = rejected.flatMap((item, index) => {
    const decision = ids.rejectionOf(item.ref, item);
    const selection = deletions[index] ? `--ref ${item.ref}` : `--kind removeMembers --person ${ref}`;
    return decision === undefined ? [] : [`scim-bridge approvals withdraw ${decision} ${selection}`];
  });
  const commands = [...new Set(selections)];
  const advice =
    commands.length === 0
      ? 'scim-bridge approvals list --all names the rejection to withdraw'
      : `${someOf(commands)} ${commands.length === 1 ? 'takes' : 'take'} that back`;
  const told = `an operator rejected the removal from ${counted(rejected.length, 'group')}, so the person stays there: ${names}; ${advice}`;
  return { ...end, message: end.message === undefined ? told : `${end.message}; ${told}` };
}
