// Defines the command approvals, which lists the changes that the guard holds and decides about them.
import type { Command } from 'commander';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Ref } from '../directory/records.ts';
import type { Decision } from '../directory/guard/guard-store.ts';
import { decideApproval, findApproval, listApprovals, type Approval } from '../ops/approvals.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { approvalCounts, printApproval } from './approval-view.ts';
import { confirm } from './confirm.ts';
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
  decision('withdraw', 'take a rejection back, so that the guard judges its changes anew');

  function decision(action: Decision['action'], description: string): void {
    withOperator(group.command(`${action} <id>`))
      .description(description)
      .option('--ref <refs...>', 'only what concerns these, such as User:3f…')
      .option('--yes', 'do not ask; needed without a terminal')
      .option('--json', 'print as JSON')
      .action(async (id: string, flags: Flags, command: Command) => {
        await withStore(readConfig(command, cli), async (states) => {
          const approval = await find(states, id);
          const items = approval.items.filter(({ ref }) => flags.ref?.includes(ref) ?? true);
          await confirm(flags, `Really ${action} ${items.length} of ${id}?`, () =>
            printApproval({ ...approval, items }, false),
          );
          const actor = actorOf(cli, flags);
          // The decision covers the items that were shown, and none that came since.
          const decided = await decideApproval(states, approval.id, {
            ...{ ...actor, action, refs: flags.ref },
          });
          if (decided.kind === 'expired')
            throw new Error(`Approval ${id} has expired: what it held is judged anew, see approvals list.`);
          if (decided.kind === 'unknown') throw unknownApproval(id);
          if (flags.json) sayJson({ id, action, by: actor.by, items: decided.items });
          else say(`${DONE[action]}: ${decided.items} of ${id}.`);
          if (decided.items === 0) cli.exit(1);
        });
      });
  }
}

const DONE = { approve: 'Approved', reject: 'Rejected', withdraw: 'Withdrawn' };

const unknownApproval = (id: string): Error =>
  new Error(`There is no approval ${id}: see scim-bridge approvals list --all.`);
const dates = ({ openedAt, expiresAt, at, by }: Approval): string =>
  at === undefined ? `since ${openedAt}, expires ${expiresAt}` : `${at} by ${by}`;

async function find(states: DesiredState[], id: string): Promise<Approval> {
  const approval = await findApproval(states, id);
  if (!approval) throw unknownApproval(id);
  return approval;
}
