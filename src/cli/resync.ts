// Defines the command resync, which marks all users and groups for another comparison.
import type { Command } from 'commander';
import { resync } from '../ops/resync.ts';
import { readConfig, type Cli } from './cli.ts';
import { requireKnown } from './known-names.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { withStore } from './store.ts';
import { say } from './output.ts';

export function resyncCommand(program: Command, cli: Cli): void {
  withOperator(program.command('resync'))
    .description(
      'mark all users and groups for another look, behind everything else; writes only what differs',
    )
    .option('--target <name>', 'only this target')
    .action(async (flags: { target?: string } & OperatorFlags, command: Command) => {
      const config = readConfig(command, cli);
      requireKnown(config, flags);
      const count = await withStore(config, (states) => resync(states, flags.target, actorOf(cli, flags)));
      say(`Users and groups marked for another sync: ${count}. See scim-bridge status.`);
    });
}
