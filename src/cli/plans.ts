// plans: what the guard holds, and a person's decision about it.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Ref } from '../directory/records.ts';
import type { Decision } from '../directory/staging.ts';
import {
  decideStagedPlan,
  findStagedPlan,
  listStagedPlans,
  type StagedPlanView,
} from '../ops/staged-plans.ts';
import { operatorOf, readConfig, type Cli } from './cli.ts';
import { countsOf, printPlan } from './plan-view.ts';
import { withStore } from './store.ts';
import { say, sayJson } from './output.ts';

interface Flags {
  json?: boolean;
  all?: boolean;
  yes?: boolean;
  ref?: Ref[];
  by?: string;
}

export function plans(program: Command, cli: Cli): void {
  const group = program.command('plans').description('staged plans: what the guard holds for approval');

  group
    .command('list')
    .description('what waits for a decision; with --all what was decided lately')
    .option('--all', 'decided plans too')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const found = (await withStore(readConfig(command, cli), listStagedPlans)).filter(
        ({ state }) => flags.all || state === 'staged',
      );
      if (flags.json) sayJson(found.map(({ items: _, ...plan }) => plan));
      else if (found.length === 0) say('The guard holds nothing.');
      else for (const plan of found) say(`${plan.id}  ${plan.state}  ${countsOf(plan)}  ${dates(plan)}`);
    });

  group
    .command('show <id>')
    .description('everything a plan holds')
    .option('--all', 'every item instead of examples')
    .option('--json', 'print as JSON')
    .action(async (id: string, flags: Flags, command: Command) => {
      const plan = await withStore(readConfig(command, cli), (states) => find(states, id));
      if (flags.json) sayJson(plan);
      else printPlan(plan, flags.all === true);
    });

  decision('approve', 'carry out exactly what the plan lists');
  decision('reject', 'leave the platform as it is, until the source takes the change back');

  function decision(action: Decision['action'], description: string): void {
    group
      .command(`${action} <id>`)
      .description(description)
      .option('--ref <refs...>', 'only what concerns these, such as User:3f…')
      .option('--by <name>', 'who decides (default: the account at this machine)')
      .option('--yes', 'do not ask')
      .option('--json', 'print as JSON')
      .action(async (id: string, flags: Flags, command: Command) => {
        await withStore(readConfig(command, cli), async (states) => {
          const plan = await find(states, id);
          if (!(await confirmed(plan, action, flags))) throw new Error('Nothing was decided.');
          const by = flags.by ?? operatorOf(cli);
          // What was shown, and nothing that came since.
          const decided = await decideStagedPlan(states, plan.id, {
            ...{ action, by, via: 'command', refs: flags.ref },
          });
          if (decided.kind === 'expired')
            throw new Error(`Plan ${id} has expired: what it held is judged anew, see plans list.`);
          if (decided.kind === 'unknown') throw unknownPlan(id);
          if (flags.json) sayJson({ id, action, by, items: decided.items });
          else say(`${action === 'approve' ? 'Approved' : 'Rejected'}: ${decided.items} of plan ${id}.`);
          if (decided.items === 0) cli.exit(1);
        });
      });
  }
}

const unknownPlan = (id: string): Error =>
  new Error(`There is no plan ${id}: see scim-bridge plans list --all.`);
const dates = ({ openedAt, expiresAt, at, by }: StagedPlanView): string =>
  at === undefined ? `since ${openedAt}, expires ${expiresAt}` : `${at} by ${by}`;

/** Asks on a terminal; a script says --yes or is taken at its word. */
async function confirmed(plan: StagedPlanView, action: string, flags: Flags): Promise<boolean> {
  if (flags.yes || flags.json || !process.stdin.isTTY) return true;
  const chosen = flags.ref;
  const items = chosen ? plan.items.filter(({ ref }) => chosen.includes(ref)) : plan.items;
  printPlan({ ...plan, items }, false);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Really ${action} ${items.length}? Type yes: `);
  terminal.close();
  return answer.trim() === 'yes';
}

async function find(states: DesiredState[], id: string): Promise<StagedPlanView> {
  const plan = await findStagedPlan(states, id);
  if (!plan) throw unknownPlan(id);
  return plan;
}
