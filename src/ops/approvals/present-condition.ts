// Corrects the condition of a link by what is stored since its last sync: a decision about a held change, or a new change of a
// dead letter. The link follows with the next sync that completes.
import {
  AWAITING_DECISION,
  isAwaitingDecision,
  isTriedAgain,
  refusalOf,
  type Condition,
} from '../../directory/outbox/link-condition.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { ResourceStatus } from '../../directory/outbox/resource-status.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { wasBehindHold, decisionsOf } from '../../sync/gate.ts';
import { leaving } from '../../sync/group/members.ts';

type PresentStatus = Pick<ResourceStatus, 'blockedSince' | 'guard' | 'mark' | 'pendingMemberships'>;

/**
 * Returns the link with the condition that holds now: held and rejected changes are read from the guard. The refusal of a former
 * dead letter is left out, because the next sync judges the record anew and `dead-letters retry` finds no dead letter. A link that
 * waits behind the held change of another resource is returned as it is: its condition is about that change, of which the guard
 * stores nothing under this resource.
 * @param status of the resource, if the caller has read it
 */
export async function withPresentCondition(
  outbox: Pick<Outbox, 'guardStore' | 'resourceStatus'>,
  ref: Ref,
  link: Link,
  status?: PresentStatus,
): Promise<Link> {
  const { condition, ...rest } = link;
  if (!condition || !mayBeOutdated(link)) return link;
  const present = status ?? (await outbox.resourceStatus(ref));
  if (stillHolds(link, present)) return link;
  const decided = await presentDecisions(outbox, ref, condition, present);
  return decided ? { ...rest, condition: decided } : rest;
}

/** Returns whether a decision, or a new change of a dead letter, may have ended the condition since the last sync. */
const mayBeOutdated = (link: Link): boolean =>
  (isRefusalOfPlatform(link) || AWAITING_DECISION.has(link.condition?.reason ?? '')) && !wasBehindHold(link);

/** Returns whether the condition is a refusal that ended the last sync. A write that is tried again keeps its condition. */
const isRefusalOfPlatform = (link: Link): boolean =>
  refusalOf(link) !== undefined && !isTriedAgain(link.condition);

/**
 * Returns whether the condition holds as it is. A refusal does, while the resource is still a dead letter or no new change has
 * marked it. `LastAdministrator` does, while the closing is held: this condition says more than one that is made from the guard
 * alone.
 */
const stillHolds = (link: Link, present: PresentStatus): boolean =>
  isRefusalOfPlatform(link)
    ? !present.mark || present.blockedSince !== null
    : link.condition?.reason === 'LastAdministrator' && isClosingHeld(present);

/** Returns the condition about the changes that are held or rejected now; undefined: none are. */
async function presentDecisions(
  outbox: Pick<Outbox, 'guardStore'>,
  ref: Ref,
  condition: Condition,
  present: PresentStatus,
): Promise<Condition | undefined> {
  const { guard } = present;
  const refused = guard.flatMap(({ kind, state }) =>
    // A change whose approval expired counts as held until the guard judges it anew.
    state === 'approved' ? [] : [{ item: { kind }, permission: state === 'expired' ? 'held' : state }],
  );
  const members = isAwaitingDecision(condition)
    ? await countUndecidedMembers(outbox, ref, present)
    : { followers: 0, keptLeavers: 0 };
  const { isLeaver, besides: _, ...former } = condition;
  const decisions = decisionsOf(refused, {
    ...members,
    // Used only if changes are held: whether the approval of every held change has expired.
    isExpired: members.followers === 0 && !guard.some(({ state }) => state === 'held'),
    isLeaver: isLeaver === true,
  });
  // `isLeaver` describes a deactivation. `besides` belongs to a refused or ignored write, and only the decisions are left.
  const isOfClosing = isLeaver && refused.some(({ item }) => item.kind === 'deactivate');
  return decisions && { ...former, ...decisions, ...(isOfClosing && { isLeaver: true as const }) };
}

const isClosingHeld = ({ guard }: PresentStatus): boolean =>
  guard.some(({ kind, state }) => kind === 'deactivate' && (state === 'held' || state === 'expired'));

/**
 * Counts the members whom the source removed from a group and whose removal is decided with the deactivation of their account
 * (guard_leavers.lua).
 * @returns `followers`: the deactivation is held, and the removal with it; `keptLeavers`: it was rejected, so the membership stays
 *   with the account; both 0 for a user
 */
export async function countUndecidedMembers(
  { guardStore }: Pick<Outbox, 'guardStore'>,
  ref: Ref,
  { pendingMemberships }: Pick<ResourceStatus, 'pendingMemberships'>,
): Promise<{ followers: number; keptLeavers: number }> {
  const leavers = parseRef(ref).kind === 'Group' ? leaving(pendingMemberships) : [];
  const decisions = await guardStore.decisionsOfMembers(leavers);
  return {
    followers: decisions.filter((decision) => decision === 'follows').length,
    keptLeavers: decisions.filter((decision) => decision === 'rejected').length,
  };
}
