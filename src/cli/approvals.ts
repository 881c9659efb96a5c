// Defines the command approvals, which lists the changes that the guard holds and decides about them.
import { Option, type Command } from 'commander';
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Decision } from '../directory/guard/stored-decisions.ts';
import { judgedAnew } from '../directory/guard/operator-hold.ts';
import { isHeldByFormerSettings } from '../directory/outbox/condition-text.ts';
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../guard/judge.ts';
import {
  decideApproval,
  listApprovals,
  previewDecision,
  rejectionsInForce,
  showApproval,
} from '../ops/approvals/approvals.ts';
import { presentApprovalId } from '../ops/approvals/approval-lookup.ts';
import { isUndecided, type Approval } from '../ops/approvals/approvals-at.ts';
import type { ChangeSelection } from '../ops/approvals/approval-selection.ts';
import type { DecisionOutcome } from '../ops/approvals/decision-outcome.ts';
import { HELD_CAUSES, type HeldCause } from '../ops/approvals/held-change.ts';
import { counted } from '../support/counted.ts';
import {
  SHOWN_CHANGES,
  MOST_CHANGES,
  groupsToDelete,
  heldAgainText,
  isSomeByFormerSettings,
  isSomeHeld,
  lastAdministrators,
} from './approval-consequences.ts';
import { readConfig, type Cli } from './cli.ts';
import { complainLostData } from './lost-data.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import {
  approvalCounts,
  expiryText,
  firstText,
  printApproval,
  printChanges,
  stillRejectedText,
  unwrittenText,
} from './approval-view.ts';
import { confirm } from './confirm.ts';
import { withStore } from './store.ts';
import { complain, say, sayJson } from './output.ts';
import { toWhole } from './whole-number.ts';

interface SelectionFlags {
  ref?: string[];
  person?: string[];
  kind?: DestructiveKind[];
  cause?: HeldCause[];
  group?: string[];
}

interface Flags extends OperatorFlags, SelectionFlags {
  json?: boolean;
  all?: boolean;
  yes?: boolean;
  limit: number;
  offset: number;
}

/** Number of changes that show prints without --limit. */
const DEFAULT_LIMIT = 100;
const MOST_OFFSET = 1e9;

export function approvalsCommand(program: Command, cli: Cli): void {
  const group = program.command('approvals').description('what the guard holds, and decisions about it');

  group
    .command('list')
    .description('what nobody has decided; with --all what was decided lately')
    .option('--all', 'decided approvals too')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      const settingsOf = (target: string) => config.targets[target];
      await withStore(config, async (states, { readFleet }) => {
        await complainLostData(readFleet);
        const all = await listApprovals(states, settingsOf);
        const found = all.filter((approval) => flags.all || isUndecided(approval));
        if (flags.json) return sayJson(found);
        if (found.length === 0) say('The guard holds nothing.');
        for (const approval of found) {
          say(`${approval.id}  ${approval.state}  ${approvalCounts(approval)}  ${dates(approval)}`);
          for (const first of approval.firstApprovals ?? []) say(`  ${firstText(first)}`);
          if (await isSomeByFormerSettings(states, approval, settingsOf))
            say(
              `  the settings have changed since the guard held some of these changes: scim-bridge approvals show ${approval.id} names them`,
            );
        }
      });
    });

  withSelection(group.command('show <id>'))
    .description('which limit holds an approval, and its changes with name, mail and reason')
    .option('--limit <count>', 'at most this many changes', toWhole(1, MOST_CHANGES), DEFAULT_LIMIT)
    .option('--offset <count>', 'leave out so many at the beginning', toWhole(0, MOST_OFFSET), 0)
    .addOption(new Option('--all', 'every change; only without --json').conflicts(['json', 'limit']))
    .option('--json', 'print as JSON')
    .action(async (id: string, flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      await withStore(config, async (states) => {
        const limit = flags.all ? MOST_CHANGES : flags.limit;
        const read = async (offset: number) => {
          const page = { ...selectionOf(flags), offset, limit };
          const shown = await showApproval(states, id, (target) => config.targets[target], page);
          if (!shown) throw await unknownApproval(states, id);
          return shown;
        };
        const first = await read(flags.offset);
        if (flags.json) return sayJson(first);
        printApproval(first);
        let kind = printChanges(first.items);
        let next = flags.offset + first.items.length;
        while (flags.all && next < first.matching) {
          const { items } = await read(next);
          // The rest was decided since the first read.
          if (items.length === 0) break;
          kind = printChanges(items, kind);
          next += items.length;
        }
        // A decided approval keeps its first changes only.
        if (next < first.matching && first.items.length > 0)
          complain(
            isUndecided(first)
              ? `${first.matching - next} more: --offset ${next} shows the next, --all everything.`
              : `${first.matching - next} more are not kept.`,
          );
      });
    });

  decision('approve', 'carry out exactly what the approval lists, or the selected part');
  decision('reject', 'leave what the list contains as it is, until the source takes the change back');
  decision('withdraw', 'take a rejection back, so that the guard judges its changes anew');

  function decision(action: Decision['action'], description: string): void {
    withSelection(withOperator(group.command(`${action} <id>`)))
      .description(description)
      .option('--yes', 'do not ask; needed without a terminal')
      .option('--json', 'print as JSON')
      .action(async (id: string, flags: Flags, command: Command) => {
        const config = readConfig(command, cli);
        await withStore(config, (states) => decide(states, { action, id, flags, config, cli }));
      });
  }
}

interface TypedOrder {
  action: Decision['action'];
  id: string;
  flags: Flags;
  config: Config;
  cli: Cli;
}

async function decide(states: DesiredState[], { action, id, flags, config, cli }: TypedOrder): Promise<void> {
  const selection = selectionOf(flags);
  const settingsOf = (target: string) => config.targets[target];
  const preview = await previewDecision(states, id, settingsOf, action, selection, SHOWN_CHANGES);
  if (!preview) throw await unknownApproval(states, id);
  const { approval, count, items } = preview;
  await confirm(flags, `Really ${action} ${count} of ${id}?`, () => {
    printApproval(approval);
    printChanges(items);
    if (count > items.length) say(`  … and ${count - items.length} more`);
  });
  const actor = actorOf(cli, flags);
  const isApproval = action === 'approve';
  const administrators = isApproval ? await lastAdministrators(states, approval, settingsOf, selection) : [];
  const deletedGroups = isApproval ? await groupsToDelete(states, approval, settingsOf, selection) : [];
  // The id of the approval that was shown covers no change that came since. `identity` tells two approvers apart.
  const order = { ...actor, identity: `command ${actor.by}`, action, selection };
  const decided = await decideApproval(states, approval.id, settingsOf, order);
  if (decided.kind === 'settled') throw new Error(decided.message);
  // Only an order that was carried out has an id; `refusal` says why another one was not.
  if (!('id' in decided))
    throw decided.kind === 'unknown' ? await unknownApproval(states, id) : refusal(decided.kind, id);
  const { kind: outcome, ...rest } = decided;
  if (flags.json) sayJson({ ...rest, outcome, action, by: actor.by });
  else if (decided.kind === 'noted') say(notedText(decided, actor.by));
  else if (decided.kind === 'retracted')
    say(
      `Withdrawn: the first approval of ${decided.id}.${approval.state === 'rejected' ? ' The changes stay rejected.' : ''}`,
    );
  else {
    const what = decided.items === 0 ? 'no change of this list fits' : approvalCounts(decided);
    say(`${DONE[action]}: ${decided.items} of ${id} (${what}).`);
    say(afterwards(action, decided.items, decided.remaining, approval.target));
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
  // 1: nothing was decided. 2: the guard may hold an approved deactivation again.
  if (decided.items === 0) cli.exit(1);
  else if (decided.kind === 'decided' && administrators.length > 0) cli.exit(2);
}

/** Returns the sentences about the first of two approvals. */
function notedText(
  { id, items, expiresAt }: Extract<DecisionOutcome, { kind: 'noted' }>,
  by: string,
): string {
  const end = expiresAt === undefined ? '' : `: the first approval ends at ${expiresAt}`;
  return `Noted: the first approval of ${counted(items, 'change')}, by ${by}. Nothing is written before a second person approves ${id}${end}.`;
}

/** Returns a sentence about what is held after a decision. Soon after `withdraw` the guard may hold the changes again. */
function afterwards(action: Decision['action'], items: number, remaining: number, target: string): string {
  if (action === 'withdraw' && items > 0)
    return `The guard judges ${items === 1 ? 'it' : 'them'} anew: what fits its limits is written, and scim-bridge approvals list shows what it holds then.`;
  if (remaining === 0) return `No more changes are held at ${target}.`;
  return `${counted(remaining, 'change')} ${remaining === 1 ? 'is' : 'are'} still held at ${target}.`;
}

const DONE = { approve: 'Approved', reject: 'Rejected', withdraw: 'Withdrawn' };

const withSelection = (command: Command): Command =>
  command
    .option('--person <names...>', 'only these persons: userName, mail or id')
    .addOption(new Option('--kind <kinds...>', 'only these kinds of change').choices([...DESTRUCTIVE_KINDS]))
    .addOption(new Option('--cause <causes...>', 'only these causes').choices([...HELD_CAUSES]))
    .option('--group <names...>', 'only these groups and the persons who are or were their members')
    .option('--ref <refs...>', 'only what concerns these, such as User:3f…');

const selectionOf = ({ ref, person, kind, cause, group }: SelectionFlags): ChangeSelection => ({
  refs: ref,
  persons: person,
  kinds: kind,
  causes: cause,
  groups: group,
});

function refusal(kind: 'expired' | 'samePerson' | 'full', id: string): Error {
  const says = {
    expired: `Approval ${id} has expired, and nothing was decided: ${judgedAnew(undefined)}. Then scim-bridge approvals list shows what is held.`,
    samePerson: `You have approved ${id} already: another person has to approve it too.`,
    full: `The approval of ${id} was not stored: too many first approvals of its target wait for a second person. Approve some of them as that person, or take some back with scim-bridge approvals withdraw: scim-bridge approvals list shows their ids.`,
  };
  return new Error(says[kind]);
}

async function unknownApproval(states: readonly DesiredState[], id: string): Promise<Error> {
  const present = await presentApprovalId(states, id);
  const next =
    present === undefined
      ? 'see scim-bridge approvals list --all'
      : `what is held now has the id ${present}, see scim-bridge approvals show ${present}`;
  return new Error(
    `There is no approval ${id}, or nothing of it waits any more. It may have expired, with its first approval: ${next}.`,
  );
}

/** Returns the times of an approval in words: until when it can be decided, or when it was decided. */
function dates(approval: Approval): string {
  const { openedAt, expiresAt, leftMs, endOfHold, at, by, selection, note } = approval;
  // `at`: time of the decision. An approval without one has an expiry.
  if (at === undefined) return `opened ${openedAt}, ${expiryText(expiresAt ?? '', leftMs ?? 0, endOfHold)}`;
  return [`${at} by ${by}`, stillRejectedText(approval), unwrittenText(approval), selection, note]
    .filter((part) => part !== undefined)
    .join('; ');
}
