// Defines the command approvals: `list` shows the approvals, which are lists of changes that the guard holds; `show` shows the
// changes of one of them; `approve`, `reject` and `withdraw` decide about them (approval-decision.ts).
import { Option, type Command } from 'commander';
import type { Config } from '../config/schema.ts';
import type { Decision } from '../directory/guard/stored-decisions.ts';
import { listApprovals, showApproval } from '../ops/approvals/approvals.ts';
import { isUndecided, type Approval } from '../ops/approvals/approvals-at.ts';
import { selectionOf, unknownApproval, withSelection, type SelectionFlags } from './approval-choice.ts';
import { formerExpired, isSomeByFormerSettings, MOST_CHANGES } from './approval-consequences.ts';
import { decideByCommand } from './approval-decision.ts';
import {
  approvalCounts,
  expiryText,
  firstText,
  printApproval,
  printChanges,
  stillRejectedText,
  unwrittenText,
} from './approval-view.ts';
import { readConfig, type Cli } from './cli.ts';
import { complainLostData } from './lost-data.ts';
import { withOperator, type OperatorFlags } from './operator.ts';
import { complain, say, sayJson } from './output.ts';
import { withStore } from './store.ts';
import { toWhole } from './whole-number.ts';

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
    .action((flags: Flags, command: Command) => list(flags, readConfig(command, cli)));

  withSelection(group.command('show <id>'))
    .description('which limit holds an approval, and its changes with name, mail and reason')
    .option('--limit <count>', 'at most this many changes', toWhole(1, MOST_CHANGES), DEFAULT_LIMIT)
    .option('--offset <count>', 'leave out so many at the beginning', toWhole(0, MOST_OFFSET), 0)
    .addOption(new Option('--all', 'every change; only without --json').conflicts(['json', 'limit']))
    .option('--json', 'print as JSON')
    .action((id: string, flags: Flags, command: Command) => show(id, flags, readConfig(command, cli)));

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
        await withStore(config, (states) => decideByCommand(states, { action, id, flags, config, cli }));
      });
  }
}

async function list(flags: Flags, config: Config): Promise<void> {
  const settingsOf = (target: string) => config.targets[target];
  await withStore(config, async (states, { readFleet }) => {
    await complainLostData(readFleet);
    const all = await listApprovals(states, settingsOf);
    const found = all.filter((approval) => flags.all || isUndecided(approval));
    if (flags.json) return sayJson(found);
    const expired = await formerExpired(states, found);
    if (found.length === 0 && expired.length === 0) say('The guard holds nothing.');
    for (const approval of found) {
      say(`${approval.id}  ${approval.state}  ${approvalCounts(approval)}  ${dates(approval)}`);
      for (const first of approval.firstApprovals ?? []) say(`  ${firstText(first)}`);
      if (await isSomeByFormerSettings(states, approval, settingsOf))
        say(
          `  the settings have changed since the guard held some of these changes: scim-bridge approvals show ${approval.id} names them`,
        );
    }
    for (const text of expired) say(text);
  });
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

/** Prints an approval and its changes: one page, or with --all page after page. */
async function show(id: string, flags: Flags, config: Config): Promise<void> {
  await withStore(config, async (states) => {
    const read = async (offset: number, limit = flags.all ? MOST_CHANGES : flags.limit) => {
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
    const left = first.matching - next;
    if (left <= 0 || (isUndecided(first) && first.items.length === 0)) return;
    // A decided approval may keep its first changes only, always fewer than MOST_CHANGES. So if a full page follows, all are kept.
    const following = isUndecided(first) ? left : (await read(next, MOST_CHANGES)).items.length;
    const kept = following === MOST_CHANGES ? left : following;
    const everything = kept === left ? 'everything' : 'all that are kept';
    if (kept > 0) complain(`${kept} more: --offset ${next} shows the next, --all ${everything}.`);
    if (kept < left) complain(`${left - kept} more are not kept.`);
  });
}
