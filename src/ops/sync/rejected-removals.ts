// Tells at the end of the sync of a person in which groups the person stays, because an operator rejected the removal.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { refOf, type Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { counted } from '../../support/counted.ts';
import { removal } from '../../sync/names/succession.ts';
import { readApprovalIds } from '../approvals/approval-ids.ts';
import type { FoundResource } from '../find.ts';
import { firstOf, namesOf } from './sync-end-memberships.ts';
import type { SyncEnd } from './sync-outcome.ts';

/**
 * Adds to the end of a person the groups in which the person stays, because an operator rejected the removal or the deletion of the
 * group, with the commands that take the rejections back. Such a standing exception does not change the outcome.
 * @param done groups that the person is not in any more, because somebody else removed the person at the platform
 */
export async function withRejectedRemovals(
  scope: ReconcileScope,
  end: SyncEnd,
  { kind, id, ref }: FoundResource,
  done: readonly Ref[] = [],
): Promise<SyncEnd> {
  const { guardStore, resourceStatus } = scope.outbox;
  if (kind !== 'User') return end;
  const { pendingMemberships } = await resourceStatus(ref);
  const removals = [...pendingMemberships].flatMap(([group, sign]) =>
    sign === MEMBERSHIP_SIGN.toAdd || done.includes(refOf('Group', group)) ? [] : [removal(group, id)],
  );
  const [ofPerson, ofGroup] = await Promise.all([
    guardStore.verdictsOn(removals),
    guardStore.verdictsOn(removals.map(({ ref: group }) => ({ kind: 'delete', ref: group }))),
  ]);
  const rejected = removals.flatMap((item, index) => {
    const isDeletion = ofGroup[index] === 'rejected' && ofPerson[index] !== 'held';
    return isDeletion || ofPerson[index] === 'rejected' ? [{ item, isDeletion }] : [];
  });
  if (rejected.length === 0) return end;
  const [names, ids] = await Promise.all([
    namesOf(
      scope,
      rejected.map(({ item }) => item.ref),
    ),
    readApprovalIds(scope.connection, scope.outbox),
  ]);
  // One decision may be about the removals from many groups, so its command names the person instead of the groups.
  const selections = rejected.flatMap(({ item, isDeletion }) => {
    const decision = ids.rejectionOf(item.ref, isDeletion ? { kind: 'delete' } : item);
    const selection = isDeletion ? `--ref ${item.ref}` : `--kind removeMembers --person ${ref}`;
    return decision === undefined ? [] : [`scim-bridge approvals withdraw ${decision} ${selection}`];
  });
  const commands = [...new Set(selections)];
  const advice =
    commands.length === 0
      ? 'scim-bridge approvals list --all names the rejection to withdraw'
      : `${firstOf(commands)} ${commands.length === 1 ? 'takes' : 'take'} that back`;
  const told = `an operator rejected the removal from ${counted(rejected.length, 'group')}, so the person stays there: ${firstOf(names)}; ${advice}`;
  return { ...end, message: end.message === undefined ? told : `${end.message}; ${told}` };
}
