// Defines the command reconcile, which compares each connection and target with the platform and repairs the differences after a
// question. The command syncs the resources of its plan itself, so that they are written even when the service is not running, and
// writes nothing else.
import type { Command } from 'commander';
import { reconcile } from '../reconcile/apply/run.ts';
import { failedReport, TargetSilent } from '../reconcile/target-silent.ts';
import type { RunReport } from '../directory/outbox/runs.ts';
import { changesIn, writesIn } from '../reconcile/plan.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { agrees, carryOutQuestion, isAskable, NEEDS_YES } from './confirm.ts';
import { complainUnapplied, exitCodeOf, printReport } from './run-report.ts';
import { complainLostData } from './lost-data.ts';
import { atTarget, withScopes, type CommandContext, type SelectedScope } from './scopes.ts';
import { printPlans } from './plan.ts';
import { createProgressLine } from './progress.ts';
import { deadlineOf, withDeadline, type DeadlineFlags } from './deadline.ts';
import { complain, sayJson } from './output.ts';

interface ReconcileFlags extends OperatorFlags, DeadlineFlags {
  target?: string;
  yes?: boolean;
  json?: boolean;
  full?: boolean;
  /** The operator confirms that the target is meant to be another tenant than before. */
  acceptTenant?: boolean;
}

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
    .action(async (flags: ReconcileFlags, command: Command) => {
      if (flags.acceptTenant && flags.target === undefined)
        throw new Error('Name the target that is exchanged: --accept-tenant needs --target.');
      if (flags.acceptTenant && !isAskable(flags) && !flags.yes) throw new Error(NEEDS_YES);
      const options = { target: flags.target, mayWrite: true, deadlineMs: deadlineOf(flags) };
      const { reports, leastExit } = await withScopes(readConfig(command, cli), options, async (context) => {
        const leastExit = await complainLostData(context.readFleet);
        const run = (each: SelectedScope) => reconcileOne(each, context, flags, cli, leastExit === 1);
        const made = await reconcileAll(context.scopes, run);
        await complainUnapplied(context.scopes, context.readFleet);
        return { reports: made, leastExit };
      });
      if (flags.json) sayJson(reports);
      cli.exit(exitCodeOf(reports) || leastExit);
    });
}

/**
 * Reconciles each connection and target, one after another. While another connection holds the target because of a doubt about its
 * tenant, a run ends without a write. The run is repeated if the run of the other connection has ended that hold since.
 */
async function reconcileAll(
  scopes: readonly SelectedScope[],
  run: (each: SelectedScope) => Promise<RunReport>,
): Promise<RunReport[]> {
  const made: RunReport[] = [];
  /** Indexes of the runs that another connection's doubt has ended. */
  const stopped: number[] = [];
  for (const each of scopes) {
    const report = await run(each);
    if (report.outcome === 'held' && (await each.scope.outbox.guardStore.tenantHoldElsewhere()))
      stopped.push(made.length);
    made.push(report);
  }
  for (const index of stopped) {
    const each = scopes[index];
    if (each && !(await each.scope.outbox.guardStore.onHold())) made[index] = await run(each);
  }
  return made;
}

/** Reconciles one target and prints the report. A target that does not answer gives a failed report. */
async function reconcileOne(
  each: SelectedScope,
  context: CommandContext,
  flags: ReconcileFlags,
  cli: Cli,
  isDataLost: boolean,
): Promise<RunReport> {
  const { name, scope, guard, readTrail } = each;
  const { deps } = context;
  const progress = createProgressLine(name);
  const startedAt = await scope.runs.now();
  const result = await atTarget(
    each,
    context,
    (answering) =>
      reconcile(scope, {
        id: deps.ids.request(),
        repair: true,
        full: flags.full ?? false,
        acceptTenant: flags.acceptTenant ?? false,
        orderedBy: actorOf(cli, flags),
        guard,
        signal: answering,
        logger: deps.logger,
        syncsItself: true,
        readTrail,
        onProgress: progress.show,
        onWait: () => progress.note('waits for a reconcile that is in progress'),
        confirm: async (plan) => {
          progress.end();
          if (!flags.json) printPlans([plan], cli, { isDataLost });
          const question = carryOutQuestion(writesIn(plan));
          return agrees(
            flags,
            plan.anotherTenant === undefined
              ? question
              : `Forget the links to the former tenant? ${question}`,
            answering,
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
  if (result instanceof TargetSilent) {
    if (!flags.json) complain(`${name}: failed: ${result.message}`);
    return failedReport(startedAt, await scope.runs.now(), result.message);
  }
  const { report, plan } = result;
  if (!flags.json) {
    // A plan with changes was printed before the question.
    if (plan && changesIn(plan) === 0) printPlans([plan], cli, { isDataLost });
    printReport(name, report);
  }
  return report;
}
