// Defines the options that the commands log and acts share, and prints the check of a hash chain.
import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseDuration } from '../config/forms.ts';
import { isPublicId, type PublicCheck } from '../ops/log/newest-first.ts';
import { counted } from '../support/counted.ts';
import { parseDate } from '../support/dates.ts';
import type { Cli } from './cli.ts';
import { say, sayJson } from './output.ts';
import { toWhole } from './whole-number.ts';

export interface LogFlags {
  connection?: string;
  target?: string;
  /** Range of times, Unix milliseconds. */
  since?: number;
  until?: number;
  /** Id of an entry: only older entries are printed. */
  before?: string;
  limit?: number;
  json?: boolean;
  /** Checks the hash chain in place of printing entries. */
  verify?: boolean;
}

/** Number of entries that are printed as text without --limit. */
export const DEFAULT_LINES = 100;

/** Options that select or format entries. --verify excludes them, because it checks a hash chain as a whole. */
const SELECTING = ['resource', 'action', 'status', 'since', 'until', 'before', 'limit', 'csv'];

export const withLogOptions = (command: Command): Command =>
  command
    .option('--connection <name>', 'only this connection')
    .option('--target <name>', 'only this target')
    .option('--since <when>', 'from then on: 24h, 7d, or a date such as 2027-01-31T08:00:00Z', toMoment)
    .option('--until <when>', 'until then', toMoment)
    .option('--before <id>', 'only entries behind this one: the id of the last entry of --json', toId)
    .option(
      '--limit <count>',
      `most entries (default: ${DEFAULT_LINES} on the screen, all in exports)`,
      toWhole(1, Infinity),
    )
    .option('--json', 'NDJSON, one record a line, every field')
    .addOption(
      new Option('--verify', 'check that no entry was altered or taken out; exit 1 if one was').conflicts(
        SELECTING,
      ),
    )
    .hook('preAction', (self) => {
      const { since = -Infinity, until = Infinity } = self.opts<LogFlags>();
      if (since > until) throw new Error('--since is later than --until: nothing lies between them.');
    });

/** The audit log of a connection has no target. */
type LogCheck = PublicCheck & { connection: string; target?: string };

/** Prints the checks of the hash chains that the flags select; exit code 1 when one is broken. */
export function printChecks(all: readonly LogCheck[], flags: LogFlags, cli: Cli): void {
  const checks = all.filter(
    ({ connection, target }) =>
      connection === (flags.connection ?? connection) &&
      (target === undefined || target === (flags.target ?? target)),
  );
  if (flags.json) sayJson(checks);
  for (const { connection, target, entries, forgotten, broken } of checks) {
    if (broken !== null) cli.exit(1);
    if (flags.json) continue;
    const where = target === undefined ? connection : `${connection} → ${target}`;
    const without = forgotten === 0 ? '' : `, personal data of ${forgotten} forgotten`;
    const said =
      broken === null
        ? `${counted(entries, 'entry', 'entries')}, none altered${without}`
        : `altered or taken out at ${broken}: see ScimBridgeLogBroken in docs/alerts.md`;
    say(`${where}: ${said}`);
  }
}

/** Parses a duration before now, or a date. @returns Unix milliseconds */
function toMoment(text: string): number {
  const back = parseDuration(text);
  const moment = back === undefined ? parseDate(text) : Date.now() - back;
  if (moment === undefined) throw new InvalidArgumentError('Say 24h, 7d, or a date such as 2027-01-31.');
  // Redis does not accept times before 1970, and no entry is that old.
  return Math.max(0, moment);
}

function toId(text: string): string {
  if (!isPublicId(text)) throw new InvalidArgumentError('Say the id of an entry, as --json prints it.');
  return text;
}
