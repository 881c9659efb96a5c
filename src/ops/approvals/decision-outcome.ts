// Converts the result of the guard for an order about held or rejected changes to the outcome that an operator reads.
import { holdAdvice, judgedAnew } from '../../directory/guard/operator-hold.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Decided } from '../../directory/guard/decisions.ts';
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
      /** How the hold of the target ends, before which no change is written or judged anew; absent: no hold. */
      endOfHold?: string;
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
   * The same person gave the first approval, so somebody else has to approve. `by`: name of this first approver. `isSameIdentity`:
   * both orders came with the same authenticated identity; false: only the names are the same.
   */
  | { kind: 'samePerson'; by: string; isSameIdentity: boolean }
  /** The approval has expired: nothing was decided, and the guard judges its changes again. */
  | { kind: 'expired' }
  /**
   * No approval has the id; the first approval that this order would complete is gone; or the order selects changes of a rejection,
   * and none of them is rejected any more.
   */
  | { kind: 'unknown' }
  /** Too many first approvals wait at the target. */
  | { kind: 'full' };

/** An order with the approval that it is about. */
interface GivenOrder {
  action: Decision['action'];
  identity: string;
  /** The id that the operator gave; it may lack the last place, which `approval.id` has. */
  id: string;
  approval: Approval;
  /** The selection in words; undefined: the order is about the whole list. */
  selectedText: string | undefined;
  /** First approvals of the target before the order; none where one approval is enough. */
  firstsBefore: StoredFirstApproval[];
}

/** Returns the outcome of an order as its operator reads it. */
export async function decisionOutcomeOf(
  states: readonly DesiredState[],
  { outbox }: FoundApproval,
  { decided, ...order }: GivenOrder & { decided: Decided },
): Promise<DecisionOutcome> {
  const { approval, identity } = order;
  switch (decided.kind) {
    case 'noted':
      return notedOutcome(outbox, approval, decided);
    case 'unknown':
      return (await whyNothingReached(states, order)) ?? { kind: 'unknown' };
    case 'decided': {
      const reachedNothing = decided.items === 0 && order.selectedText === undefined;
      if (!reachedNothing) return decidedOutcome(outbox, order, decided);
      const message = `No change of approval ${order.id} waits any more: nothing was decided.`;
      return (await decidedEarlier(states, order)) ?? { kind: 'settled', message };
    }
    case 'samePerson': {
      const { by, identity: other } = decided.first;
      return { kind: 'samePerson', by, isSameIdentity: identity === other };
    }
    case 'expired': {
      if (approval.endOfHold === undefined) return { kind: 'expired' };
      const message = `Approval ${approval.id} has expired, and nothing was decided: ${judgedAnew(approval.endOfHold)}.`;
      return { kind: 'settled', message };
    }
    case 'full':
      return { kind: 'full' };
  }
}

/** Returns the outcome of the first of two approvals. */
async function notedOutcome(
  { guardStore }: Outbox,
  approval: Approval,
  decided: Extract<Decided, { kind: 'noted' }>,
): Promise<DecisionOutcome> {
  // A rejection can still be approved, so the first approval is of held or of rejected changes.
  const source = isUndecided(approval) ? 'guardHeld' : 'guardRejected';
  const noted = await guardStore.firstApprovals.find(decided.id, source);
  return {
    ...decided,
    id: `${approval.connection}.${decided.id}`,
    // No `expiresAt` if the first approval ended since it was stored.
    ...(noted ? { expiresAt: isoTime(noted.expiresAt) } : {}),
  };
}

/** Returns the outcome of a decision that is stored, with what is still held and the first approvals that ended with it. */
async function decidedOutcome(
  { guardStore }: Outbox,
  { approval, firstsBefore }: GivenOrder,
  { first, ...reached }: Extract<Decided, { kind: 'decided' }>,
): Promise<DecisionOutcome> {
  const remaining = (await guardStore.open())?.total ?? 0;
  const after = firstsBefore.length === 0 ? [] : await guardStore.firstApprovals.list();
  const notEnded = new Set([first, ...after].map((each) => each?.field));
  const endedFirstApprovals = firstsBefore
    .filter(({ field }) => !notEnded.has(field))
    .map((each) => toWaitingApproval(approval.connection, each));
  const hold = await guardStore.onHold();
  const endOfHold = hold ? { endOfHold: holdAdvice(approval.target, hold) } : {};
  return { ...reached, id: approval.id, remaining, endedFirstApprovals, ...endOfHold };
}

/** Returns why the guard found nothing for an order; undefined: nothing more is known. */
async function whyNothingReached(
  states: readonly DesiredState[],
  order: GivenOrder,
): Promise<DecisionOutcome | undefined> {
  const { action, approval, selectedText } = order;
  if (action === 'withdraw' && isUndecided(approval))
    return { kind: 'settled', message: notRejectedText(approval, selectedText) };
  if (action === 'withdraw' && selectedText !== undefined)
    return { kind: 'settled', message: notInRejectionText(approval, selectedText) };
  // An order with a selection may reach nothing although the list has other changes left.
  return selectedText === undefined ? decidedEarlier(states, order) : undefined;
}

/** Returns the outcome `settled` if the list was decided, also by another operator since it was found; undefined: it was not. */
async function decidedEarlier(
  states: readonly DesiredState[],
  { action, approval, id }: GivenOrder,
): Promise<DecisionOutcome | undefined> {
  const present = isUndecided(approval) ? (await findApproval(states, id))?.approval : approval;
  return present && !isUndecided(present)
    ? { kind: 'settled', message: settledText(present, action) }
    : undefined;
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
