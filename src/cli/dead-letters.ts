// Defines the command dead-letters, which lists, retries and drops resources that the platform refused.
import type { Command } from 'commander';
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import {
  dropDeadLetters,
  findDeadLetters,
  listDeadLetters,
  retryDeadLetters,
  type DeadLetterSelection,
  type DeadLetter,
} from '../ops/dead-letters.ts';
import { counted } from '../support/counted.ts';
import { readConfig, type Cli } from './cli.ts';
import { complainLostData } from './lost-data.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { withStore } from './store.ts';
import { EXIT_UNKNOWN } from './unknown-resource.ts';
import { complain, say, sayJson, sayRows } from './output.ts';

interface Flags extends OperatorFlags {
  /** Every dead letter, in place of names. */
  all?: boolean;
  json?: boolean;
}

export function deadLettersCommand(program: Command, cli: Cli): void {
  const group = program.command('dead-letters').description('resources whose sync needs a person');

  group
    .command('list')
    .description('what is refused, and why in the words of the platform')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const letters = await withStore(readConfig(command, cli), async (states, { readFleet }) => {
        await complainLostData(readFleet);
        return listDeadLetters(states);
      });
      if (flags.json) sayJson(letters);
      else if (letters.length === 0) say('No dead letters.');
      else
        for (const { connection, target, ref, kind, name, since, reason, message } of letters) {
          say(`${kind} ${name}  ${ref}  ${connection} → ${target}  since ${since}  ${reason}: ${message}`);
        }
    });

  group
    .command('show <name>')
    .description(
      'everything known of one: a name, mail, id or ref such as User:3f…; exit 4 when it is no dead letter',
    )
    .option('--json', 'print as JSON; it is always so')
    .action(async (name: string, _flags: Flags, command: Command) => {
      const letters = await withStore(readConfig(command, cli), (states) => findDeadLetters(states, [name]));
      if (letters.length === 0) {
        complain(`${name} is no dead letter: see scim-bridge dead-letters list.`);
        cli.exit(EXIT_UNKNOWN);
        return;
      }
      sayRows(...JSON.stringify(letters, null, 2).split('\n'));
    });

  /**
   * Adds a subcommand that gives an order about some dead letters.
   * @param words ends of the sentences about the order: `done` after the number of dead letters, `nothing` when there was none
   * @param run carries the order out, and returns the dead letters that it reached
   */
  const addOrder = (
    name: string,
    description: string,
    words: { done: string; nothing: string },
    run: (states: DesiredState[], selection: DeadLetterSelection, actor: Actor) => Promise<DeadLetter[]>,
  ): void => {
    withOperator(group.command(`${name} [names...]`))
      .description(description)
      .option('--all', 'all of them')
      .action(async (names: string[], flags: Flags, command: Command) => {
        const isNamed = names.length > 0;
        if (isNamed === (flags.all ?? false))
          throw new Error('Name the resources, or say --all, and not both.');
        const selection = flags.all ? { all: true as const } : { refs: names };
        const { count, notLetters } = await withStore(readConfig(command, cli), async (states) => {
          const named = flags.all ? [] : names;
          const found = await Promise.all(named.map((each) => findDeadLetters(states, [each])));
          const reached = await run(states, selection, actorOf(cli, flags));
          const notLetters = named.filter((_, index) => found[index]?.length === 0);
          return { count: reached.length, notLetters };
        });
        if (count > 0) {
          say(`${counted(count, 'dead letter')} ${words.done}.`);
          // Every name was a dead letter.
          if (notLetters.length === 0) return;
          complain(
            `No dead letter: ${notLetters.join(', ')}. See scim-bridge dead-letters list. A dropped one is tried again by scim-bridge sync NAME.`,
          );
          cli.exit(EXIT_UNKNOWN);
        } else if (flags.all) say(`There is no dead letter: ${words.nothing}.`);
        else {
          say(
            'None of these is a dead letter: see scim-bridge dead-letters list. A dropped one is tried again by scim-bridge sync NAME.',
          );
          cli.exit(1);
        }
      });
  };
  addOrder(
    'retry',
    'try again now; exit 4 when one of the names is no dead letter, 1 when none is',
    { done: 'marked to be tried again now', nothing: 'nothing is tried again' },
    retryDeadLetters,
  );
  addOrder(
    'drop',
    'take off the list; the desired state stays, and the next change of the resource is sent; exit 4 when one of the names is no dead letter, 1 when none is',
    { done: 'taken off the list', nothing: 'nothing is taken off the list' },
    dropDeadLetters,
  );
}
