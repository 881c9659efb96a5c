// Corrects the condition of a link by what is stored since its last sync: a decision about a held change, or a new change of a
// dead letter. The link follows with the next sync that completes.
import {
  DECIDABLE,
  isAwaitingDecision,
  isTriedAgain,
  refusalOf,
  type Condition,
} from '../../directory/outbox/link-condition.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { ResourceStatus } from '../../directory/outbox/resource-status.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { wasBehindHold } from '../../sync/gate.ts';
import { decisionsOf } from '../../sync/decision-text.ts';

/**
 * Returns the link with the condition that holds now: what the guard holds, or a person rejected, is read from the guard. The
 * refusal of a former dead letter is left out, because the next sync judges the record anew and `dead-letters retry` finds no
 * dead letter. A link that waits behind the held change of another resource is returned as it is.
 * @param status of the resource, if the caller has read it
 */
export async function withPresentCondition(
  outbox: Pick<Outbox, 'guardStore' | 'resourceStatus'>,
  ref: Ref,
  link: Link,
  status?: Pick<ResourceStatus, 'blockedSince' | 'guard' | 'mark' | 'pendingMemberships'>,
): Promise<Link> {
  const { condition, ...rest } = link;
  // A write that is tried again has a mark, to which its condition belongs.
  const isRefusal = refusalOf(link) !== undefined && !isTriedAgain(condition);
  if (!condition || !(isRefusal || DECIDABLE.has(condition.reason))) return link;
  // It waits for the decision about another resource, which is not read here.
  if (wasBehindHold(link)) return link;
  const { blockedSince, guard, mark, pendingMemberships } = status ?? (await outbox.resourceStatus(ref));
  // The resource is still a dead letter, or nothing changed since: the refusal stands.
  if (isRefusal && (!mark || blockedSince !== null)) return link;
  const isClosingHeld = guard.some(({ kind, state }) => kind === 'deactivate' && state === 'held');
  // `Held` would be less exact than this reason.
  if (condition.reason === 'LastAdministrator' && isClosingHeld) return link;
  const heldOrRejected = guard.flatMap(({ kind, state }) =>
    state === 'approved' ? [] : [{ item: { kind }, permission: state }],
  );
  // A member leaves the group when the account is closed: later if the deactivation is held (`follows`), never if it was
  // `rejected`.
  const leaving =
    parseRef(ref).kind === 'Group' && isAwaitingDecision(condition)
      ? [...pendingMemberships].flatMap(([user, sign]) => (sign === '+' ? [] : [user]))
      : [];
  const found = await outbox.guardStore.decisionsOfMembers(leaving);
  const decisions = decisionsOf(heldOrRejected, {
    followers: found.filter((decision) => decision === 'follows').length,
    keptLeavers: found.filter((decision) => decision === 'rejected').length,
    isLeaver: condition.isLeaver === true,
  });
  // Without a held or rejected change no condition is left.
  if (!decisions) return rest;
  // `besides` belongs to a refused or ignored write, and only the decisions are left.
  const { besides: _, ...withoutBesides } = condition;
  const present: Condition = { ...withoutBesides, ...decisions };
  // `isLeaver` describes a held or rejected deactivation, so it goes when there is none.
  if (guard.every(({ kind, state }) => kind !== 'deactivate' || state === 'approved'))
    delete present.isLeaver;
  return { ...rest, condition: present };
}
