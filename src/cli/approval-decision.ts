// Decides about held changes by order of an operator: shows the changes and asks, stores the decision, and prints what follows from
// it. If two persons have to approve, the approval of the first is only noted until a second person approves the same changes.
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { judgedAnew } from '../directory/guard/operator-hold.ts';
import type { Decision } from '../directory/guard/stored-decisions.ts';
import { isHeldByFormerSettings } from '../directory/outbox/condition-text.ts';
import type { Ref } from '../directory/records.ts';
import { decideApproval, previewDecision, rejectionsInForce } from '../ops/approvals/approvals.ts';
import type { Approval } from '../ops/approvals/approvals-at.ts';
import type { DecisionOutcome } from '../ops/approvals/decision-outcome.ts';
import type { HeldChange } from '../ops/approvals/held-change.ts';
import { counted } from '../support/counted.ts';
import { LISTED_THEN, selectionOf, unknownApproval, type SelectionFlags } from './approval-choice.ts';
import {
  SHOWN_CHANGES,
  groupsToDelete,
  heldAgainText,
  isSomeHeld,
  lastAdministrators,
} from './approval-consequences.ts';
import { approvalCounts, printApproval, printChanges } from './approval-view.ts';
import type { Cli } from './cli.ts';
import { confirm } from './confirm.ts';
import { actorOf, type OperatorFlags } from './operator.ts';
import { say, sayJson } from './output.ts';

/** The order as the operator typed it: action, id of the approval, and flags. */
interface TypedOrder {
  action: Decision['action'];
  id: string;
  flags: OperatorFlags & SelectionFlags & { yes?: boolean; json?: boolean };
  config: Config;
  cli: Cli;
}

/** Facts that are read before the decision, because the text about its consequences needs them afterwards. */
interface BeforeDecision {
  approval: Approval;
  /** The first of the changes that the order is about. */
  items: readonly HeldChange[];
  /** Names of the last administrators whose deactivation is approved. */
  administrators: readonly string[];
  /** Groups whose deletion is approved. */
  deletedGroups: readonly Ref[];
}

export async function decideByCommand(states: DesiredState[], typed: TypedOrder): Promise<void> {
  const { action, id, flags, config, cli } = typed;
  const selection = selectionOf(flags);
  const settingsOf = (target: string) => config.targets[target];
  const preview = await previewDecision(states, id, settingsOf, action, selection, SHOWN_CHANGES);
  if (!preview) throw await unknownApproval(states, id);
  const { approval, count, items } = preview;
  await confirm(flags, `Really ${action} ${count} of ${id}?`, {
    show: () => {
      printApproval(approval);
      printChanges(items);
      if (count > items.length) say(`  … and ${count - items.length} more`);
    },
  });
  const actor = actorOf(cli, flags);
  const isApproval = action === 'approve';
  const administrators = isApproval ? await lastAdministrators(states, approval, settingsOf, selection) : [];
  const deletedGroups = isApproval ? await groupsToDelete(states, approval, settingsOf, selection) : [];
  // By `identity`, `isSamePerson` (first-approvals.ts) sees whether two approvals come from one person.
  const order = { ...actor, identity: `command ${actor.by}`, action, selection };
  // `approval.id` is the id of the approval that was shown. It covers no change that the guard has held since then.
  const decided = await decideApproval(states, approval.id, settingsOf, order);
  if (decided.kind === 'settled') throw new Error(decided.message);
  // A result without an id means that the order was not carried out; `refusal` says why.
  if (!('id' in decided))
    throw decided.kind === 'unknown' ? await unknownApproval(states, id) : refusal(decided.kind, id);
  const { kind: outcome, ...rest } = decided;
  if (flags.json) sayJson({ ...rest, outcome, action, by: actor.by });
  else if (decided.kind === 'noted') say(notedText(decided, actor.by));
  else if (decided.kind === 'retracted')
    say(
      `Withdrawn: the first approval of ${decided.id}.${approval.state === 'rejected' ? ' The changes stay rejected.' : ''}`,
    );
  else await sayDecided(states, typed, { approval, items, administrators, deletedGroups }, decided);
  // Exit code 1: nothing was decided. 2: the guard may hold the approved deactivation of a last administrator again.
  if (decided.items === 0) cli.exit(1);
  else if (decided.kind === 'decided' && administrators.length > 0) cli.exit(2);
}

function refusal(kind: 'expired' | 'samePerson' | 'full', id: string): Error {
  const says = {
    expired: `Approval ${id} has expired, and nothing was decided: ${judgedAnew(undefined)}. ${LISTED_THEN}.`,
    samePerson: `You have approved ${id} already: another person has to approve it too.`,
    full: `The approval of ${id} was not stored: too many first approvals of its target wait for a second person. Approve some of them as that person, or take some back with scim-bridge approvals withdraw: scim-bridge approvals list shows their ids.`,
  };
  return new Error(says[kind]);
}

/** Returns the sentences about the first of two approvals. */
function notedText(
  { id, items, expiresAt }: Extract<DecisionOutcome, { kind: 'noted' }>,
  by: string,
): string {
  const end = expiresAt === undefined ? '' : `: the first approval ends at ${expiresAt}`;
  return `Noted: the first approval of ${counted(items, 'change')}, by ${by}. Nothing is written before a second person approves ${id}${end}.`;
}

const DONE = { approve: 'Approved', reject: 'Rejected', withdraw: 'Withdrawn' };

/** Prints how many changes were decided, and what follows from the decision. */
async function sayDecided(
  states: DesiredState[],
  { action, id, config }: TypedOrder,
  { approval, items, administrators, deletedGroups }: BeforeDecision,
  decided: Extract<DecisionOutcome, { kind: 'decided' }>,
): Promise<void> {
  const settingsOf = (target: string) => config.targets[target];
  const isApproval = action === 'approve';
  const what = decided.items === 0 ? 'no change of this list fits' : approvalCounts(decided);
  say(`${DONE[action]}: ${decided.items} of ${id} (${what}).`);
  say(afterwards(action, decided, approval.target));
  if (isApproval && decided.items > 0 && decided.endOfHold !== undefined)
    say(`Nothing is written before the end of the hold of the target: ${decided.endOfHold}.`);
  const rejected = action === 'withdraw' ? await rejectionsInForce(states, approval, settingsOf) : [];
  if (isApproval && items.some(({ reason }) => isHeldByFormerSettings(reason)))
    say(
      'The settings have changed since the guard held some of these changes: a change that the present settings do not want is not written.',
    );
  if (rejected.length > 0) say(`Still rejected: ${rejected.join(', ')}.`);
  for (const { by, total } of decided.endedFirstApprovals)
    say(`The first approval of ${counted(total, 'change')}, by ${by}, ended with this decision.`);
  for (const name of administrators) say(heldAgainText(name));
  if (await isSomeHeld(states, approval, deletedGroups))
    say(
      'A group is deleted only after the removals of all its members are approved: see scim-bridge approvals list.',
    );
}

/** Returns a sentence about what is held after a decision. Soon after `withdraw` the guard may hold the changes again. */
function afterwards(
  action: Decision['action'],
  { items, remaining, endOfHold }: Extract<DecisionOutcome, { kind: 'decided' }>,
  target: string,
): string {
  if (action === 'withdraw' && items > 0) {
    const when = endOfHold === undefined ? '' : ` after the end of the hold of the target: ${endOfHold}`;
    const then = endOfHold === undefined ? ': what' : '. What';
    return `The guard judges ${items === 1 ? 'it' : 'them'} anew${when}${then} fits its limits is written, and scim-bridge approvals list shows what it holds then.`;
  }
  if (remaining === 0) return `No more changes are held at ${target}.`;
  return `${counted(remaining, 'change')} ${remaining === 1 ? 'is' : 'are'} still held at ${target}.`;
}
