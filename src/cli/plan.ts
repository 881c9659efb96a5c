// Defines the command plan, which compares the desired state with the platform and writes nothing there. It makes a plan for each
// connection and target (`makePlans`), saves the plans if --out is given, prints them (`printPlans`), and exits by their outcome
// (`EXITS`).
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { renderPlan, type RenderOptions } from '../reconcile/text/render.ts';
import { planWhileAnswering } from '../reconcile/plan/plan-while-answering.ts';
import { TargetSilent } from '../reconcile/target-silent.ts';
import { driftOnly, outcomeOf, savedPieces, type Plan } from '../reconcile/plan.ts';
import { inPieces } from '../support/pieces.ts';
import { visible } from '../support/visible.ts';
import { readConfig, type Cli } from './cli.ts';
import { withScopes } from './scopes.ts';
import { createProgressLine } from './progress.ts';
import { complainLostData } from './lost-data.ts';
import { deadlineOf, withDeadline, type DeadlineFlags } from './deadline.ts';
import { BLANK_LINE, complain, say, sayLines, sayPainted } from './output.ts';
import { writePrivately } from './private-file.ts';

interface PlanFlags extends DeadlineFlags {
  target?: string;
  json?: boolean;
  /** File to which the plan is saved. */
  out?: string;
  driftOnly?: boolean;
  full?: boolean;
  all?: boolean;
}

/**
 * Exit codes. `no changes`: 1 if data was lost (`leastExit`). `unproven`: a list was incomplete, so an empty plan does not prove
 * that there are no changes.
 */
const EXITS = { 'no changes': 0, changes: 2, unproven: 1 };

export function planCommand(program: Command, cli: Cli): void {
  withDeadline(program.command('plan'))
    .description(
      'compare everything and show what differs, without writing; with --config NEW.yaml what other settings would do',
    )
    .option('--target <name>', 'only this target')
    .option('--json', 'print as JSON')
    .option('--out <file>', 'save the plan, for scim-bridge apply')
    .option('--drift-only', 'only changes that others made at the platform')
    .option('--full', 'read the members of all groups and the attribute values of all users')
    .option('--all', 'show every change, however many')
    .action(async (flags: PlanFlags, command: Command) => {
      const { plans, failures, missing, leastExit } = await makePlans(flags, command, cli);
      const isWhole = missing.length === 0;
      for (const each of failures) complain(each);
      const outcome = outcomeOf(plans);
      // A plan that proves nothing must not replace a saved plan that an operator has reviewed.
      const isSaved = isWhole && outcome !== 'unproven';
      if (flags.out !== undefined && isSaved)
        await writePrivately(flags.out, { overwrite: true }, async (out) => {
          for (const piece of inPieces(savedText(plans))) await out.writeFile(piece);
        });
      // `end: false` leaves standard output open.
      if (flags.json)
        await pipeline(Readable.from(inPieces(savedText(plans))), process.stdout, { end: false });
      else printPlans(plans, cli, { ...flags, isDataLost: leastExit === 1 });
      if (!isWhole) {
        complain(partialText(plans, missing, flags.out));
        cli.exit(1);
        return;
      }
      if (flags.out !== undefined && !isSaved) complain(`${flags.out} was not written.`);
      else if (flags.out !== undefined && !flags.json)
        say(BLANK_LINE, `Saved: scim-bridge apply ${flags.out} carries out exactly this.`);
      cli.exit(EXITS[outcome] || leastExit);
    });
}

/** @param missing names of the connections and targets without a plan @param out file that --out names */
const partialText = (made: Plan[], missing: string[], out: string | undefined): string =>
  (made.length === 0
    ? 'No plan was made.'
    : `The plan is partial: it has ${made.map(({ connection, target }) => `${connection} → ${target}`).join(', ')}, ` +
      `and not ${missing.join(', ')}.`) + (out === undefined ? '' : ` ${out} was not written.`);

function* savedText(plans: Plan[]): Generator<string> {
  for (const piece of savedPieces(plans)) yield visible(piece);
  yield '\n';
}

/** Result of `makePlans`. */
interface Made {
  plans: Plan[];
  /** A sentence for each target that does not answer. */
  failures: string[];
  /** Connections and targets without a plan. */
  missing: string[];
  /** Exit code of plans without changes. 1: Redis came back empty, so they are no success. */
  leastExit: 0 | 1;
}

/** Makes the plan of each connection and target. A target that does not answer is among the failures. */
async function makePlans(flags: PlanFlags, command: Command, cli: Cli): Promise<Made> {
  const options = { target: flags.target, deadlineMs: deadlineOf(flags) };
  return withScopes(readConfig(command, cli), options, async ({ scopes, readFleet, signal, deps }) => {
    const leastExit = await complainLostData(readFleet);
    const plans: Plan[] = [];
    const missing: string[] = [];
    const failures = new Map<string, string>();
    for (const { name, scope, readTrail } of scopes) {
      const target = scope.target.name;
      // The plan of another connection has found that the target does not answer.
      if (failures.has(target)) {
        missing.push(name);
        continue;
      }
      const progress = createProgressLine(name);
      const made = await planWhileAnswering(
        scope,
        {
          id: deps.ids.request(),
          full: flags.full ?? false,
          signal,
          onProgress: progress.show,
          readTrail, // reads the platform's audit log: who changed which resource
        },
        progress.note,
      )
        .catch((error: unknown) => {
          if (!(error instanceof TargetSilent)) throw error;
          failures.set(target, error.message);
          missing.push(name);
          return undefined;
        })
        .finally(progress.end);
      if (made) plans.push(flags.driftOnly ? driftOnly(made) : made);
    }
    return { plans, failures: [...failures.values()], missing, leastExit };
  });
}

/** Prints plans as text, in colours on a terminal. @param options.all every change is listed; default: as many as fit a screen */
export function printPlans(
  plans: Plan[],
  { env }: Cli,
  { all = false, ...rest }: Partial<Omit<RenderOptions, 'colour'>> = {},
): void {
  const colour = process.stdout.isTTY && !env.NO_COLOR;
  for (const each of plans) {
    if (colour) sayPainted(each, (plan) => renderPlan(plan, { ...rest, all, colour }));
    else sayLines(renderPlan(each, { ...rest, all, colour }));
  }
}
