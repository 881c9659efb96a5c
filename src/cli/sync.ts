// Defines the command sync, which syncs one user or group at once, at one target after another. At each target it prints the steps
// as they are made, and then how the sync ended. With --dry-run it prints what differs, and writes nothing.
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { SyncOutcomeName, SyncReport } from '../ops/sync/sync-outcome.ts';
import { connectionsOf } from '../explain/explain.ts';
import { syncOne } from '../ops/sync/sync-one.ts';
import type { Config } from '../config/schema.ts';
import type { Actor } from '../directory/logs/acts.ts';
import { isChange, type PlanEntry } from '../reconcile/entry.ts';
import { actionName } from '../reconcile/text/render-words.ts';
import { readConfig, type Cli } from './cli.ts';
import { MAX_MS } from './deadline.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { atTargetOrTell, withScopes, type CommandContext } from './scopes.ts';
import { logLineText } from './log-text.ts';
import { findMeant } from './unknown-resource.ts';
import { say, sayJson } from './output.ts';

interface Flags extends OperatorFlags {
  target?: string;
  dryRun?: boolean;
  json?: boolean;
  /** Seconds, as typed. */
  timeout: string;
}

/** Exit code of each outcome of a sync; docs/commands.md has the same table. */
export const SYNC_EXITS: Record<SyncOutcomeName, number> = { equal: 0, held: 2, waiting: 2, needsPerson: 1 };

export function syncCommand(program: Command, cli: Cli): void {
  withOperator(program.command('sync <user|group>'))
    .description(
      'compare one person or group with the platform and bring what differs, now; exit 2 when the change is held or waits, 1 when it was refused',
    )
    .option('--target <name>', 'only this target')
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--timeout <seconds>', 'how long to try', '30')
    .option('--json', 'print as JSON')
    .action(async (text: string, flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      const options = { target: flags.target, mayWrite: !flags.dryRun };
      const { reports, isWhole } = await withScopes(config, options, (context) =>
        syncAll(text, { ...context, config }, flags, actorOf(cli, flags)),
      );
      if (flags.json) sayJson(reports);
      const codes = reports.map(exitCodeOf);
      // A refusal (1) at one target outweighs a held change (2) at another, as in the exit code of reconcile.
      cli.exit(!isWhole || codes.includes(1) ? 1 : Math.max(...codes));
    });
}

/**
 * Syncs the resource that `text` names at each target of each connection that pushed it.
 * @returns `reports`: one for each target that answered; `isWhole`: every target has answered
 * @throws UnknownResource; Error if `text` means several refs
 */
async function syncAll(
  text: string,
  context: CommandContext & { config: Config },
  flags: Flags,
  actor: Actor,
): Promise<{ reports: SyncReport[]; isWhole: boolean }> {
  const { scopes, config } = context;
  const searched = connectionsOf(scopes.map(({ scope }) => scope));
  const found = await findMeant(searched, text, { config, target: flags.target });
  const limitMs = Number(flags.timeout) * 1000;
  if (!(limitMs > 0 && limitMs <= MAX_MS))
    throw new Error(`--timeout is a number of seconds above 0, at most ${Math.floor(MAX_MS / 1000)}.`);
  const reports: SyncReport[] = [];
  let isWhole = true;
  const print = (line: string): void => {
    if (!flags.json) say(line);
  };
  for (const each of found) {
    const ofConnection = scopes.filter(({ scope: { connection } }) => connection === each.connection);
    for (const { scope, name } of ofConnection) {
      print(`${each.kind} ${each.name} (${each.ref}), ${name}`);
      const report = await atTargetOrTell({ scope, name }, context, (answering) =>
        syncOne(scope, each, {
          dryRun: flags.dryRun ?? false,
          actor,
          limitMs,
          signal: answering,
          logger: context.deps.logger,
          onStep: (step) => print(`  ${logLineText(step)}`),
        }),
      );
      isWhole &&= report !== undefined;
      if (!report) continue;
      for (const line of endLines(report)) print(`  ${line}`);
      reports.push(report);
    }
  }
  return { reports, isWhole };
}

/**
 * Returns the exit code of one sync: by its outcome, or after a dry run as for `plan`. 0: nothing would be written; 2:
 * something would; 1: the platform was not read.
 */
function exitCodeOf({ differences, outcome }: SyncReport): number {
  if (outcome !== undefined) return SYNC_EXITS[outcome];
  if (differences === null) return 1;
  return differences.some(isChange) ? 2 : 0;
}

const OUTCOME_WORDS: Record<SyncOutcomeName, string> = {
  equal: 'equal',
  held: 'held',
  waiting: 'waiting',
  needsPerson: 'needs a person',
};

/** Returns the lines after the steps of a sync: how it ended, or after a dry run what differs. */
const endLines = (report: SyncReport): string[] =>
  report.dryRun ? dryRunLines(report) : [syncedText(report)];

const reasonText = (message: string | undefined): string => (message === undefined ? '' : `: ${message}`);

/** @param message tells what is not as desired or not known; with it, the word `equal` would be untrue */
const nothingText = (message: string | undefined): string =>
  message === undefined ? 'nothing to do, equal already' : `nothing to do: ${message}`;

function syncedText({ steps, outcome = 'equal', message }: SyncReport): string {
  const because = reasonText(message);
  const wrote = steps.some(({ status, action }) => status === 'success' && action !== 'none');
  if (outcome !== 'equal' || (wrote && message === undefined)) return `${OUTCOME_WORDS[outcome]}${because}`;
  return wrote ? `nothing more to do${because}` : nothingText(message);
}

function dryRunLines({ differences, message }: SyncReport): string[] {
  const because = reasonText(message);
  if (differences === null)
    return [
      message === undefined
        ? 'the platform could not be read: nothing is known of what differs'
        : `the platform was not read, so nothing is known of what differs${because}`,
    ];
  if (differences.length === 0) return [nothingText(message)];
  const changes = differences.filter(isChange);
  const others = differences.filter((entry) => !isChange(entry));
  return [
    ...(changes.length > 0
      ? ['would write:', ...changes.flatMap(differenceLines)]
      : [`nothing would be written${because}`]),
    ...(others.length === 0 ? [] : ['differs and is not written:', ...others.flatMap(differenceLines)]),
    ...(changes.length > 0 && message !== undefined ? [message] : []),
  ];
}

function differenceLines({ action, name, member, attribute, before, after, reason }: PlanEntry): string[] {
  const subject = member ? `${member.name} in ${name}` : (attribute ?? name);
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const lines = [`  ${actionName(action)} ${subject} (${reason})`];
  // A membership has no values of its own.
  if (member) return lines;
  for (const each of names) {
    const old = before?.[each] ?? null;
    const wanted = after?.[each] ?? null;
    if (!isDeepStrictEqual(old, wanted))
      lines.push(`      ${each}: ${JSON.stringify(old)} → ${JSON.stringify(wanted)}`);
  }
  return lines;
}
