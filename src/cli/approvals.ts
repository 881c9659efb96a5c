// Defines the command approvals, which lists the changes that the guard holds and decides about them.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Ref } from '../directory/records.ts';
import type { Decision } from '../directory/guard/guard-store.ts';
import { decideApproval, findApproval, listApprovals, type Approval } from '../ops/approvals.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { approvalCounts, printApproval } from './approval-view.ts';
import { withStore } from './store.ts';
import { say, sayJson } from './output.ts';

interface Flags extends OperatorFlags {
  json?: boolean;
  all?: boolean;
  yes?: boolean;
  ref?: Ref[];
}

export function approvalsCommand(program: Command, cli: Cli): void {
  const group = program.command('approvals').description('what the guard holds, and decisions about it');

  group
    .command('list')
    .description('what waits for a decision; with --all what was decided lately')
    .option('--all', 'decided approvals too')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const found = (await withStore(readConfig(command, cli), listApprovals)).filter(
        ({ state }) => flags.all || state === 'held',
      );
      if (flags.json) sayJson(found.map(({ items: _, ...approval }) => approval));
      else if (found.length === 0) say('The guard holds nothing.');
      else
        for (const approval of found)
          say(`${approval.id}  ${approval.state}  ${approvalCounts(approval)}  ${dates(approval)}`);
    });

  group
    .command('show <id>')
    .description('everything that an approval lists')
    .option('--all', 'every item instead of examples')
    .option('--json', 'print as JSON')
    .action(async (id: string, flags: Flags, command: Command) => {
      const approval = await withStore(readConfig(command, cli), (states) => find(states, id));
      if (flags.json) sayJson(approval);
      else printApproval(approval, flags.all === true);
    });

  decision('approve', 'carry out exactly what the approval lists');
  decision('reject', 'leave the platform as it is, until the source takes the change back');

  function decision(action: Decision['action'], description: string): void {
    withOperator(group.command(`${action} <id>`))
      .description(description)
      .option('--ref <refs...>', 'only what concerns these, such as User:3f…')
      .option('--yes', 'do not ask')
      .option('--json', 'print as JSON')
      .action(async (id: string, flags: Flags, command: Command) => {
        await withStore(readConfig(command, cli), async (states) => {
          const approval = await find(states, id);
          if (!(await confirmed(approval, action, flags))) throw new Error('Nothing was decided.');
          const actor = actorOf(cli, flags);
          // The decision covers the items that were shown, and none that came since.
          const decided = await decideApproval(states, approval.id, {
            ...{ ...actor, action, refs: flags.ref },
          });
          if (decided.kind === 'expired')
            throw new Error(`Approval ${id} has expired: what it held is judged anew, see approvals list.`);
          if (decided.kind === 'unknown') throw unknownApproval(id);
          if (flags.json) sayJson({ id, action, by: actor.by, items: decided.items });
          else say(`${action === 'approve' ? 'Approved' : 'Rejected'}: ${decided.items} of ${id}.`);
          if (decided.items === 0) cli.exit(1);
        });
      });
  }
}

const unknownApproval = (id: string): Error =>
  new Error(`There is no approval ${id}: see scim-bridge approvals list --all.`);
const dates = ({ openedAt, expiresAt, at, by }: Approval): string =>
  at === undefined ? `since ${openedAt}, expires ${expiresAt}` : `${at} by ${by}`;

/** Asks for confirmation on a terminal, unless --yes is given. */
async function confirmed(approval: Approval, action: string, flags: Flags): Promise<boolean> {
  if (flags.yes || flags.json || !process.stdin.isTTY) return true;
  const chosen = flags.ref;
  const items = chosen ? approval.items.filter(({ ref }) => chosen.includes(ref)) : approval.items;
  printApproval({ ...approval, items }, false);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Really ${action} ${items.length}? Type yes: `);
  terminal.close();
  return answer.trim() === 'yes';
}

async function find(states: DesiredState[], id: string): Promise<Approval> {
  const approval = await findApproval(states, id);
  if (!approval) throw unknownApproval(id);
  return approval;
}
