// Lists the changes that the guard holds, and records the decision of an operator about them.
import { judgedAnew } from '../../directory/guard/operator-hold.ts';
import type { Act, Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Decision } from '../../directory/guard/stored-decisions.ts';
import type { StoredFirstApproval } from '../../directory/guard/first-approvals.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { DestructiveKind, GuardSettings } from '../../guard/judge.ts';
import { isoTime } from '../../support/sources.ts';
import { explainLimits, type ExplainedLimit } from './approval-limits.ts';
import {
  approvalsAt,
  findApproval,
  listIdOf,
  readPage,
  selectorOf,
  serialOf,
  withinTarget,
  type Approval,
  type FoundApproval,
} from './approval-lookup.ts';
import { selectionText, UnknownSelection, type ChangeSelection } from './approval-selection.ts';
import { describeChanges, type HeldChange } from './held-change.ts';

/** An approval with one page of its changes. */
export interface ShownApproval extends Approval {
  /** Which limits of the guard hold the changes; empty once the approval is decided. */
  limits: ExplainedLimit[];
  /** Number of persons who have to approve. */
  approvers: number;
  /** Number of changes that match the selection. */
  matching: number;
  items: HeldChange[];
}

/** Result of an order; `items` is the number of changes that it covers. */
export type DecisionOutcome =
  /** The decision is stored. */
  | {
      kind: 'decided';
      id: string;
      items: number;
      kinds: Record<DestructiveKind, number>;
      /** Number of changes that are still held at the target. */
      remaining: number;
    }
  /** The order is the first of two approvals: a second person has to approve `id` before `expiresAt` (ISO 8601). */
  | { kind: 'noted'; id: string; items: number; expiresAt?: string }
  /** A first approval was taken back. */
  | { kind: 'retracted'; id: string; items: number }
  /** The approval was decided earlier, and nothing is left for this order; or nothing was rejected that could be withdrawn. */
  | { kind: 'settled'; message: string }
  /**
   * The first approval is this person's own. `by`: the name with which it was given; `isSameIdentity`: the callers are one by
   * their identity, not by their names.
   */
  | { kind: 'samePerson'; by: string; isSameIdentity: boolean }
  /** The approval has expired: nothing was decided, and the guard judges its changes again. */
  | { kind: 'expired' }
  /**
   * No approval has the id; the first approval that this order would complete is gone; or, with a selection, nothing of it
   * is left for this order.
   */
  | { kind: 'unknown' }
  /** Too many first approvals wait at the target. */
  | { kind: 'full' };

/** The order of an operator. `identity` distinguishes callers where two persons have to approve. */
export interface DecisionOrder extends Actor {
  action: Decision['action'];
  identity: string;
  selection?: ChangeSelection;
}

export interface ChangePage extends ChangeSelection {
  /** Number of changes that are left out at the beginning. */
  offset?: number | undefined;
  /** Largest number of changes. */
  limit: number;
}

/** Returns the present settings of a target; undefined: the settings no longer have it. */
type SettingsOf = (target: string) => { guard: GuardSettings } | undefined;

const approversOf = (settingsOf: SettingsOf, { target }: Approval): number =>
  settingsOf(target)?.guard.approvers ?? 1;

/** Returns the approval; without its first approvals if the present settings let one person decide alone. */
function withPresentFirsts(approval: Approval, settingsOf: SettingsOf): Approval {
  const { firstApprovals: _, ...alone } = approval;
  return approversOf(settingsOf, approval) > 1 ? approval : alone;
}

/** Returns the held changes that wait for a decision, and recent decisions; without the changes themselves. */
export async function listApprovals(
  states: readonly DesiredState[],
  settingsOf: SettingsOf,
): Promise<Approval[]> {
  const found: Approval[] = [];
  for (const state of states)
    for (const [target, outbox] of state.outboxes)
      for (const { approval } of await approvalsAt(state, target, outbox))
        found.push(withPresentFirsts(approval, settingsOf));
  return found;
}

/** Returns one page of an approval; undefined for an unknown id. */
export async function showApproval(
  states: readonly DesiredState[],
  id: string,
  settingsOf: SettingsOf,
  { offset = 0, limit, ...selection }: ChangePage,
): Promise<ShownApproval | undefined> {
  const found = await findApproval(states, id);
  if (!found) return undefined;
  const { approval, state, outbox } = found;
  const { target } = approval;
  const settings = settingsOf(target);
  const { items, matching } = await readPage(found, await selectorOf(found, selection), { offset, limit });
  const described = await describeChanges(state, target, items, approval.at);
  const isHeld = approval.state === 'held';
  return {
    ...withPresentFirsts(approval, settingsOf),
    limits: isHeld && settings ? await explainLimits(state, target, settings.guard) : [],
    approvers: approversOf(settingsOf, approval),
    matching,
    items: isHeld ? await withTimes(outbox, described) : described,
  };
}

/**
 * Returns the number of changes that a decision would reach, and the first of them; undefined for an unknown id.
 * @param most largest number of changes that are returned
 */
export async function previewDecision(
  states: readonly DesiredState[],
  id: string,
  settingsOf: SettingsOf,
  action: Decision['action'],
  selection: ChangeSelection,
  most: number,
): Promise<{ approval: Approval; count: number; items: HeldChange[] } | undefined> {
  const found = await findApproval(states, id);
  if (!found) return undefined;
  const { state, outbox } = found;
  const approval = withPresentFirsts(found.approval, settingsOf);
  const isWhole = selectionText(selection) === undefined;
  const retracted = action === 'withdraw' && isWhole ? await firstOf(found, settingsOf) : undefined;
  // `found` has the list of a first approval. For every other order the action, and the decisions made meanwhile, tell which list
  // the id means now: held changes, or those that are still rejected.
  const listOfFirst = found.first || retracted ? found.list : undefined;
  const list = listOfFirst ?? (await outbox.guardStore.listOf(action, withinTarget(approval)));
  if (!list) return { approval, count: 0, items: [] };
  const select = await selectorOf(found, selection);
  const { items, matching } = await readPage({ ...found, list }, select, { offset: 0, limit: most });
  const described = await describeChanges(state, approval.target, items);
  return { approval, count: matching, items: described };
}

/**
 * Stores a decision about exactly the listed changes, or about a selection of them. Where two persons have to approve, the
 * first approval is noted only.
 * @throws UnknownSelection when no person or group has a given name, or the order selects a part of a first approval
 */
export async function decideApproval(
  states: readonly DesiredState[],
  id: string,
  settingsOf: SettingsOf,
  { action, selection = {}, identity, ...actor }: DecisionOrder,
): Promise<DecisionOutcome> {
  const found = await findApproval(states, id);
  if (!found) return { kind: 'unknown' };
  const { state, outbox, first } = found;
  const approval = withPresentFirsts(found.approval, settingsOf);
  const selectedText = selectionText(selection);
  const needsTwo = approversOf(settingsOf, approval) > 1;
  // The first approval that this order completes.
  const completed = needsTwo && action === 'approve' ? first : undefined;
  if (completed && selectedText !== undefined)
    throw new UnknownSelection(`${id} is a first approval: a second person approves it as a whole.`);
  const recordOf = (act: Act['act'], count: number, ...notes: (string | undefined)[]): Act => {
    const note = [...notes, actor.note].filter(Boolean).join('; ');
    const named = { act, ...actor, target: approval.target, subject: approval.id, count };
    return note === '' ? named : { ...named, note };
  };
  // If a rejection has the same id as a first approval, `withdraw` takes back the first approval, not the rejection: the caller
  // no longer approves the changes, so the order must not let them be written. Without a first approval the decision is withdrawn
  // below.
  const retracted =
    action === 'withdraw' && selectedText === undefined ? await firstOf(found, settingsOf) : undefined;
  if (retracted) {
    // `withdraw` fails when another operator has completed this first approval, or taken it back.
    if (!(await outbox.guardStore.firstApprovals.withdraw(retracted))) return { kind: 'unknown' };
    const note = `the first approval, by ${retracted.by}`;
    await state.acts.record(recordOf('withdraw', retracted.total, note));
    return { kind: 'retracted', id: approval.id, items: retracted.total };
  }
  // The id of the first approval of a selection is the id of the list with `~` and a digest behind it; the decision is about
  // the list. The guard stores ids without the connection.
  const listId = first ? listIdOf(withinTarget(approval)) : withinTarget(approval);
  const decided = await outbox.guardStore.decide(action, listId, actor.by, {
    note: actor.note,
    selection: selectedText ?? first?.selection,
    firstId: completed?.id,
    ...(needsTwo ? { approver: { by: actor.by, identity } } : {}),
    choose: await selectorOf(found, selection),
    // The script stores decision and audit entry together. `firstApproval`: `noted` if this is the first of two, else the first.
    act: (count, firstApproval) =>
      state.acts.toArgs([
        firstApproval === 'noted'
          ? recordOf('approveFirst', count, selectedText)
          : recordOf(
              action,
              count,
              selectedText ?? first?.selection,
              firstApproval && `approved first by ${firstApproval.by}`,
            ),
      ]),
  });
  return outcomeOf(states, found, { id, approval, decided, action, selectedText, identity });
}

/**
 * Returns the outcome of an order as its operator reads it.
 * @param order.id the id that the operator gave; it may lack the last place, which `approval.id` has
 * @param order.decided what the guard has stored
 */
async function outcomeOf(
  states: readonly DesiredState[],
  { outbox }: FoundApproval,
  order: Pick<DecisionOrder, 'action' | 'identity'> & {
    id: string;
    approval: Approval;
    decided: Awaited<ReturnType<Outbox['guardStore']['decide']>>;
    selectedText: string | undefined;
  },
): Promise<DecisionOutcome> {
  const { id, approval, decided, action, selectedText, identity } = order;
  if (decided.kind === 'noted') {
    const source = approval.state === 'held' ? 'guardHeld' : 'guardRejected';
    const noted = await outbox.guardStore.firstApprovals.find(decided.id, source);
    return {
      ...decided,
      id: `${approval.connection}.${decided.id}`,
      // Absent: the first approval ended since it was stored.
      ...(noted ? { expiresAt: isoTime(noted.expiresAt) } : {}),
    };
  }
  // Nothing of a decided list is left for this order. With a selection the list may have other changes left.
  const isSettled = decided.kind === 'unknown' || (decided.kind === 'decided' && decided.items === 0);
  if (decided.kind === 'unknown' && action === 'withdraw' && approval.state === 'held')
    return { kind: 'settled', message: notRejectedText(approval, selectedText) };
  if (decided.kind === 'unknown' && action === 'withdraw' && selectedText !== undefined)
    return { kind: 'settled', message: notInRejectionText(approval, selectedText) };
  if (isSettled && selectedText === undefined) {
    // Another operator may have decided since the list was found.
    const present = approval.state === 'held' ? (await findApproval(states, id))?.approval : approval;
    if (present && present.state !== 'held')
      return { kind: 'settled', message: settledText(present, action) };
    if (decided.kind === 'decided')
      return { kind: 'settled', message: `No change of approval ${id} waits any more: nothing was decided.` };
  }
  if (decided.kind === 'samePerson') {
    const { by, identity: other } = decided.first;
    return { kind: 'samePerson', by, isSameIdentity: identity === other };
  }
  if (decided.kind === 'expired' && approval.endOfHold !== undefined)
    return { kind: 'settled', message: expiredText(approval) };
  if (decided.kind !== 'decided') return { kind: decided.kind };
  const remaining = (await outbox.guardStore.open())?.total ?? 0;
  return { ...decided, id: approval.id, remaining };
}

/** Returns the message of the outcome `settled` for an expired list of a target on hold. */
const expiredText = ({ id, endOfHold }: Approval): string =>
  `Approval ${id} has expired, and nothing was decided: ${judgedAnew(endOfHold)}.`;

/** Returns the message of the outcome `settled`: when and by which operator the list was decided. */
function settledText({ id, state, at, by, unwritten }: Approval, action: Decision['action']): string {
  const when = `${at === undefined ? '' : ` at ${at}`}${by === undefined ? '' : ` by ${by}`}`;
  const others =
    unwritten === undefined ? '' : ` Not written: ${unwritten}, see scim-bridge approvals show ${id}.`;
  return `Approval ${id} was ${state}${when}: nothing of it is left to ${action}.${others}`;
}

/** Returns the message of the outcome `settled` for held changes: none of them was rejected. First approvals may wait. */
function notRejectedText({ id, firstApprovals = [] }: Approval, selectedText: string | undefined): string {
  const which = selectedText === undefined ? '' : ` (${selectedText})`;
  const firsts = firstApprovals.map((first) => `scim-bridge approvals withdraw ${first.id} (by ${first.by})`);
  return [
    `Approval ${id} is held and nothing of it was rejected${which}, so there is no rejection to withdraw.`,
    ...(firsts.length > 0 ? [`A first approval is taken back as a whole: ${firsts.join(', ')}.`] : []),
  ].join(' ');
}

/** Returns the message of the outcome `settled` for a rejection without a change that the options select. */
const notInRejectionText = ({ id }: Approval, selectedText: string): string =>
  `Nothing of the rejection ${id} fits (${selectedText}). A part that was rejected alone has an ID of its own: see scim-bridge approvals list --all.`;

/** Returns the ids of the rejections of the same approval that are in force. */
export async function rejectionsInForce(
  states: readonly DesiredState[],
  { id }: Approval,
  settingsOf: SettingsOf,
): Promise<string[]> {
  const all = await listApprovals(states, settingsOf);
  return all.flatMap((each) =>
    serialOf(each.id) === serialOf(id) && (each.stillRejected ?? 0) > 0 ? [each.id] : [],
  );
}

/** Returns the first approval with the id of an approval; undefined: there is none, or the present settings let one person decide. */
async function firstOf(
  { approval, outbox, first }: FoundApproval,
  settingsOf: SettingsOf,
): Promise<StoredFirstApproval | undefined> {
  if (approversOf(settingsOf, approval) < 2) return undefined;
  const source = approval.state === 'held' ? 'guardHeld' : 'guardRejected';
  return first ?? outbox.guardStore.firstApprovals.find(withinTarget(approval), source);
}

/** Adds to each change of a page the time since when its resource differs. */
const withTimes = async ({ exceptionOf }: Outbox, items: HeldChange[]): Promise<HeldChange[]> =>
  Promise.all(
    items.map(async (item) => {
      const exception = await exceptionOf(item.ref);
      return exception ? { ...item, since: isoTime(exception.since) } : item;
    }),
  );
