// Reads the decisions about the changes of a resource: rejections, and first approvals that still need a second person.
import type { Decision } from '../directory/guard/stored-decisions.ts';
import type { Destruction, HeldChanges } from '../directory/guard/held-changes.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import { expiredSentence } from '../ops/approvals/approval-ids.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Explanation, MembershipState } from './explanation.ts';
import { isoTime } from '../support/sources.ts';

/** The changes of a resource that the guard holds, or that were decided. */
type GuardedChanges = Explanation['guard'];

/**
 * Returns `approval`: the newest one of the target, if it holds changes of the resource or its memberships; and `expired`: a
 * sentence, if these changes wait and no operator can decide any of them.
 */
export async function approvalOf(
  { outbox, target }: ReconcileScope,
  { guard }: Pick<ResourceStatus, 'guard'>,
  memberships: readonly MembershipState[],
): Promise<{ approval?: HeldChanges; expired?: string | undefined }> {
  const ofMemberships = memberships
    .filter(({ condition }) => condition === 'Held')
    .map(({ isExpired }) => ({ state: isExpired ? 'expired' : 'held' }));
  const waiting = [...guard, ...ofMemberships].filter(({ state }) => state === 'held' || state === 'expired');
  const open = waiting.length > 0 ? await outbox.guardStore.open() : undefined;
  const expired = await expiredSentence(target.name, outbox.guardStore, { open, guard: waiting });
  // While the newest approval can still be decided, the expired changes are of an earlier one.
  const isOfEarlier = expired !== undefined && open !== undefined && open.leftMs > 0;
  return { ...(open && !isOfEarlier ? { approval: open } : {}), expired };
}

/** Returns the newest rejection of the resource's own changes, and of a person's removal from each group. */
export async function rejectionsOf(
  { connection, outbox }: ReconcileScope,
  { ref, kind }: FoundResource,
  guard: GuardedChanges,
  memberships: readonly MembershipState[],
): Promise<Explanation['rejections']> {
  const groups = kind === 'User' ? memberships.filter(isRejected) : [];
  const own = guard.some(({ state }) => state === 'rejected');
  // Without a rejected change the list of decisions is not read.
  if (!own && groups.length === 0) return [];
  const decisions = (await outbox.guardStore.decisions()).filter(({ action }) => action === 'reject');
  const rejections: Explanation['rejections'] = [];
  const add = (
    isMeant: (item: Destruction) => boolean,
    changed: { ref: Ref; group: string | null },
  ): void => {
    const found = newest(decisions, isMeant);
    if (!found) return;
    const { id, by, at } = found;
    rejections.push({ id: `${connection}.${id}`, by, at: isoTime(at), ...changed });
  };
  // A decision does not tell whether its rejections still count, so the newest rejection of any change of the resource is named.
  if (own) add((item) => item.ref === ref, { ref, group: null });
  const user = parseRef(ref).id;
  for (const group of groups)
    add((item) => item.ref === group.ref && item.subject === user, {
      ref: group.ref as Ref,
      group: group.name,
    });
  return rejections;
}

const isRejected = ({ state, condition }: MembershipState): boolean =>
  state === 'toRemove' && condition === 'Rejected';

/**
 * Returns the newest decision with a change for which `isMeant` returns true; undefined: there is none.
 * @param decisions newest first
 */
const newest = (
  decisions: readonly Decision[],
  isMeant: (item: Destruction) => boolean,
): Decision | undefined => decisions.find(({ items }) => items.some(isMeant));

/** Returns the first approvals that cover a held or rejected change of the resource and still wait for a second person. */
export async function firstApprovalsOf(
  { connection, outbox, target }: ReconcileScope,
  { ref }: FoundResource,
  guard: GuardedChanges,
  memberships: readonly MembershipState[],
): Promise<Explanation['firstApprovals']> {
  // A target with one approver has no first approvals: an approval decides at once.
  if (target.policy.guard.approvers !== 2) return [];
  const { id } = parseRef(ref);
  const items: Destruction[] = [
    ...guard
      .filter(({ state }) => state === 'held' || state === 'rejected')
      .map(({ kind, subject }) => ({ kind, ref, ...(subject === null ? {} : { subject }) })),
    // Removals of a person from groups. For a group, `memberships` are its members, and these items match nothing.
    ...memberships
      .filter(({ condition }) => condition === 'Held' || condition === 'Rejected')
      .map((group) => ({ kind: 'removeMembers' as const, ref: group.ref as Ref, subject: id })),
  ];
  if (items.length === 0) return [];
  const { firstApprovals } = outbox.guardStore;
  const found: Explanation['firstApprovals'] = [];
  for (const first of await firstApprovals.list()) {
    if ((await firstApprovals.coveredBy(first, items)).length === 0) continue;
    const { by, at, total } = first;
    found.push({ id: `${connection}.${first.id}`, by, at: isoTime(at), total });
  }
  return found;
}
