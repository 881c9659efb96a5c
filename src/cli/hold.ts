// Defines the commands hold, release and resync, which are orders about whole targets.
import type { Command } from 'commander';
import { holdTargets, releaseTargets } from '../ops/hold.ts';
import { resync } from '../ops/resync.ts';
import { readConfig, type Cli } from './cli.ts';
import { requireKnown } from './required-names.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { withStore } from './store.ts';
import { counted } from '../support/counted.ts';
import { say, sayJson } from './output.ts';

interface Flags extends OperatorFlags {
  target?: string;
  json?: boolean;
}

export const holdCommand = (program: Command, cli: Cli): void => {
  const description = 'stop all writes to the platform; pushes are still accepted';
  addCommand(program, cli, 'hold', description, { run: holdTargets, word: 'on hold' });
};

export const releaseCommand = (program: Command, cli: Cli): void => {
  const description = 'end a hold; what has gathered meanwhile is applied';
  addCommand(program, cli, 'release', description, { run: releaseTargets, word: 'released' });
};

/**
 * Adds a command that holds or releases targets, and prints each of them.
 * @param order `run` carries the order out, `word` is the state of a target afterwards
 */
function addCommand(
  program: Command,
  cli: Cli,
  name: string,
  description: string,
  { run, word }: { run: typeof holdTargets; word: string },
): void {
  withOperator(program.command(name))
    .description(description)
    .option('--target <name>', 'only this target')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      requireKnown(config, flags);
      const rows = await withStore(config, (states) => run(states, flags.target, actorOf(cli, flags)));
      if (rows.some(({ refused }) => refused !== undefined)) cli.exit(1);
      if (flags.json) return sayJson(rows);
      for (const { connection, target, changed, refused } of rows)
        say(`${connection} → ${target}: ${refused ?? `${changed ? '' : 'was not changed, it is '}${word}`}`);
    });
}

export function resyncCommand(program: Command, cli: Cli): void {
  withOperator(program.command('resync'))
    .description(
      'mark all users and groups for another look, behind everything else; writes only what differs',
    )
    .option('--target <name>', 'only this target')
    .action(async (flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      requireKnown(config, flags);
      const { count, dropped } = await withStore(config, (states) =>
        resync(states, flags.target, actorOf(cli, flags)),
      );
      say(`Users and groups marked for another sync: ${count}. See scim-bridge status.`);
      if (dropped > 0)
        say(
          `Left out: ${counted(dropped, 'dropped dead letter')}. See scim-bridge exceptions --reason Dropped; scim-bridge sync NAME tries one again.`,
        );
    });
}
