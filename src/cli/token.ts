// Defines the command token, which creates, lists and revokes bearer tokens of a connection. A new token is shown once, because
// Redis stores only its digest.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { isoTime, systemClock } from '../support/sources.ts';
import { parseExpiry } from '../tokens/expiry.ts';
import {
  issueToken,
  listTokens,
  notIssuedText,
  revokeToken,
  shownOnce,
  TOKEN_NAME,
  type ConnectionTokens,
  type TokenView,
} from '../tokens/operations.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { withStore } from './store.ts';
import { complain, say, sayJson, sayRows } from './output.ts';

interface Flags extends OperatorFlags {
  connection?: string;
  name?: string;
  /** As typed: a duration or a date. */
  expires?: string;
  json?: boolean;
}

export function tokenCommand(program: Command, cli: Cli): void {
  const group = program.command('token').description('bearer tokens that identity providers push with');
  addCreate(group, cli);
  addList(group, cli);
  addRevoke(group, cli);
}

function addCreate(group: Command, cli: Cli): void {
  withOperator(group.command('create [name]'))
    .description('make a token beside those that are there, and show it once')
    .option('--connection <name>', 'connection it opens (default: the only one, or default)')
    .option('--name <name>', 'the same as the argument')
    .option('--expires <when>', 'when it ends: 90d, 12h, 4w, or a date such as 2027-01-31 (default: never)')
    .option('--json', 'print as JSON')
    .action(async (given: string | undefined, flags: Flags, command: Command) => {
      if (given !== undefined && flags.name !== undefined)
        throw new Error('Give one name: as the argument, or with --name.');
      const config = readConfig(command, cli);
      const connection = connectionOf(config, flags);
      const now = systemClock.now();
      const order = {
        name: nameOf(given ?? flags.name ?? `token-${isoTime(now).slice(0, 10)}`),
        expiresAt: flags.expires === undefined ? null : expiryOf(flags.expires, now),
        ...actorOf(cli, flags),
      };
      const outcome = await withTokens(config, connection, (tokens) =>
        issueToken({ clock: systemClock, randomBytes }, tokens, order),
      );
      if (outcome.kind !== 'issued') throw new Error(notIssuedText(outcome.kind, connection, order.name));
      show(shownOnce(connection, outcome), flags.json === true);
    });
}

/** Prints a new token. Only the token goes to standard output, so that `$(scim-bridge token create)` holds nothing else. */
function show(made: ReturnType<typeof shownOnce>, asJson: boolean): void {
  if (asJson) return sayJson(made);
  const end = made.expiresAt === null ? 'never expires' : `expires ${made.expiresAt}`;
  complain(`Token ${made.name} of ${made.connection}, ${end}. It is shown this once:`);
  sayRows(made.secret);
}

function addList(group: Command, cli: Cli): void {
  group
    .command('list')
    .description('all tokens, when they end and when they were last used')
    .option('--connection <name>', 'only this connection')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      if (flags.connection !== undefined) connectionOf(config, flags);
      const rows = await withStore(config, async (states) => {
        const found: ({ connection: string } & TokenView)[] = [];
        for (const { connection, tokens } of states) {
          if (connection !== (flags.connection ?? connection)) continue;
          const all = { settings: config.connections[connection]?.tokens ?? [], stored: tokens };
          for (const view of await listTokens(systemClock, all)) found.push({ connection, ...view });
        }
        return found;
      });
      if (flags.json) sayJson(rows);
      else if (rows.length === 0) say('There are no tokens: see scim-bridge token create.');
      else for (const row of rows) say(lineOf(row));
    });
}

function lineOf(row: { connection: string } & TokenView): string {
  const ends = row.state === 'expired' ? 'ended' : 'ends';
  const end = row.expiresAt === null ? 'never expires' : `${row.state}, ${ends} ${row.expiresAt}`;
  const made =
    row.source === 'settings'
      ? 'from the settings'
      : `made ${row.createdAt ?? '?'} by ${row.createdBy ?? '?'}`;
  const used = row.lastUsedAt === null ? 'not used yet' : `last used ${row.lastUsedAt}`;
  return `${row.connection}  ${row.name}: ${end}; ${used}; ${made}`;
}

function addRevoke(group: Command, cli: Cli): void {
  withOperator(group.command('revoke <name>'))
    .description('refuse a token from now on; within two seconds everywhere')
    .option('--connection <name>', 'connection it opens (default: the only one, or default)')
    .option('--json', 'print as JSON')
    .action(async (name: string, flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      const connection = connectionOf(config, flags);
      const outcome = await withTokens(config, connection, (tokens) =>
        revokeToken(tokens, name, actorOf(cli, flags)),
      );
      if (outcome === 'in settings')
        throw new Error(`${name} stands in the settings of ${connection}: take it out there.`);
      if (outcome === 'unknown')
        throw new Error(`${connection} has no token ${name}: see scim-bridge token list.`);
      if (flags.json) sayJson({ connection, name, revoked: true });
      else say(`${name} is revoked.`);
    });
}

/** Runs `use` with the tokens of a connection of the settings. */
function withTokens<T>(
  config: Config,
  connection: string,
  use: (tokens: ConnectionTokens) => Promise<T>,
): Promise<T> {
  return withStore(config, (states) => {
    // Every connection of the settings has a state.
    const { tokens, acts } = states.find((each) => each.connection === connection) as DesiredState;
    return use({ settings: config.connections[connection]?.tokens ?? [], stored: tokens, acts });
  });
}

/** Returns the connection of the flags, or the only one, or `default`. @throws Error if it is not in the settings */
function connectionOf(config: Config, flags: Flags): string {
  const names = Object.keys(config.connections);
  const name = flags.connection ?? (names.length === 1 ? names[0] : 'default');
  if (name !== undefined && names.includes(name)) return name;
  throw new Error(`Say --connection with one of: ${names.join(', ')}.`);
}

function nameOf(text: string): string {
  if (TOKEN_NAME.test(text)) return text;
  throw new Error('A name has 1 to 32 lower-case letters, digits and inner hyphens.');
}

function expiryOf(text: string, now: number): number {
  const expiry = parseExpiry(text, now);
  if ('fault' in expiry) throw new Error(`--expires ${expiry.fault}`);
  return expiry.at;
}
