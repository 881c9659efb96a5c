// Defines the command handover, which lists the moved items of closed accounts and moves them back.
import type { Command } from 'commander';
import { connectionsOf } from '../explain/explain.ts';
import { findHandovers, type ListedHandover, listHandovers, undoHandover } from '../ops/handover.ts';
import { counted, total } from '../support/counted.ts';
import { readConfig, type Cli } from './cli.ts';
import { confirm } from './confirm.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { complain, say, sayJson } from './output.ts';
import { UnknownResource } from './unknown-resource.ts';
import { atTargetOrTell, withScopes } from './scopes.ts';
import { withStore } from './store.ts';

interface Flags extends OperatorFlags {
  target?: string;
  yes?: boolean;
  json?: boolean;
}

export function handoverCommand(program: Command, cli: Cli): void {
  const group = program
    .command('handover')
    .description('work of closed accounts that was moved to the handover folder');

  group
    .command('list')
    .description('whose work was moved where, the oldest first')
    .option('--json', 'print as JSON, with every item')
    .action(async (flags: Flags, command: Command) => {
      const all: ListedHandover[] = [];
      const count = await withStore(readConfig(command, cli), async (states) => {
        let listed = 0;
        for await (const each of listHandovers(states)) {
          listed += 1;
          // Text is printed as it is read, so that only JSON holds all handovers in memory.
          if (flags.json) all.push(each);
          else say(...linesOf(each));
        }
        return listed;
      });
      if (flags.json) sayJson(all);
      else if (count === 0) say('Nothing was handed over.');
    });

  withOperator(group.command('undo <person>'))
    .description('move the work of a person back to the places where it was; exit 4 for an unknown person')
    .option('--target <name>', 'only this target')
    .option('--yes', 'do not ask; needed without a terminal')
    .option('--json', 'print as JSON')
    .action((text: string, flags: Flags, command: Command) => undo(text, flags, command, cli));
}

async function undo(text: string, flags: Flags, command: Command, cli: Cli): Promise<void> {
  const options = { target: flags.target, mayWrite: true };
  const config = readConfig(command, cli);
  await withScopes(config, options, async (context) => {
    const scopes = context.scopes.map(({ scope }) => scope);
    const { isKnown, found } = await findHandovers(scopes, connectionsOf(scopes), text);
    if (!isKnown) throw new UnknownResource(text, { config, target: flags.target, isPerson: true });
    if (found.length === 0)
      throw new Error(`Nothing of ${text} is handed over: see scim-bridge handover list.`);
    const count = total(found.map(({ handover }) => movedOf(handover)));
    await confirm(flags, `Move ${counted(count, 'item')} of ${text} back?`, {
      show: () => found.forEach(({ handover }) => say(...linesOf(handover))),
      ended: context.signal,
    });
    const undone = [];
    let isWhole = true;
    for (const each of found) {
      const order = {
        actor: actorOf(cli, flags),
        logger: context.deps.logger,
        id: context.deps.ids.request(),
      };
      const { scope } = each;
      const at = { scope, name: `${scope.connection} → ${scope.target.name}` };
      const back = await atTargetOrTell(at, context, (answering) =>
        undoHandover(each, { ...order, signal: answering }),
      );
      isWhole &&= back !== undefined && back.problem === undefined;
      if (!back) continue;
      undone.push(back);
      const { name, returned, left, problem } = back;
      if (!flags.json)
        say(
          `${at.name}: ${counted(returned, 'item')} of ${name} moved back${left > 0 ? `, ${left} left where they are now: see scim-bridge log` : ''}`,
        );
      if (problem !== undefined)
        complain(`Not complete at ${scope.target.name}: ${problem}. Give the order again.`);
    }
    if (flags.json) sayJson(undone);
    if (!isWhole) cli.exit(1);
  });
}

/** Returns the number of items of a handover that were moved, or were to be moved when it stopped. */
const movedOf = ({ counts }: ListedHandover): number => (counts.moved ?? 0) + (counts.planned ?? 0);

const STATES: Record<ListedHandover['state'], string> = {
  moving: 'not complete, the next reconcile continues',
  moved: 'handed over',
  returning: 'on its way back',
  returned: 'given back',
};

const MOST_REFUSED = 10;

function linesOf(found: ListedHandover): string[] {
  const { connection, target, name, ref, state, endedAt, startedAt, deployment, folder, counts, items } =
    found;
  const where =
    folder === null ? '' : `, folder ${folder.name} (${folder.id}) of the deployment ${deployment}`;
  const numbers = Object.entries(counts).map(([each, count]) => `${count} ${each}`);
  // While work is given back, an item with the state `moved` is still in the handover folder; it has a reason if the platform
  // refused to move it back.
  const isReturning = state === 'returning';
  const refused = items
    .filter(
      ({ state: at, reason }) => at === 'refused' || (isReturning && at === 'moved' && reason !== undefined),
    )
    .slice(0, MOST_REFUSED);
  return [
    `${name}  ${ref}  ${connection} → ${target}  ${STATES[state]} ${endedAt ?? startedAt}${where}: ${numbers.join(', ') || 'no items'}`,
    ...refused.map(
      ({ type, name: item, id, reason }) =>
        `  refused: ${type.toLowerCase()} "${item}" (${id}): ${reason ?? ''}`,
    ),
  ];
}
