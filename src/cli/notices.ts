// Defines the command notices, which sends a sample message to the receivers of notices.
import type { Command } from 'commander';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { say, sayJson } from './output.ts';
import { withStore } from './store.ts';

interface Flags extends OperatorFlags {
  json?: boolean;
}

export function noticesCommand(program: Command, cli: Cli): void {
  const group = program
    .command('notices')
    .description('messages to a webhook, Slack or Teams about what waits for a person');

  withOperator(group.command('test'))
    .description('send a sample message; exit 1 when a receiver does not take it')
    .argument('[channel]', 'only this channel of the settings')
    .option('--json', 'print as JSON')
    .action(async (channel: string | undefined, flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      const names = Object.keys(config.notices.channels);
      if (channel !== undefined && !names.includes(channel))
        throw new Error(`There is no channel ${channel}. The settings have: ${names.join(', ') || 'none'}.`);
      const results = await withStore(config, (_states, { notices }) =>
        notices.test(
          channel === undefined ? names : [channel],
          actorOf(cli, flags),
          new AbortController().signal,
        ),
      );
      if (flags.json) sayJson(results);
      else if (results.length === 0) say('The settings have no channel of notices.');
      else
        for (const { channel: name, delivered, status, problem } of results)
          say(delivered ? `${name}: delivered (${status})` : `${name}: not delivered, ${problem}`);
      if (results.some(({ delivered }) => !delivered)) cli.exit(1);
    });
}
