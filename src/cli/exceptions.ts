// Defines the command exceptions, which lists resources that differ from the desired state until a person acts.
import { Option, type Command } from 'commander';
import { EXCEPTION_REASONS } from '../directory/outbox/exceptions.ts';
import { listExceptions, type ExceptionFilter } from '../ops/approvals/exceptions.ts';
import { heldSuffix, EXCEPTION_WORDS, withoutGuardHolds } from '../reconcile/text/exception-words.ts';
import { complainLostData } from './lost-data.ts';
import { requireKnown } from './required-names.ts';
import { readConfig, type Cli } from './cli.ts';
import { withStore } from './store.ts';
import { complain, say, sayJson } from './output.ts';
import { toWhole } from './whole-number.ts';

interface Flags extends ExceptionFilter {
  offset: number;
  json?: boolean;
}

/** Number of exceptions that are printed without --limit. */
const DEFAULT_LIMIT = 1000;
/** Largest value of --offset. */
const MOST_OFFSET = 100_000_000;
/** Largest value of --limit. */
const MOST_SHOWN = 100_000;

export function exceptionsCommand(program: Command, cli: Cli): void {
  program
    .command('exceptions')
    .description('people and groups that stay otherwise than desired until a person acts, and orders of hold')
    .option('--connection <name>', 'only of this connection')
    .option('--target <name>', 'only at this target')
    .addOption(new Option('--reason <reason>', 'only of this reason').choices([...EXCEPTION_REASONS]))
    .option('--offset <count>', 'leave out so many at the beginning', toWhole(0, MOST_OFFSET), 0)
    .option('--limit <count>', 'at most this many', toWhole(1, MOST_SHOWN), DEFAULT_LIMIT)
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const { limit, json, ...filter } = flags;
      const config = readConfig(command, cli);
      requireKnown(config, filter);
      // One entry more than requested shows whether there are more.
      const found = await withStore(config, async (states, { readFleet }) => {
        await complainLostData(readFleet);
        return listExceptions(states, { ...filter, limit: limit + 1 });
      });
      const shown = found.slice(0, limit);
      if (json) return sayJson(shown);
      if (shown.length === 0)
        say(flags.offset === 0 ? 'No exceptions.' : `No exceptions from number ${flags.offset + 1} on.`);
      for (const { connection, target, kind, name, ref, reason, since, message, advice } of shown)
        say(
          `${since}  ${connection} → ${target}  ${kind === null ? '' : `${kind} ${name} (${ref ?? ''})  `}${EXCEPTION_WORDS[reason]}${heldSuffix(reason)}: ${withoutGuardHolds(message)}. ${advice}`,
        );
      if (found.length > limit) complain(`There are more: --offset ${flags.offset + limit} shows the next.`);
    });
}
