// Converts the result of the guard for an order about held or rejected changes to the outcome that an operator reads.
import { judgedAnew } from '../../directory/guard/operator-hold.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { StoredFirstApproval } from '../../directory/guard/first-approvals.ts';
import type { Decision } from '../../directory/guard/stored-decisions.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { DestructiveKind } from '../../guard/judge.ts';
import { isoTime } from '../../support/sources.ts';
import { findApproval } from './approval-lookup.ts';
import {
  isUndecided,
  toWaitingApproval,
  type Approval,
  type FoundApproval,
  type WaitingApproval,
} from './approvals-at.ts';

/** Result of an order; `items` is the number of changes that it covers. */
export type DecisionOutcome =
  /** The decision is stored. `items` 0: nothing was decided, because no held change fits the selection. */
  | {
      kind: 'decided';
      id: string;
      items: number;
      kinds: Record<DestructiveKind, number>;
      /** Number of changes that are still held at the target. */
      remaining: number;
      /** First approvals that ended with this decision, without the one that it completed. */
      endedFirstApprovals: WaitingApproval[];
    }
  /** The order is the first of two approvals: a second person has to approve `id` before `expiresAt` (ISO 8601). */
  | { kind: 'noted'; id: string; items: number; expiresAt?: string }
  /** A first approval was taken back. */
  | { kind: 'retracted'; id: string; items: number }
  /**
   * Nothing is left for this order: the approval was decided earlier, nothing was rejected that could be withdrawn, or the approval
   * has expired during a hold of the target, and the guard judges its changes again only after the hold.
   */
  | { kind: 'settled'; message: string }
  /**
   * The first approval is this person's own. `by`: the name with which it was given. `isSameIdentity`: both orders came with the
   * same authenticated identity; false: only the names are the same.
   */
  | { kind: 'samePerson'; by: string; isSameIdentity: boolean }
  /** The approval has expired: nothing was decided, and the guard judges its changes again. */
  | { kind: 'expired' }
  /**
   * No approval has the id; the first approval that this order would complete is gone; or nothing of the selection from a
   * rejection is left.
   */
  | { kind: 'unknown' }
  /** Too many first approvals wait at the target. */
  | { kind: 'full' };

/**
 * Returns the outcome of an order as its operator reads it.
 * @param order.id the id that the operator gave; it may lack the last place, which `approval.id` has
 * @param order.decided the result of `decide` (directory/guard/decisions.ts)
 * @param order.firstsBefore the first approvals of the target before the order; none where one approval is enough
 */
export async function decisionOutcomeOf(
  states: readonly DesiredState[],
  { outbox }: FoundApproval,
  order: {
    action: Decision['action'];
    identity: string;
    id: string;
    approval: Approval;
    decided: Awaited<ReturnType<Outbox['guardStore']['decide']>>;
    selectedText: string | undefined;
    firstsBefore: StoredFirstApproval[];
  },
): Promise<DecisionOutcome> {
  const { id, approval, decided, action, selectedText, identity, firstsBefore } = order;
  if (decided.kind === 'noted') {
    // A rejection can still be approved, so the first approval is of held or of rejected changes.
    const source = isUndecided(approval) ? 'guardHeld' : 'guardRejected';
    const noted = await outbox.guardStore.firstApprovals.find(decided.id, source);
    return {
      ...decided,
      id: `${approval.connection}.${decided.id}`,
      // No `expiresAt` if the first approval ended since it was stored.
      ...(noted ? { expiresAt: isoTime(noted.expiresAt) } : {}),
    };
  }
  if (decided.kind === 'unknown' && action === 'withdraw' && isUndecided(approval))
    return { kind: 'settled', message: notRejectedText(approval, selectedText) };
  if (decided.kind === 'unknown' && action === 'withdraw' && selectedText !== undefined)
    return { kind: 'settled', message: notInRejectionText(approval, selectedText) };
  const reachedNothing = decided.kind === 'unknown' || (decided.kind === 'decided' && decided.items === 0);
  // An order with a selection may reach nothing although the list has other changes left. For it the end of the function returns
  // `decided` with 0 items, or `unknown` for a rejection.
  if (reachedNothing && selectedText === undefined) {
    // Another operator may have decided since the list was found.
    const present = isUndecided(approval) ? (await findApproval(states, id))?.approval : approval;
    if (present && !isUndecided(present)) return { kind: 'settled', message: settledText(present, action) };
    if (decided.kind === 'decided')
      return { kind: 'settled', message: `No change of approval ${id} waits any more: nothing was decided.` };
  }
  if (decided.kind === 'samePerson') {
    const { by, identity: other } = decided.first;
    return { kind: 'samePerson', by, isSameIdentity: identity === other };
  }
  if (decided.kind === 'expired' && approval.endOfHold !== undefined) {
    const message = `Approval ${approval.id} has expired, and nothing was decided: ${judgedAnew(approval.endOfHold)}.`;
    return { kind: 'settled', message };
  }
  if (decided.kind !== 'decided') return { kind: decided.kind };
  const { first, ...reached } = decided;
  const remaining = (await outbox.guardStore.open())?.total ?? 0;
  const after = firstsBefore.length === 0 ? [] : await outbox.guardStore.firstApprovals.list();
  const notEnded = new Set([first, ...after].map((each) => each?.field));
  const endedFirstApprovals = firstsBefore
    .filter(({ field }) => !notEnded.has(field))
    .map((each) => toWaitingApproval(approval.connection, each));
  return { ...reached, id: approval.id, remaining, endedFirstApprovals };
}

/** Returns the message of the outcome `settled`: when and by which operator the list was decided. */
function settledText({ id, state, at, by, unwritten }: Approval, action: Decision['action']): string {
  const when = `${at === undefined ? '' : ` at ${at}`}${by === undefined ? '' : ` by ${by}`}`;
  const others =
    unwritten === undefined ? '' : ` Not written: ${unwritten}, see scim-bridge approvals show ${id}.`;
  return `Approval ${id} was ${state}${when}: nothing of it is left to ${action}.${others}`;
}

/** Returns the message of the outcome `settled` for held changes: none of them was rejected. First approvals may wait. */
function notRejectedText(
  { id, state, firstApprovals = [] }: Approval,
  selectedText: string | undefined,
): string {
  const which = selectedText === undefined ? '' : ` (${selectedText})`;
  const firsts = firstApprovals.map((first) => `scim-bridge approvals withdraw ${first.id} (by ${first.by})`);
  return [
    `Approval ${id} ${state === 'expired' ? 'has expired' : 'is held'} and nothing of it was rejected${which}, so there is no rejection to withdraw.`,
    ...(firsts.length > 0 ? [`A first approval is taken back as a whole: ${firsts.join(', ')}.`] : []),
  ].join(' ');
}

/** Returns the message of the outcome `settled` for a rejection without a change that the options select. */
const notInRejectionText = ({ id }: Approval, selectedText: string): string =>
  `Nothing of the rejection ${id} fits (${selectedText}). A part that was rejected alone has an ID of its own: see scim-bridge approvals list --all.`;
