// Defines the commands hold and release, which stop and resume all writes to a target.
import type { Command } from 'commander';
import type { DesiredState } from '../directory/desired-state.ts';
import { holdTargets, releaseTargets, type HoldChange } from '../ops/hold.ts';
import { readConfig, type Cli } from './cli.ts';
import { requireKnown } from './known-names.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { withStore } from './store.ts';
import { say, sayJson } from './output.ts';

interface Flags extends OperatorFlags {
  target?: string;
  json?: boolean;
}

export function holdCommand(program: Command, cli: Cli): void {
  addCommand(program, 'hold', 'stop all writes to the platform; pushes are still accepted').action(
    async (flags: Flags, command: Command) => {
      await changeTargets(command, cli, flags, 'on hold', (states) =>
        holdTargets(states, flags.target, actorOf(cli, flags)),
      );
    },
  );
}

export function releaseCommand(program: Command, cli: Cli): void {
  addCommand(program, 'release', 'end a hold; what has gathered meanwhile is applied').action(
    async (flags: Flags, command: Command) => {
      await changeTargets(command, cli, flags, 'released', (states) =>
        releaseTargets(states, flags.target, actorOf(cli, flags)),
      );
    },
  );
}

/** Adds a command with the options that both have. */
const addCommand = (program: Command, name: string, description: string): Command =>
  withOperator(program.command(name))
    .description(description)
    .option('--target <name>', 'only this target')
    .option('--json', 'print as JSON');

/** Holds or releases the targets and prints each of them. @param word the state after the command */
async function changeTargets(
  command: Command,
  cli: Cli,
  flags: Flags,
  word: string,
  run: (states: DesiredState[]) => Promise<HoldChange[]>,
): Promise<void> {
  const config = readConfig(command, cli);
  requireKnown(config, flags);
  const rows = await withStore(config, run);
  if (flags.json) sayJson(rows);
  else {
    for (const { connection, target, changed } of rows) {
      say(`${connection} → ${target}: ${changed ? '' : 'was not changed, it is '}${word}`);
    }
  }
}
