// Lists the changes that the guard holds, and records the decision of an operator about them. Where two persons have to approve, a
// first approval is stored, and a second person completes it by its id.
import type { Act, Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Decision } from '../../directory/guard/stored-decisions.ts';
import type { StoredFirstApproval } from '../../directory/guard/first-approvals.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { GuardSettings } from '../../guard/judge.ts';
import { isoTime } from '../../support/sources.ts';
import { explainLimits, type ExplainedLimit } from './approval-limits.ts';
import { isSameApproval, listIdOf, withinTarget } from './approval-id.ts';
import { findApproval } from './approval-lookup.ts';
import { readPage, selectorOf } from './approval-pages.ts';
import { selectionText, UnknownSelection, type ChangeSelection } from './approval-selection.ts';
import { approvalsAt, isUndecided, type Approval, type FoundApproval } from './approvals-at.ts';
import { decisionOutcomeOf, type DecisionOutcome } from './decision-outcome.ts';
import { describeChanges, type HeldChange } from './held-change.ts';
import { withRestoredNote } from './restored-note.ts';

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

/** The order of an operator. `identity` distinguishes callers where two persons have to approve. */
interface DecisionOrder extends Actor {
  action: Decision['action'];
  identity: string;
  selection?: ChangeSelection;
}

interface ChangePage extends ChangeSelection {
  /** Number of changes that are left out at the beginning. */
  offset?: number | undefined;
  /** Largest number of changes. */
  limit: number;
}

/** Returns the present settings of a target; undefined: the settings no longer have it. */
type SettingsOf = (target: string) => { guard: GuardSettings } | undefined;

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
  const isHeld = isUndecided(approval);
  return {
    ...withPresentFirsts(approval, settingsOf),
    limits: isHeld && settings ? await explainLimits(state, target, settings.guard) : [],
    approvers: approversOf(settingsOf, approval),
    matching,
    items: isHeld
      ? await withRestoredNote(state, target, await withTimes(outbox, described), undefined)
      : await withHeldAgain(found, described),
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
  // If the id is that of a first approval, or the order withdraws one, `found` has its list. Else the id may mean held changes or
  // changes that are still rejected: `listOf` decides by the action, and by the decisions made meanwhile.
  const listOfFirst = found.first || retracted ? found.list : undefined;
  const list = listOfFirst ?? (await outbox.guardStore.listOf(action, withinTarget(approval)));
  if (!list) return { approval, count: 0, items: [] };
  const select = await selectorOf(found, selection);
  const { items, matching } = await readPage({ ...found, list }, select, { offset: 0, limit: most });
  const described = await describeChanges(state, approval.target, items);
  const noted =
    action === 'approve' ? await withRestoredNote(state, approval.target, described, approval.at) : described;
  return { approval, count: matching, items: noted };
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
  // A first approval of rejected changes has the id of their rejection. `withdraw` takes back only the first approval: if the
  // rejection ended too, the guard could allow the changes. Without a first approval, `decide` below withdraws the rejection.
  const retracted =
    action === 'withdraw' && selectedText === undefined ? await firstOf(found, settingsOf) : undefined;
  if (retracted) return withdrawFirst(found, approval, retracted, actor);
  const firstsBefore = needsTwo ? await outbox.guardStore.firstApprovals.list() : [];
  // The id of a first approval may be that of a part of a list; the decision is about the list (approval-id.ts).
  const listId = first ? listIdOf(withinTarget(approval)) : withinTarget(approval);
  const text = selectedText ?? first?.selection;
  const decided = await outbox.guardStore.decide(action, listId, actor.by, {
    note: actor.note,
    selection: text,
    firstId: completed?.id,
    ...(needsTwo ? { approver: { by: actor.by, identity } } : {}),
    choose: await selectorOf(found, selection),
    // The script stores decision and audit entry together. `firstApproval`: `noted` if this order is the first of two approvals;
    // else the approval that the other person gave first, if there is one.
    act: (count, firstApproval) =>
      state.acts.toArgs([
        firstApproval === 'noted'
          ? toAct(approval, actor, { act: 'approveFirst', count, notes: [selectedText] })
          : toAct(approval, actor, {
              act: action,
              count,
              notes: [text, firstApproval && `approved first by ${firstApproval.by}`],
            }),
      ]),
  });
  const order = { id, approval, decided, action, selectedText, identity, firstsBefore };
  return decisionOutcomeOf(states, found, order);
}

/** Takes a first approval back. Fails as `unknown` when another operator has completed it, or taken it back. */
async function withdrawFirst(
  { state, outbox }: FoundApproval,
  approval: Approval,
  first: StoredFirstApproval,
  actor: Actor,
): Promise<DecisionOutcome> {
  if (!(await outbox.guardStore.firstApprovals.withdraw(first))) return { kind: 'unknown' };
  const notes = [`the first approval, by ${first.by}`];
  await state.acts.record(toAct(approval, actor, { act: 'withdraw', count: first.total, notes }));
  return { kind: 'retracted', id: approval.id, items: first.total };
}

/** Returns the audit entry of an order. @param order.notes beginning of its note, before the operator's own; undefined: left out */
function toAct(
  { target, id }: Approval,
  actor: Actor,
  { act, count, notes }: { act: Act['act']; count: number; notes: (string | undefined)[] },
): Act {
  const note = [...notes, actor.note].filter(Boolean).join('; ');
  const entry = { act, ...actor, target, subject: id, count };
  return note === '' ? entry : { ...entry, note };
}

/** Returns the ids of the rejections of an approval that are in force. */
export async function rejectionsInForce(
  states: readonly DesiredState[],
  { id }: Approval,
  settingsOf: SettingsOf,
): Promise<string[]> {
  const all = await listApprovals(states, settingsOf);
  return all.flatMap((each) =>
    isSameApproval(each.id, id) && (each.stillRejected ?? 0) > 0 ? [each.id] : [],
  );
}

const approversOf = (settingsOf: SettingsOf, { target }: Approval): number =>
  settingsOf(target)?.guard.approvers ?? 1;

/** Returns the approval; without its first approvals if the present settings let one person decide alone. */
function withPresentFirsts(approval: Approval, settingsOf: SettingsOf): Approval {
  const { firstApprovals: _, ...alone } = approval;
  return approversOf(settingsOf, approval) > 1 ? approval : alone;
}

/**
 * Returns the first approval with the id of an approval; undefined: there is none, or the present settings let one person decide.
 */
async function firstOf(
  { approval, outbox, first }: FoundApproval,
  settingsOf: SettingsOf,
): Promise<StoredFirstApproval | undefined> {
  if (approversOf(settingsOf, approval) < 2) return undefined;
  const source = isUndecided(approval) ? 'guardHeld' : 'guardRejected';
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

/** Adds the new approval to the reason of each decided change that the guard holds again, as that of a last administrator. */
async function withHeldAgain(
  { outbox, approval }: FoundApproval,
  items: HeldChange[],
): Promise<HeldChange[]> {
  const [open, verdicts] = await Promise.all([outbox.guardStore.open(), outbox.guardStore.verdictsOn(items)]);
  if (!open) return items;
  const present = `the guard holds it again: scim-bridge approvals show ${approval.connection}.${open.id}`;
  return items.map((item, index) =>
    verdicts[index] === 'held' ? { ...item, reason: `${item.reason}; ${present}` } : item,
  );
}
