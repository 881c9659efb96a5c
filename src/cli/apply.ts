// Defines the command apply, which carries out what is left of a saved plan. The file may hold a plan for each connection and
// target. The command compares each of them with the present state (`reviewAll`): a change is done, because somebody made it
// already; left; or stale, because its resource has changed in another way since. If any change is stale, nothing is applied. Else
// the command prints what is left, asks, and applies one plan after another (`applyOne`). The command syncs the resources of a
// plan itself, so that they are written even when the service is not running, and writes nothing else.
import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { applySaved } from '../reconcile/apply/apply-saved.ts';
import type { RunReport } from '../directory/outbox/runs.ts';
import { DESTRUCTIVE, isChange, type PlanEntry } from '../reconcile/entry.ts';
import { parseSaved, writesIn, type Plan } from '../reconcile/plan.ts';
import { failedReport, TargetSilent } from '../reconcile/target-silent.ts';
import { type PlanReview, reviewPlan, scopeOfPlan } from '../reconcile/plan/review-plan.ts';
import { counted, total } from '../support/counted.ts';
import { readConfig, type Cli } from './cli.ts';
import { agrees, carryOutQuestion, confirm, UNCHANGED } from './confirm.ts';
import { deadlineOf, withDeadline, type DeadlineFlags } from './deadline.ts';
import { complainLostData } from './lost-data.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { complain, say, sayJson } from './output.ts';
import { printPlans } from './plan.ts';
import { unreadable } from './private-file.ts';
import { createProgressLine } from './progress.ts';
import { complainUnapplied, exitCodeOf, printReport } from './run-report.ts';
import { atTarget, withScopes, type CommandContext, type SelectedScope } from './scopes.ts';

interface ApplyFlags extends OperatorFlags, DeadlineFlags {
  yes?: boolean;
  json?: boolean;
}

/** A plan after its comparison with the present state, and the scope that it is for. */
interface Reviewed {
  review: PlanReview;
  each: SelectedScope;
}

/** Exit code when a resource has changed since the plan was made, in another way than planned. */
const EXIT_STALE = 3;
/** Largest number of stale changes that the message names. */
const MOST_STALE = 3;
/** Largest size of a plan file: its text is parsed as a whole, in memory. */
const MAX_PLAN_BYTES = 256 * 1024 * 1024;
/** Reason, for a message, why no change of a plan is applied: the plan was made with other settings. */
const OTHER_RULES = 'the mapping rules have changed since it was made';

export function applyCommand(program: Command, cli: Cli): void {
  withDeadline(withOperator(program.command('apply <file>')))
    .description(
      'carry out what is left of a saved plan; exit 3 if a resource in it has changed since in another way',
    )
    .option('--yes', 'do not ask; needed without a terminal when the plan takes something away')
    .option('--json', 'print as JSON')
    .action(async (file: string, flags: ApplyFlags, command: Command) => {
      const plans = parseSaved(readPlan(file));
      const options = { mayWrite: true, deadlineMs: deadlineOf(flags) };
      await withScopes(readConfig(command, cli), options, (context) => applyAll(plans, context, flags, cli));
    });
}

function readPlan(file: string): string {
  const size = sizeOf(file);
  if (size > MAX_PLAN_BYTES)
    throw new Error(
      `The plan ${file} has ${size} bytes, and ${MAX_PLAN_BYTES} can be read: make one with --target, or use scim-bridge reconcile.`,
    );
  return readFileSync(file, 'utf8');
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}

async function applyAll(plans: Plan[], context: CommandContext, flags: ApplyFlags, cli: Cli): Promise<void> {
  const leastExit = await complainLostData(context.readFleet);
  const { reviewed, stale } = await reviewAll(plans, context);
  if (stale.length > 0) {
    complainStale(stale);
    cli.exit(EXIT_STALE);
    return;
  }
  const reviews = reviewed.map(({ review }) => review);
  const isDataLost = leastExit === 1;
  if (!flags.json) printLeft(plans[0]?.createdAt, reviews, cli, isDataLost);
  const left = reviews.map((review) => review.left);
  if (!(await isAgreed(left, flags, context.signal))) {
    complain(UNCHANGED);
    cli.exit(1);
    return;
  }
  const reports = [];
  for (const { review, each } of reviewed) reports.push(await applyOne(review, each, context, flags, cli));
  await complainUnapplied(
    reviewed.map(({ each }) => each),
    context.readFleet,
  );
  if (flags.json) sayJson(reports);
  cli.exit(exitCodeOf(reports) || leastExit);
}

/**
 * Compares the saved plans with the present state.
 * @returns `reviewed`: the plans that were made with the present mapping rules. `stale`: a line for each of their stale changes,
 * and OTHER_RULES for each other plan
 * @throws Error if the settings do not have the connection or target of a plan
 */
async function reviewAll(
  plans: Plan[],
  context: CommandContext,
): Promise<{ reviewed: Reviewed[]; stale: string[] }> {
  // The scopes of all plans are looked up before the first read of the platform.
  const pairs = plans.map((plan) => ({ plan, each: scopeOfPlan(plan, context.scopes) }));
  const reviewed: Reviewed[] = [];
  const stale: string[] = [];
  for (const { plan, each } of pairs) {
    const review = await atTarget(each, context, (answering) => reviewPlan(each.scope, plan, answering));
    if (!review) {
      stale.push(OTHER_RULES);
      continue;
    }
    stale.push(...review.stale.map((entry) => staleText(entry, review)));
    reviewed.push({ review, each });
  }
  return { reviewed, stale };
}

/** Returns a stale entry in words, with the reason if the platform has refused the change. */
function staleText({ action, kind, name, ref }: PlanEntry, { refused }: PlanReview): string {
  const isRefused = ref !== null && refused.has(ref);
  return `${action} ${kind} ${name}${isRefused ? ': the platform refused it, see scim-bridge dead-letters list' : ''}`;
}

function complainStale(stale: string[]): void {
  if (stale.includes(OTHER_RULES)) complain(`The plan is stale: ${OTHER_RULES}.`);
  const changes = stale.filter((line) => line !== OTHER_RULES);
  if (changes.length > 0) {
    const verb = changes.length === 1 ? 'does' : 'do';
    complain(`The plan is stale: ${changes.length} of its changes ${verb} not hold any more, such as`);
    for (const line of changes.slice(0, MOST_STALE)) complain(`  ${line}`);
  }
  complain('Nothing was changed. Make a new one with scim-bridge plan --out FILE.');
}

/**
 * Prints the changes of saved plans that are still to be made, and the number of those that are made already.
 * @param createdAt time at which the plans were saved; undefined: the file holds no plan
 */
function printLeft(
  createdAt: string | undefined,
  reviews: PlanReview[],
  cli: Cli,
  isDataLost: boolean,
): void {
  if (createdAt !== undefined)
    say(`Saved at ${createdAt}; only the resources that it changes were checked for later changes.`);
  // A plan whose changes are all done is not printed.
  const shown = reviews.filter(({ done, left }) => done === 0 || writesIn(left) > 0);
  printPlans(
    shown.map(({ left }) => left),
    cli,
    { isDataLost },
  );
  const done = total(reviews.map((review) => review.done));
  if (done > 0 && shown.length > 0)
    say(
      `Nothing is left to do of ${counted(done, 'change')}, by what the platform shows now; not shown above.`,
    );
}

/**
 * Asks the operator before plans are applied. Plans with a destructive change need a confirmation; others may be applied
 * unattended.
 * @returns false: the operator said no
 * @throws Error when plans with a destructive change are not confirmed
 */
async function isAgreed(left: Plan[], flags: ApplyFlags, ended: AbortSignal): Promise<boolean> {
  const writes = total(left.map(writesIn));
  const question = carryOutQuestion(writes);
  const isDestructive = (entry: PlanEntry): boolean => isChange(entry) && DESTRUCTIVE.has(entry.action);
  if (!left.some(({ entries }) => entries.some(isDestructive)))
    return writes === 0 || agrees(flags, question, ended);
  await confirm(flags, question, { ended });
  return true;
}

async function applyOne(
  review: PlanReview,
  each: SelectedScope,
  context: CommandContext,
  flags: ApplyFlags,
  cli: Cli,
): Promise<RunReport> {
  const { name, scope, guard } = each;
  const progress = createProgressLine(name);
  const startedAt = await scope.runs.now();
  const report = await atTarget(
    each,
    context,
    (answering) =>
      applySaved(scope, review, {
        guard,
        signal: answering,
        logger: context.deps.logger,
        orderedBy: actorOf(cli, flags),
        syncsItself: true,
        onProgress: progress.show,
      }),
    progress.note,
  )
    .catch(async (error: unknown) => {
      if (!(error instanceof TargetSilent)) throw error;
      return failedReport(startedAt, await scope.runs.now(), error.message);
    })
    .finally(progress.end);
  if (!flags.json) printReport(name, report);
  return report;
}
