// Defines the command events, which lists, retries and drops security events that a receiver refused.
import type { Command } from 'commander';
import { listRefusedEvents, resolveRefusedEvents } from '../ops/events.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { withStore } from './store.ts';
import { say, sayJson } from './output.ts';

export function eventsCommand(program: Command, cli: Cli): void {
  const group = program
    .command('events')
    .description('security events that a receiver refused; how many wait is in status');

  group
    .command('refused')
    .description('what was refused, and why in the words of the receiver')
    .option('--json', 'print as JSON')
    .action(async (flags: { json?: boolean }, command: Command) => {
      const found = await withStore(readConfig(command, cli), listRefusedEvents);
      if (flags.json) sayJson(found);
      else if (found.length === 0) say('No event was refused.');
      else
        for (const { connection, at, resource, what, err, description } of found)
          say(`${at}  ${connection}  ${resource}  ${what.join(' and ')}  ${err}: ${description}`);
    });

  for (const [name, description] of [
    ['retry', 'send all of them again, behind those that wait'],
    ['drop', 'forget all of them'],
  ] as const)
    withOperator(group.command(name))
      .description(description)
      .action(async (flags: OperatorFlags, command: Command) => {
        const count = await withStore(readConfig(command, cli), (states) =>
          resolveRefusedEvents(states, name, actorOf(cli, flags)),
        );
        say(count === 0 ? 'No event was refused.' : `${count} done.`);
      });
}
