// plans: what the guard holds, and a person's decision about it.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { DesiredState } from '../directory/desired-state.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import type { Decision, Destruction, Staging } from '../directory/staging.ts';
import { operatorOf, readConfig, type Cli } from './cli.ts';
import { countsOf, printPlan, type PlanView } from './plan-view.ts';
import { withStore } from './store.ts';

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
      const found = (await withStore(readConfig(command, cli), viewAll)).filter(
        ({ state }) => flags.all || state === 'staged',
      );
      if (flags.json) console.log(JSON.stringify(found.map(({ items: _, ...plan }) => plan)));
      else if (found.length === 0) console.log('The guard holds nothing.');
      else
        for (const plan of found) console.log(`${plan.id}  ${plan.state}  ${countsOf(plan)}  ${dates(plan)}`);
    });

  group
    .command('show <id>')
    .description('everything a plan holds')
    .option('--all', 'every item instead of examples')
    .option('--json', 'print as JSON')
    .action(async (id: string, flags: Flags, command: Command) => {
      const plan = await withStore(readConfig(command, cli), (states) => find(states, id));
      if (flags.json) console.log(JSON.stringify(plan));
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
          const decided = await stagingOf(states, plan).decide(action, idWithin(plan), by, flags.ref);
          if (decided.kind === 'expired')
            throw new Error(`Plan ${id} has expired: what it held is judged anew, see plans list.`);
          if (decided.kind === 'unknown') throw unknownPlan(id);
          if (flags.json) console.log(JSON.stringify({ id, action, by, items: decided.items }));
          else
            console.log(`${action === 'approve' ? 'Approved' : 'Rejected'}: ${decided.items} of plan ${id}.`);
          if (decided.items === 0) cli.exit(1);
        });
      });
  }
}

const unknownPlan = (id: string): Error =>
  new Error(`There is no plan ${id}: see scim-bridge plans list --all.`);
const dates = ({ openedAt, expiresAt, at, by }: PlanView): string =>
  at === undefined ? `since ${openedAt}, expires ${expiresAt}` : `${at} by ${by}`;

/** Asks on a terminal; a script says --yes or is taken at its word. */
async function confirmed(plan: PlanView, action: string, flags: Flags): Promise<boolean> {
  if (flags.yes || flags.json || !process.stdin.isTTY) return true;
  const chosen = flags.ref;
  const items = chosen ? plan.items.filter(({ ref }) => chosen.includes(ref)) : plan.items;
  printPlan({ ...plan, items }, false);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Really ${action} ${items.length}? Type yes: `);
  terminal.close();
  return answer.trim() === 'yes';
}

/** Plan ids are unique within a target of a connection; outside they carry both names. */
const idWithin = ({ connection, id }: PlanView): string => id.slice(connection.length + 1);

function stagingOf(states: DesiredState[], { connection, target }: PlanView): Staging {
  const outbox = states.find((state) => state.connection === connection)?.outboxes.get(target);
  if (!outbox) throw new Error(`The settings have no connection ${connection} with target ${target}.`);
  return outbox.staging;
}

/** By its whole id, or without the part behind the last hyphen: then everything that is held now. */
async function find(states: DesiredState[], id: string): Promise<PlanView> {
  const known = await viewAll(states);
  const serialOf = (text: string): string => text.replace(/-\d+$/, '');
  const found =
    known.find((plan) => plan.id === id && plan.state === 'staged') ??
    known.find((plan) => serialOf(plan.id) === serialOf(id) && plan.state === 'staged') ??
    known.find((plan) => plan.id === id) ??
    known.find((plan) => serialOf(plan.id) === serialOf(id));
  if (!found) throw unknownPlan(id);
  if (found.id === id || found.state !== 'staged') return { ...found, id };
  // The list has grown since it was shown: only what was listed then is meant.
  const last = /-(\d+)$/.exec(id)?.[1];
  if (last === undefined) return found;
  return { ...found, id, items: found.items.filter(({ place = 0 }) => place <= Number(last)) };
}

async function viewAll(states: DesiredState[]): Promise<PlanView[]> {
  const views: PlanView[] = [];
  for (const state of states) {
    for (const [target, { staging }] of state.outboxes) {
      const names = { connection: state.connection, target };
      const open = await staging.open();
      if (open) {
        const { id, items, openedAt, expiresAt } = open;
        const dates = { openedAt: iso(openedAt), expiresAt: iso(expiresAt) };
        views.push(await view(state, { ...names, ...dates, id, state: 'staged' }, items));
      }
      for (const { id, action, items, at, by, kinds } of await staging.decisions()) {
        const state_ = action === 'approve' ? ('approved' as const) : ('rejected' as const);
        const plan = await view(state, { ...names, id, state: state_, at: iso(at), by }, items);
        views.push({ ...plan, kinds });
      }
    }
  }
  return views;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** With the names that people know: of users as last applied, of groups as they are called. */
async function view(
  { connection, links }: DesiredState,
  plan: Omit<PlanView, 'kinds' | 'items'>,
  items: Destruction[],
): Promise<PlanView> {
  const refs = new Set<Ref>();
  for (const { kind, ref, subject } of items) {
    refs.add(ref);
    if (kind === 'removeMembers' && subject !== undefined) refs.add(`User:${subject}`);
  }
  const list = [...refs];
  const names = new Map<Ref, string>();
  for (let start = 0; start < list.length; start += 1000) {
    const portion = list.slice(start, start + 1000);
    for (const [index, link] of (await links.getMany(plan.target, portion)).entries()) {
      const ref = portion[index];
      const name = link.core?.userName ?? link.core?.displayName;
      if (ref !== undefined) names.set(ref, typeof name === 'string' ? name : parseRef(ref).id);
    }
  }
  const kinds: PlanView['kinds'] = { deactivate: 0, delete: 0, removeMembers: 0, clearAttributes: 0 };
  const named = items.map((item) => {
    kinds[item.kind] += 1;
    const member = item.kind === 'removeMembers' ? names.get(`User:${item.subject ?? ''}`) : item.subject;
    return { ...item, name: names.get(item.ref) ?? item.ref, ...(member === undefined ? {} : { member }) };
  });
  return { ...plan, id: `${connection}.${plan.id}`, kinds, items: named };
}
