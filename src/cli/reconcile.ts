// Defines the commands reconcile and apply. A worker runs in the process of the command, so that the changes are
// applied even when the service is not running.
import { readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Outcome, RunReport } from '../directory/outbox/runs.ts';
import { changesIn, parseSaved, writesIn, type Plan } from '../reconcile/plan.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { confirm, NEEDS_YES } from './confirm.ts';
import { DESTRUCTIVE, isChange, type PlanEntry } from '../reconcile/entry.ts';
import { counted } from '../support/counted.ts';
import type { PlanReview } from '../reconcile/review-plan.ts';
import { withScopes, type CommandContext, type SelectedScope } from './scopes.ts';
import { printPlans } from './plan.ts';
import { unreadable } from './private-file.ts';
import { createProgressLine } from './progress.ts';
import { deadlineOf, withDeadline, type DeadlineFlags } from './deadline.ts';
import { complain, say, sayJson } from './output.ts';

interface Flags extends OperatorFlags, DeadlineFlags {
  target?: string;
  yes?: boolean;
  json?: boolean;
  full?: boolean;
  /** The target is meant to be another tenant than before. */
  acceptTenant?: boolean;
}

/** Exit code of apply for a stale plan. */
const EXIT_STALE = 3;
/** Largest number of stale changes that are named. */
const MOST_STALE = 3;
/** Largest size of a plan file: its text is parsed as a whole, in memory. */
const MAX_PLAN_BYTES = 256 * 1024 * 1024;
/** 2: a part waits for a person or was only reported; 1: not everything is as desired. */
const EXIT_CODES: Record<Outcome, number> = {
  converged: 0,
  held: 2,
  drifted: 2,
  blocked: 1,
  unproven: 1,
  incomplete: 1,
  failed: 1,
};

export function reconcileCommand(program: Command, cli: Cli): void {
  withDeadline(withOperator(program.command('reconcile')))
    .description('compare everything, repair what differs, and wait until it is applied')
    .option('--target <name>', 'only this target')
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print as JSON')
    .option(
      '--accept-tenant',
      'the target is meant to be another tenant: forget the links to the former one; needs --yes without a terminal',
    )
    .option('--full', 'read the members of all groups and the attribute values of all users')
    .action(async (flags: Flags, command: Command) => {
      if (flags.acceptTenant && flags.target === undefined)
        throw new Error('Name the target that is exchanged: --accept-tenant needs --target.');
      if (flags.acceptTenant && !mayAsk(flags) && !flags.yes) throw new Error(NEEDS_YES);
      const options = { target: flags.target, worker: true, deadlineMs: deadlineOf(flags) };
      const reports = await withScopes(readConfig(command, cli), options, async (context) => {
        const found = [];
        for (const each of context.scopes) found.push(await runOne(each, context, flags, cli));
        return found;
      });
      if (flags.json) sayJson(reports);
      cli.exit(worst(reports.map(({ outcome }) => EXIT_CODES[outcome])));
    });
}

export function applyCommand(program: Command, cli: Cli): void {
  withDeadline(withOperator(program.command('apply <file>')))
    .description(
      'carry out what is left of a saved plan; exit 3 if a resource in it has changed since in another way',
    )
    .option('--yes', 'do not ask; needed without a terminal when the plan takes something away')
    .option('--json', 'print as JSON')
    .action(async (file: string, flags: Flags, command: Command) => {
      const plans = parseSaved(readPlan(file));
      await withScopes(
        readConfig(command, cli),
        { worker: true, deadlineMs: deadlineOf(flags) },
        async (context) => {
          const pairs = plans.map((plan) => ({ plan, each: scopeOfPlan(plan, context.scopes) }));
          const stale: string[] = [];
          const reviewed: { review: PlanReview; each: SelectedScope }[] = [];
          for (const { plan, each } of pairs) {
            const review = await reviewOf(plan, each, context.signal);
            stale.push(...(review?.stale.map((entry) => whyStale(entry, review)) ?? [OTHER_RULES]));
            if (review) reviewed.push({ review, each });
          }
          if (stale.length > 0) {
            complain(
              `The plan is stale: ${stale.length} of its changes ${stale.length === 1 ? 'does' : 'do'} not hold any more, such as`,
            );
            for (const line of stale.slice(0, MOST_STALE)) complain(`  ${line}`);
            complain('Nothing was changed. Make a new one with scim-bridge plan --out FILE.');
            cli.exit(EXIT_STALE);
            return;
          }
          if (!flags.json) {
            const [first] = plans;
            if (first)
              say(
                `Saved at ${first.createdAt}; only the resources that it changes were checked for later changes.`,
              );
            await printLeft(
              reviewed.map(({ review }) => review),
              cli,
            );
          }
          const left = reviewed.map(({ review }) => review.left);
          const total = left.reduce((sum, plan) => sum + writesIn(plan), 0);
          // A saved plan with removals needs a confirmation; one without removals may be applied unattended.
          const takesAway = left.some(({ entries }) => entries.some(isRemoval));
          if (takesAway) await confirm(flags, carryOutQuestion(total));
          else if (total > 0 && !(await agreed(flags, carryOutQuestion(total)))) {
            cli.exit(1);
            return;
          }
          const reports = [];
          for (const { review, each } of reviewed)
            reports.push(await carryOut(review, each, context, flags, cli));
          if (flags.json) sayJson(reports);
          cli.exit(worst(reports.map(({ outcome }) => EXIT_CODES[outcome])));
        },
      );
    });
}

/** Returns the size of a file in bytes. @throws Error for a file that cannot be read */
function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}

/** Reads a plan file. @throws Error for a file that is missing or too large */
function readPlan(file: string): string {
  const size = sizeOf(file);
  if (size > MAX_PLAN_BYTES)
    throw new Error(
      `The plan ${file} has ${size} bytes, and ${MAX_PLAN_BYTES} can be read: make one with --target, or use scim-bridge reconcile.`,
    );
  return readFileSync(file, 'utf8');
}

/** Returns the worst exit code of several targets: 1 error, 2 held changes, 0 equal. */
function worst(codes: number[]): number {
  if (codes.includes(1)) return 1;
  return codes.includes(2) ? 2 : 0;
}

/** Reconciles one target and prints the report. A target that does not answer gives a failed report. */
async function runOne(
  { name, scope, guard, readTrail }: SelectedScope,
  { signal, deps }: CommandContext,
  flags: Flags,
  cli: Cli,
): Promise<RunReport> {
  const run = await import('../reconcile/run.ts');
  const { whileAnswering } = await import('../reconcile/while-answering.ts');
  const { failedReport, TargetSilent } = await import('../reconcile/target-silent.ts');
  const progress = createProgressLine(name);
  const startedAt = deps.clock.now();
  const done = await whileAnswering(
    scope,
    signal,
    (answering) =>
      run.reconcile(scope, {
        id: deps.ids.request(),
        repair: true,
        full: flags.full ?? false,
        acceptTenant: flags.acceptTenant ?? false,
        orderedBy: actorOf(cli, flags),
        guard,
        signal: answering,
        logger: deps.logger,
        readTrail,
        onProgress: progress.show,
        onWait: () => progress.note('waits for a reconcile that is in progress'),
        confirm: async (made) => {
          progress.end();
          if (!flags.json) await printPlans([made], false, cli);
          const question = carryOutQuestion(writesIn(made));
          return agreed(
            flags,
            made.anotherTenant === undefined
              ? question
              : `Forget the links to the former tenant? ${question}`,
          );
        },
      }),
    progress.note,
  )
    .catch((error: unknown) => {
      if (error instanceof TargetSilent) return error;
      throw error;
    })
    .finally(progress.end);
  if (done instanceof TargetSilent) {
    if (!flags.json) complain(`${name}: failed: ${done.message}`);
    return failedReport(startedAt, deps.clock.now(), done.message);
  }
  const { report, plan } = done;
  if (!flags.json) {
    // A plan with changes was printed before the question.
    if (plan && changesIn(plan) === 0) await printPlans([plan], false, cli);
    printReport(name, report);
  }
  return report;
}

/** Prints the outcome of a run. */
function printReport(name: string, { outcome, message }: RunReport): void {
  say('', `${name}: ${outcome}${message === undefined ? '' : `: ${message}`}`);
}

/** Returns the scope of a saved plan. @throws Error if the settings do not have it */
function scopeOfPlan(plan: Plan, scopes: SelectedScope[]): SelectedScope {
  const found = scopes.find(
    ({ scope }) => scope.connection === plan.connection && scope.target.name === plan.target,
  );
  if (!found)
    throw new Error(`The plan is for ${plan.connection} → ${plan.target}, which the settings do not have.`);
  return found;
}

/** Why no change of a plan can be applied after other settings. */
const OTHER_RULES = 'the mapping rules have changed since it was made';

/** Returns a stale entry in words, with the reason if the platform has refused the change. */
function whyStale({ action, kind, name, ref }: PlanEntry, { refused }: PlanReview): string {
  const isRefused = ref !== null && refused.has(ref);
  return `${action} ${kind} ${name}${isRefused ? ': the platform refused it, see scim-bridge dead-letters list' : ''}`;
}

/** Prints what is left of saved plans, and of how many changes nothing is left. */
async function printLeft(reviews: PlanReview[], cli: Cli): Promise<void> {
  let done = 0;
  // A plan whose changes are all done is not printed.
  for (const each of reviews) done += each.done;
  const left = reviews.filter((each) => each.done === 0 || writesIn(each.left) > 0);
  await printPlans(
    left.map((each) => each.left),
    false,
    cli,
  );
  if (done > 0 && left.length > 0)
    say(
      `Nothing is left to do of ${counted(done, 'change')}, by what the platform shows now; not shown above.`,
    );
}

/** Compares a saved plan with the present state. @returns undefined when it was made with other mapping rules */
async function reviewOf(
  plan: Plan,
  { name, scope }: SelectedScope,
  signal: AbortSignal,
): Promise<PlanReview | undefined> {
  if (plan.mapping !== scope.digest) return undefined;
  const { reviewPlan } = await import('../reconcile/review-plan.ts');
  const { whileAnswering } = await import('../reconcile/while-answering.ts');
  return whileAnswering(
    scope,
    signal,
    (answering) => reviewPlan(scope, plan, answering),
    (waiting) => complain(`${name}: ${waiting}`),
  );
}

/** Applies what is left of one plan and prints the report. */
async function carryOut(
  review: PlanReview,
  { name, scope, guard }: SelectedScope,
  { signal, deps }: CommandContext,
  flags: Flags,
  cli: Cli,
): Promise<RunReport> {
  const { applySaved } = await import('../reconcile/run.ts');
  const { whileAnswering } = await import('../reconcile/while-answering.ts');
  const progress = createProgressLine(name);
  const report = await whileAnswering(
    scope,
    signal,
    (answering) =>
      applySaved(scope, review, {
        guard,
        signal: answering,
        logger: deps.logger,
        orderedBy: actorOf(cli, flags),
        onProgress: progress.show,
      }),
    progress.note,
  ).finally(progress.end);
  if (!flags.json) printReport(name, report);
  return report;
}

/** Returns the question before changes are applied. */
const carryOutQuestion = (count: number): string =>
  count === 1 ? 'Carry out this change?' : `Carry out these ${count} changes?`;

/** Returns whether applying the entry takes access or values away. */
const isRemoval = (entry: PlanEntry): boolean => isChange(entry) && DESTRUCTIVE.has(entry.action);

/** Returns whether a question can be asked. */
const mayAsk = ({ json }: Flags): boolean => !json && process.stdin.isTTY && process.stdout.isTTY;

/** Asks the operator. Returns true without a question if there is no terminal; the guard still limits removals. */
async function agreed(flags: Flags, question: string): Promise<boolean> {
  if (flags.yes || !mayAsk(flags)) return true;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await lines.question(`\n${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
