// Defines the command acts, which prints the audit entries of operators as text or NDJSON.
import { Option, type Command } from 'commander';
import { ACTS } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { readActs, verifyActs, type ActFilter, type LocatedAct } from '../ops/log/acts.ts';
import { readConfig, type Cli } from './cli.ts';
import { withStore } from './store.ts';
import { complain, say, sayJson } from './output.ts';
import { requireLogged } from './required-names.ts';
import { DEFAULT_LINES, printChecks, withLogOptions, type LogFlags } from './log-options.ts';

interface Flags extends LogFlags {
  /** Only these kinds of order. */
  action?: (typeof ACTS)[number][];
}

export function actsCommand(program: Command, cli: Cli): void {
  const command = program
    .command('acts')
    .description('what operators ordered, who and when: holds, decisions, tokens, links; newest first')
    .addOption(new Option('--action <actions...>', 'only these').choices([...ACTS]));
  withLogOptions(command).action(async (flags: Flags, self: Command) => {
    const config = readConfig(self, cli);
    await withStore(config, async (states) => {
      await requireLogged(config, flags, states);
      if (!flags.verify) return show(states, flags);
      printChecks(await verifyActs(states), flags, cli);
    });
  });
}

async function show(states: DesiredState[], flags: Flags): Promise<void> {
  const { connection, target, since, until, before, action: actions, json } = flags;
  const filter: ActFilter = { connection, target, since, until, before, actions };
  const limit = flags.limit ?? (json ? Infinity : DEFAULT_LINES);
  let count = 0;
  for await (const act of readActs(states, filter)) {
    // One entry beyond the limit shows that there is more.
    if (count++ >= limit) break;
    if (json) sayJson(act);
    else say(toText(act));
  }
  if (count === 0 && !json) say('Nothing was ordered.');
  if (count > limit && !json) complain('There is more: --limit, --until or --json.');
}

function toText({ at, connection, target, act, by, via, subject, count, note }: LocatedAct): string {
  const where = target === undefined ? connection : `${connection} → ${target}`;
  const what = [act, subject, count === undefined ? '' : `(${count})`, note && `"${note}"`];
  return `${at}  ${where}  ${what.filter(Boolean).join(' ')}  by ${by}, ${via}`;
}
