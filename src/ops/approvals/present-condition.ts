// Corrects the condition of a link by the guard: a decision ends or changes it at once, the link only with the next sync.
import type { Condition, Link } from '../../directory/outbox/links.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { ResourceStatus } from '../../directory/outbox/resource-status.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { decisionsOf, wasBehindHold } from '../../sync/gate.ts';

/** Reasons of conditions that a decision of an operator ends. */
const DECIDABLE: ReadonlySet<string> = new Set(['Held', 'LastAdministrator', 'Rejected']);

/**
 * Returns the link with the condition that holds now: what the guard holds, or a person rejected, is read from the guard. A
 * link that waits behind the held change of another resource is returned as it is.
 * @param status of the resource, if the caller has read it
 */
export async function withPresentCondition(
  outbox: Pick<Outbox, 'guardStore' | 'resourceStatus'>,
  ref: Ref,
  link: Link,
  status?: Pick<ResourceStatus, 'guard' | 'pendingMemberships'>,
): Promise<Link> {
  const { condition, ...rest } = link;
  if (!condition || !DECIDABLE.has(condition.reason) || wasBehindHold(link)) return link;
  const { guard, pendingMemberships } = status ?? (await outbox.resourceStatus(ref));
  const isClosingHeld = guard.some(({ kind, state }) => kind === 'deactivate' && state === 'held');
  if (condition.reason === 'LastAdministrator' && isClosingHeld) return link;
  const refused = guard.flatMap(({ kind, state }) =>
    state === 'approved' ? [] : [{ item: { kind }, permission: state }],
  );
  // A group also waits for the held deactivation of a member.
  const leaving =
    parseRef(ref).kind === 'Group' && condition.reason === 'Held'
      ? [...pendingMemberships].flatMap(([user, sign]) => (sign === '-' ? [user] : []))
      : [];
  const found = await outbox.guardStore.decisionsOfMembers(leaving);
  const followers = found.filter((decision) => decision === 'follows').length;
  const decisions = decisionsOf(refused, { followers, isLeaver: condition.isLeaver === true });
  if (!decisions) return rest;
  const present: Condition = { ...condition, ...decisions };
  // `isLeaver` is about a held or rejected deactivation. Other changes neither delay nor prevent the deletion of the account.
  if (guard.every(({ kind, state }) => kind !== 'deactivate' || state === 'approved'))
    delete present.isLeaver;
  return { ...rest, condition: present };
}
