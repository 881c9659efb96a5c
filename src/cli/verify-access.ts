// Defines the command verify-access, which follows one user from the push to the data that the user sees. It prints the stages, the
// groups and attributes by which the data is filtered, and the rows (`render`).
import { readFileSync } from 'node:fs';
import Table from 'cli-table3';
import { InvalidArgumentError, type Command } from 'commander';
import type { AccessReport, AccessResult, CheckedStage, QueryOutcome } from '../verify-access/report.ts';
import { verifyAccess, type AccessQuestion } from '../verify-access/verify-access.ts';
import { EXIT_CONFIG, readConfig, type Cli } from './cli.ts';
import { ConfigError } from '../config/load.ts';
import { requireKnown } from './required-names.ts';
import { reportUnknown, UnknownResource } from './unknown-resource.ts';
import { withScopes } from './scopes.ts';
import { complain, sayJson, sayLines } from './output.ts';
import { unreadable } from './private-file.ts';
import { visible } from '../support/visible.ts';

interface Flags {
  connection?: string;
  target?: string;
  deployment?: string;
  environment?: string;
  query?: string;
  timeout: number;
  dataUrl?: string;
  secretFile?: string;
  json?: boolean;
}

/** Variable with the API secret. The secret is no argument, because all users of the machine can read arguments. */
const SECRET_VARIABLE = 'DEPLOYMENT_API_SECRET';

export function verifyAccessCommand(program: Command, cli: Cli): void {
  program
    .command('verify-access <user>')
    .description(
      'what this person would really see; exit 2 where a stage from the push to the data is missing',
    )
    .option('--connection <name>', 'where the same person came through several')
    .option('--target <name>', 'where the person is brought to several')
    .option('--deployment <id>', 'id or name (default: the first that the platform key reaches)')
    .option('--environment <id>', 'id or name (default: production)')
    .option('--query <json>', 'JSON query to run, or a file with one (default: a count that fits)')
    .option('--data-url <url>', 'base address of the data API, where the environment does not show it')
    .option(
      '--secret-file <file>',
      `API secret of the deployment, with which the query runs in the person's name (or ${SECRET_VARIABLE})`,
    )
    .option('--timeout <seconds>', 'time for all calls of the platform, 1 to 3600', toSeconds, 30)
    .option('--json', 'print as JSON, also where the check fails')
    .action(async (user: string, flags: Flags, command: Command) => {
      try {
        const config = readConfig(command, cli);
        requireKnown(config, flags);
        const question = toQuestion(user, flags, cli);
        const options = { target: flags.target };
        const report = await withScopes(config, options, async ({ scopes, readFleet, signal }) => {
          const deps = {
            scopes: scopes.map(({ scope }) => scope),
            addresses: config.targets,
            readFleet,
            tell: complain,
          };
          // If the signal has ended a call, the check reports that call as failed. The reason of the signal is thrown instead.
          return verifyAccess(deps, question, signal).finally(() => signal.throwIfAborted());
        });
        if (flags.json) sayJson(report);
        else sayLines(render(report));
        if (!report.person) {
          const code = await reportUnknown(new UnknownResource(user, { config, ...flags, isPerson: true }));
          return cli.exit(code ?? 1);
        }
        if (report.result === 'unknown') complain(uncheckedText(report));
        cli.exit(ACCESS_EXITS[report.result]);
      } catch (error) {
        if (flags.json) sayJson({ ok: false, result: 'unknown', asked: user, error: messageOf(error) });
        throw error;
      }
    });
}

/** Exit code of each result. `missing`: a stage between the push and the data was not reached; `unknown`: not all were checked. */
export const ACCESS_EXITS: Readonly<Record<AccessResult, number>> = { complete: 0, missing: 2, unknown: 1 };

/** Returns the message of an error for JSON; for unusable settings with every fault. */
function messageOf(error: unknown): string {
  if (error instanceof ConfigError)
    return `The settings cannot be used (exit ${EXIT_CONFIG}): ${error.faults.map(({ path, message }) => `${path}: ${message}`).join('; ')}`;
  return error instanceof Error ? error.message : String(error);
}

function uncheckedText({ chain, fault }: AccessReport): string {
  const unchecked = chain.find(({ ok }) => ok === undefined);
  return `The stage "${unchecked?.stage ?? 'visible'}" could not be checked: ${fault?.message ?? unchecked?.detail ?? ''}`;
}

function toQuestion(user: string, flags: Flags, { env }: Cli): AccessQuestion {
  const { connection, target, deployment, environment, dataUrl, secretFile, timeout } = flags;
  const secret = secretFile === undefined ? env[SECRET_VARIABLE] : readSecret(secretFile);
  const query = flags.query === undefined ? undefined : toQuery(flags.query);
  const choice = { connection, target, deployment, environment, query, dataUrl };
  return { user, ...choice, secret: secret || undefined, timeoutMs: timeout * 1000 };
}

/** Returns the content of a file without blanks around it. @throws Error when there is no such file */
function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds >= 1 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('Seconds from 1 to 3600.');
}

/** Parses a query, or reads it from the file of this name. @throws Error that says what is wrong */
function toQuery(text: string): Record<string, unknown> {
  let query: unknown;
  try {
    // A JSON string or list is parsed too: it is refused below as no object, and no file of that name is looked for.
    const json = /^\s*[[{"]/.test(text) ? text : readFileSync(text, 'utf8');
    query = JSON.parse(json);
  } catch (error) {
    throw new Error(`--query: neither a JSON object nor a file with one (${(error as Error).message}).`, {
      cause: error,
    });
  }
  if (typeof query === 'object' && query !== null && !Array.isArray(query)) return { ...query };
  throw new Error('--query: a query is a JSON object such as {"measures":["orders.count"]}.');
}

function render(report: AccessReport): string[] {
  const { asked, person, chain, differences, securityContext, entities, query, notes } = report;
  const title = person ? `${person.userName}  ${person.connection} → ${person.target}` : asked;
  const differing = differences.map(
    ({ name, desired, actual, unmappable }) =>
      `              ${name}: ${
        unmappable === undefined ? `wanted ${JSON.stringify(desired)}` : `cannot be mapped (${unmappable})`
      }, is ${JSON.stringify(actual)}`,
  );
  const lines = [title, ''];
  for (const each of chain) lines.push(renderStage(each), ...(each.stage === 'applied' ? differing : []));
  if (securityContext) {
    const { groups, userAttributes } = securityContext.cubeCloud;
    lines.push('', `  groups      ${groups.join(', ') || 'none'}`);
    for (const [name, value] of Object.entries(userAttributes))
      lines.push(`  ${name.padEnd(11)} ${JSON.stringify(value)}`);
  }
  if (entities) lines.push('', `  sees        ${entities.map(({ name }) => name).join(', ') || 'nothing'}`);
  if (query) lines.push(...renderQuery(query));
  for (const note of notes) lines.push(`  note        ${note}`);
  return lines;
}

function renderStage({ stage, ok, at, afterMs, tookMs, detail }: CheckedStage): string {
  // –: the stage was not checked.
  let sign = '–';
  if (ok !== undefined) sign = ok ? '✔' : '✘';
  // The stages `push` and `stored` have the same time (verify-access/chain.ts), so `0 ms later` would say nothing.
  const times = [
    ...(afterMs === undefined || stage === 'stored' ? [] : [`${afterMs} ms later`]),
    ...(tookMs === undefined ? [] : [`looked ${tookMs} ms`]),
  ];
  const text = times.length > 0 ? `${detail} (${times.join(', ')})` : detail;
  // 9: the longest name of a stage; 24: a time as ISO 8601.
  return `  ${sign} ${stage.padEnd(9)} ${(at ?? '–').padEnd(24)}  ${text}`;
}

function renderQuery(outcome: QueryOutcome): string[] {
  if (outcome.kind === 'nothingToAsk') return [];
  if (outcome.kind === 'rows')
    return [
      `  query       ${JSON.stringify(outcome.query)} (${outcome.tookMs} ms)`,
      ...renderRows(outcome.rows).map((line) => `              ${line}`),
    ];
  if (outcome.kind === 'notAllowed')
    return [
      `  query       not run: ${outcome.message}`,
      `              give the deployment's API secret in ${SECRET_VARIABLE} to see rows`,
    ];
  return [
    `  query       ${outcome.query ? JSON.stringify(outcome.query) : 'not run'}`,
    `              ${outcome.kind}: ${outcome.message}`,
    `              ${outcome.meaning}`,
  ];
}

function renderRows(rows: Record<string, unknown>[]): string[] {
  const [first] = rows;
  if (!first) return ['no rows'];
  const names = Object.keys(first);
  const sides = ['top', 'bottom', 'left', 'right'].flatMap((side) => [
    side,
    `${side}-mid`,
    `${side}-left`,
    `${side}-right`,
  ]);
  const table = new Table({
    head: names,
    chars: { ...Object.fromEntries([...sides, 'mid', 'mid-mid'].map((name) => [name, ''])), middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(names.map((name) => visible(shown(row[name]))));
  return table.toString().split('\n');
}

/** Returns a cell as text; a missing value is a dash. The data API returns numbers as text, so text is printed without quotes. */
const shown = (value: unknown): string => {
  const text = value ?? '–';
  return typeof text === 'string' ? text : JSON.stringify(text);
};
