// Defines the command approvals, which lists the changes that the guard holds and decides about them.
import { Option, type Command } from 'commander';
import type { Decision } from '../directory/guard/stored-decisions.ts';
import type { TargetConfig } from '../config/schema/target.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { isHeldByFormerSettings } from '../directory/outbox/condition-text.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../guard/judge.ts';
import {
  decideApproval,
  listApprovals,
  previewDecision,
  rejectionsInForce,
  showApproval,
} from '../ops/approvals/approvals.ts';
import type { Approval } from '../ops/approvals/approval-lookup.ts';
import type { ChangeSelection } from '../ops/approvals/approval-selection.ts';
import { listExceptions } from '../ops/approvals/exceptions.ts';
import { HELD_CAUSES, type HeldCause } from '../ops/approvals/held-change.ts';
import { counted } from '../support/counted.ts';
import { readConfig, type Cli } from './cli.ts';
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

/** Options that select a part of an approval. */
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
/** Largest number of changes that one read returns. */
const MOST_CHANGES = 1000;
/** Number of changes that are printed before a question. */
const EXAMPLES = 20;
/** Largest value of --offset. */
const MOST_OFFSET = 1e9;

export function approvalsCommand(program: Command, cli: Cli): void {
  const group = program.command('approvals').description('what the guard holds, and decisions about it');

  group
    .command('list')
    .description('what waits for a decision; with --all what was decided lately')
    .option('--all', 'decided approvals too')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      const all = await withStore(config, (states) =>
        listApprovals(states, (target) => config.targets[target]),
      );
      const found = all.filter(({ state }) => flags.all || state === 'held');
      if (flags.json) sayJson(found);
      else if (found.length === 0) say('The guard holds nothing.');
      else
        for (const approval of found) {
          say(`${approval.id}  ${approval.state}  ${approvalCounts(approval)}  ${dates(approval)}`);
          for (const first of approval.firstApprovals ?? []) say(`  ${firstText(first)}`);
        }
    });

  withSelection(group.command('show <id>'))
    .description('which limit holds an approval, and its changes with name, mail and reason')
    .addOption(
      new Option('--limit <count>', 'at most this many changes')
        .default(DEFAULT_LIMIT)
        .argParser(toWhole(1, MOST_CHANGES)),
    )
    .addOption(
      new Option('--offset <count>', 'leave out so many at the beginning')
        .default(0)
        .argParser(toWhole(0, MOST_OFFSET)),
    )
    .addOption(new Option('--all', 'every change; only without --json').conflicts(['json', 'limit']))
    .option('--json', 'print as JSON')
    .action(async (id: string, flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      await withStore(config, async (states) => {
        const limit = flags.all ? MOST_CHANGES : flags.limit;
        const read = async (offset: number) => {
          const page = { ...selectionOf(flags), offset, limit };
          const shown = await showApproval(states, id, (target) => config.targets[target], page);
          if (!shown) throw unknownApproval(id);
          return shown;
        };
        const first = await read(flags.offset);
        if (flags.json) return sayJson(first);
        printApproval(first, Date.now());
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
            first.state === 'held'
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
        await withStore(config, async (states) => {
          const selection = selectionOf(flags);
          const settingsOf = (target: string) => config.targets[target];
          const preview = await previewDecision(states, id, settingsOf, action, selection, EXAMPLES);
          if (!preview) throw unknownApproval(id);
          const { approval, count, items } = preview;
          await confirm(flags, `Really ${action} ${count} of ${id}?`, () => {
            printApproval(approval, Date.now());
            printChanges(items);
            if (count > items.length) say(`  … and ${count - items.length} more`);
          });
          const actor = actorOf(cli, flags);
          const administrators =
            action === 'approve' ? await lastAdministrators(states, approval, settingsOf, selection) : [];
          const deletedGroups =
            action === 'approve' ? await groupsToDelete(states, approval, settingsOf, selection) : [];
          // The id of the approval that was shown covers no change that came since. `identity` tells two approvers apart.
          const order = { ...actor, identity: `command ${actor.by}`, action, selection };
          const decided = await decideApproval(states, approval.id, settingsOf, order);
          if (decided.kind === 'settled') throw new Error(decided.message);
          // Only an order that was carried out has an id; `refusal` says why the others were not.
          if (!('id' in decided)) throw refusal(decided.kind, id);
          const { kind: outcome, ...rest } = decided;
          if (flags.json) sayJson({ ...rest, outcome, action, by: actor.by });
          else if (decided.kind === 'noted')
            say(
              `Noted: the first approval of ${counted(decided.items, 'change')}, by ${actor.by}. Nothing is written before a second person approves ${decided.id}.`,
            );
          else if (decided.kind === 'retracted') say(`Withdrawn: the first approval of ${decided.id}.`);
          else {
            const what = decided.items === 0 ? 'no change of this list fits' : approvalCounts(decided);
            say(`${DONE[action]}: ${decided.items} of ${id} (${what}).`);
            say(afterwards(action, decided.items, decided.remaining, approval.target));
            const rejected =
              action === 'withdraw' ? await rejectionsInForce(states, approval, settingsOf) : [];
            if (action === 'approve' && items.some(({ reason }) => isHeldByFormerSettings(reason)))
              say(
                'The settings have changed since the guard held some of these changes: a change that the present settings do not want is not written.',
              );
            if (rejected.length > 0) say(`Still rejected: ${rejected.join(', ')}.`);
            for (const name of administrators) say(heldAgainText(name));
            if (await isSomeHeld(states, approval, deletedGroups))
              say(
                'A group is deleted only after the removals of all its members are approved: see scim-bridge approvals list.',
              );
          }
          // 1: nothing was decided. 2: the guard may hold an approved deactivation again.
          if (decided.items === 0) cli.exit(1);
          else if (decided.kind === 'decided' && administrators.length > 0) cli.exit(2);
        });
      });
  }
}

/** Returns a sentence about what is held after a decision. Soon after `withdraw` the guard may hold the changes again. */
function afterwards(action: Decision['action'], items: number, remaining: number, target: string): string {
  if (action === 'withdraw' && items > 0)
    return `The guard judges ${items === 1 ? 'it' : 'them'} anew: scim-bridge approvals list shows what it holds then.`;
  if (remaining === 0) return `No more changes are held at ${target}.`;
  return `${counted(remaining, 'change')} ${remaining === 1 ? 'is' : 'are'} still held at ${target}.`;
}

/** Returns the names of the last administrators whose deactivation an order approves; of many, the first EXAMPLES. */
async function lastAdministrators(
  states: readonly DesiredState[],
  approval: Approval,
  settingsOf: (target: string) => TargetConfig | undefined,
  selection: ChangeSelection,
): Promise<string[]> {
  const { connection, target, id } = approval;
  const cause = 'lastAdministrator';
  // Two short ways, because there is seldom a last administrator: the order does not select them, or none is held.
  if (selection.causes?.includes(cause) === false) return [];
  const filter = { connection, target, reason: 'LastAdministrator', limit: 1 } as const;
  if ((await listExceptions(states, filter)).length === 0) return [];
  const only = { ...selection, causes: [cause] as const };
  const found = await previewDecision(states, id, settingsOf, 'approve', only, EXAMPLES);
  return found?.items.map(({ name }) => name) ?? [];
}

/** Returns the groups whose deletion an order approves, among the first `MOST_CHANGES` deletions of the order. */
async function groupsToDelete(
  states: readonly DesiredState[],
  approval: Approval,
  settingsOf: (target: string) => TargetConfig | undefined,
  selection: ChangeSelection,
): Promise<Ref[]> {
  if (approval.kinds.delete === 0 || selection.kinds?.includes('delete') === false) return [];
  const only = { ...selection, kinds: ['delete'] as const };
  const found = await previewDecision(states, approval.id, settingsOf, 'approve', only, MOST_CHANGES);
  return found?.items.map(({ ref }) => ref).filter((ref) => parseRef(ref).kind === 'Group') ?? [];
}

/** Returns whether the guard still holds a change of some of these groups: the removal of a member, if their deletion is approved. */
async function isSomeHeld(
  states: readonly DesiredState[],
  { connection, target }: Approval,
  groups: readonly Ref[],
): Promise<boolean> {
  const outbox = states.find((state) => state.connection === connection)?.outboxes.get(target);
  const found = outbox ? await Promise.all(groups.map((ref) => outbox.exceptionOf(ref))) : [];
  return found.some((exception) => exception?.reason === 'Held');
}

const heldAgainText = (name: string): string =>
  `The account of ${name} is closed only if another active administrator is left at the platform: else the guard holds it again at once, see scim-bridge explain ${name}.`;

/** First word of the line about a decision. */
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

/** Returns the error for an order that decided nothing. */
function refusal(kind: 'expired' | 'unknown' | 'samePerson' | 'full', id: string): Error {
  if (kind === 'unknown') return unknownApproval(id);
  const says = {
    expired: `Approval ${id} has expired, and nothing was decided: the guard judges its changes anew, see scim-bridge approvals list.`,
    samePerson: `You have approved ${id} already: another person has to approve it too.`,
    full: `Too many first approvals of ${id} wait for a second person: decide about them, or take yours back with scim-bridge approvals withdraw ${id}.`,
  };
  return new Error(says[kind]);
}

const unknownApproval = (id: string): Error =>
  new Error(
    `There is no approval ${id}, or nothing of it waits any more: see scim-bridge approvals list --all.`,
  );

/** Returns the times of an approval in words: of a held one until when it can be decided, of a decided one when it was. */
function dates(approval: Approval): string {
  const { openedAt, expiresAt, at, by, selection, note } = approval;
  // `at`: time of the decision. A held approval has none, and has an expiry.
  if (at === undefined) return `opened ${openedAt}, ${expiryText(expiresAt ?? '', Date.now())}`;
  return [`${at} by ${by}`, stillRejectedText(approval), unwrittenText(approval, Date.now()), selection, note]
    .filter((part) => part !== undefined)
    .join('; ');
}
