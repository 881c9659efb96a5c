// Routes of plan, reconcile and apply. Each starts an operation and answers immediately with the address of the operation.
// `orderRoute` takes the path, the operationId of the OpenAPI document, and the rest of the route.
import type { Actor } from '../../../directory/logs/acts.ts';
import type { Operation } from '../../../directory/logs/operations.ts';
import type { Outcome, RunReport } from '../../../directory/outbox/runs.ts';
import { reviewPlan, scopeOfPlan, type PlanReview } from '../../../reconcile/plan/review-plan.ts';
import type { Progress } from '../../../reconcile/scope.ts';
import { planWhileAnswering } from '../../../reconcile/plan/plan-while-answering.ts';
import { driftOnly, outcomeOf, parseSaved, savedPieces, type Plan } from '../../../reconcile/plan.ts';
import { applySaved } from '../../../reconcile/apply/apply-saved.ts';
import { reconcile } from '../../../reconcile/apply/run.ts';
import { failedReport, TargetSilent } from '../../../reconcile/target-silent.ts';
import { whileAnswering } from '../../../reconcile/while-answering.ts';
import type { ScheduledScope } from '../../../reconcile/apply/schedule.ts';
import type { Finished, OperationWork } from '../operations.ts';
import { Problem } from '../problem.ts';
import { requireTarget, scopesAt, type AdminAnswer, type AdminContext, type AdminRoute } from '../route.ts';
import { booleanField, onlyTarget, textField } from '../schema-fields.ts';
import { orderRoute } from '../operator-fields.ts';
import { accepted, startedAnswer as answers } from './operations.ts';

interface Order {
  target?: string;
  full?: boolean;
  driftOnly?: boolean;
}

/** Item of `stale` in the result of apply if the plan was made with other rules; its changes are then not checked. */
const MAPPING_RULES = 'the mapping rules';
/** Largest plan that the service loads into memory. The command line applies larger ones. */
const MAX_PLAN_BYTES = 64 * 1024 * 1024;

const full = {
  ...booleanField,
  description: 'Read the members of all groups and the attribute values of all users.',
};

export const comparisonRoutes = (context: AdminContext): AdminRoute[] => [
  orderRoute<Order>('/plan', 'plan', {
    command: 'plan --json',
    summary: 'Compares all resources with the platform and reports the differences, without writing.',
    fields: {
      target: onlyTarget,
      full,
      driftOnly: { ...booleanField, description: 'Only changes that others made at the platform.' },
    },
    answers,
    refuses: { 404: 'There is no such target.' },
    handle: (order, { by }) => start(context, 'plan', { ...order, by }, (work) => plan(context, order, work)),
  }),
  orderRoute<Order>('/reconcile', 'reconcile', {
    command: 'reconcile --yes --json',
    summary:
      'Compares all resources with the platform, repairs the differences, and waits until they are applied.',
    fields: { target: onlyTarget, full },
    answers,
    refuses: { 404: 'There is no such target.' },
    handle: (order, actor) =>
      start(context, 'reconcile', { ...order, by: actor.by }, (work) => repair(context, order, actor, work)),
  }),
  orderRoute<{ operation?: string; saved?: object }>('/apply', 'apply', {
    command: 'apply FILE --yes --json',
    summary:
      'Applies the rest of an earlier plan. The plan is refused as stale when the mapping, or a resource of the plan, has since changed to another state.',
    fields: {
      operation: {
        ...textField,
        description: 'Id of the operation that made the plan, while its result is kept.',
      },
      saved: {
        type: 'object',
        description: 'The result of a plan operation, or the content of a file that plan --out wrote.',
      },
    },
    oneOf: [{ required: ['operation'] }, { required: ['saved'] }],
    answers,
    refuses: {
      404: 'There is no such operation, or its result is no longer kept.',
      413: 'The plan is too large for this route.',
    },
    handle: async ({ operation, saved }, actor) => {
      // The schema requires exactly one of both (oneOf).
      const document = saved === undefined ? await resultOf(context, operation ?? '') : JSON.stringify(saved);
      const pairs = pairsIn(document, context);
      return start(context, 'apply', { by: actor.by }, (work) => carryOut(context, pairs, actor, work));
    },
  }),
];

/** Starts an operation. @returns its first state @throws Problem 404 for an unknown target */
async function start(
  context: AdminContext,
  kind: Operation['kind'],
  { target, by }: { target?: string; by: string },
  work: (work: OperationWork) => Promise<Finished>,
): Promise<AdminAnswer> {
  requireTarget(context, target);
  return accepted(await context.operations.start({ kind, target, by }, work));
}

/** Ignores waits for the rate limit: an operation has no field for them. */
const ignoreWaits = (): void => undefined;

const progressOf =
  ({ scope: { connection, target } }: ScheduledScope, { onProgress }: OperationWork) =>
  (progress: Progress): void =>
    onProgress({ connection, target: target.name, ...progress });

/** Runs `run` at a target, and aborts its signal when the target does not answer, as the commands do. @throws TargetSilent */
const atTarget = <T>(
  { scope }: ScheduledScope,
  { signal }: OperationWork,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> => whileAnswering(scope, signal, run, ignoreWaits);

/** Runs a reconcile or an apply at a target. @returns its report; a failed one when the target does not answer */
async function reportOf(
  each: ScheduledScope,
  work: OperationWork,
  run: (signal: AbortSignal) => Promise<RunReport>,
): Promise<RunReport> {
  const { runs } = each.scope;
  const startedAt = await runs.now();
  return atTarget(each, work, run).catch(async (error: unknown) => {
    if (!(error instanceof TargetSilent)) throw error;
    return failedReport(startedAt, await runs.now(), error.message);
  });
}

/**
 * Makes the plan of each chosen connection and target.
 * @returns the outcome, and the plans as JSON
 * @throws TargetSilent: a result without the plan of a silent target would look complete, so the whole operation fails
 */
async function plan(context: AdminContext, order: Order, work: OperationWork): Promise<Finished> {
  const plans: Plan[] = [];
  for (const each of scopesAt(context, order.target)) {
    const options = {
      id: context.ids.request(),
      full: order.full ?? false,
      signal: work.signal,
      onProgress: progressOf(each, work),
      // Reads the audit log of the platform, which tells who caused a difference.
      readTrail: each.readTrail,
    };
    const made = await planWhileAnswering(each.scope, options, ignoreWaits);
    plans.push(order.driftOnly ? driftOnly(made) : made);
  }
  return { outcome: outcomeOf(plans), result: savedPieces(plans) };
}

/** Runs a reconcile with repair for each chosen connection and target. @returns the worst outcome, and the reports as JSON */
async function repair(
  context: AdminContext,
  order: Order,
  orderedBy: Actor,
  work: OperationWork,
): Promise<Finished> {
  const reports: ReportOfScope[] = [];
  for (const each of scopesAt(context, order.target)) {
    const run = async (signal: AbortSignal): Promise<RunReport> => {
      const { report } = await reconcile(each.scope, {
        id: context.ids.request(),
        repair: true,
        full: order.full ?? false,
        orderedBy,
        guard: each.guard,
        signal,
        logger: context.logger,
        onProgress: progressOf(each, work),
        readTrail: each.readTrail,
      });
      return report;
    };
    reports.push({ scope: scopeText(each), report: await reportOf(each, work, run) });
  }
  return toFinished(reports);
}

interface Pair {
  plan: Plan;
  scheduled: ScheduledScope;
}

/** Applies plans, or none of them when one is stale: the mapping changed, or a resource to another state than planned. */
async function carryOut(
  context: AdminContext,
  pairs: Pair[],
  orderedBy: Actor,
  work: OperationWork,
): Promise<Finished> {
  const stale: string[] = [];
  const reviewed: (Pick<Pair, 'scheduled'> & { review: PlanReview })[] = [];
  for (const { plan: saved, scheduled } of pairs) {
    const review = await atTarget(scheduled, work, (signal) => reviewPlan(scheduled.scope, saved, signal));
    if (!review) {
      stale.push(MAPPING_RULES);
      continue;
    }
    reviewed.push({ scheduled, review });
    stale.push(...review.stale.map(({ action, kind, name }) => `${action} ${kind} ${name}`));
  }
  if (stale.length > 0) {
    const reason = stale.includes(MAPPING_RULES)
      ? `${MAPPING_RULES} have changed since it was made`
      : `${stale.length} of its changes ${stale.length === 1 ? 'does' : 'do'} not hold any more`;
    const message = `The plan is stale: ${reason}. Nothing was changed, make a new plan.`;
    return { outcome: 'stale', message, result: [JSON.stringify({ stale })] };
  }
  const reports: ReportOfScope[] = [];
  for (const { scheduled, review } of reviewed) {
    const options = {
      guard: scheduled.guard,
      orderedBy,
      logger: context.logger,
      onProgress: progressOf(scheduled, work),
    };
    const run = (signal: AbortSignal): Promise<RunReport> =>
      applySaved(scheduled.scope, review, { ...options, signal });
    reports.push({ scope: scopeText(scheduled), report: await reportOf(scheduled, work, run) });
  }
  return toFinished(reports);
}

/** Outcomes from worst to best: an operation reports the worst outcome of its runs. */
const WORST_FIRST: Outcome[] = [
  'failed',
  'incomplete',
  'unproven',
  'blocked',
  'held',
  'drifted',
  'converged',
];

/** The report of a run, and its scope in words: connection and target. */
interface ReportOfScope {
  scope: string;
  report: RunReport;
}

const scopeText = ({ scope: { connection, target } }: ScheduledScope): string =>
  `${connection} → ${target.name}`;

/** Returns the worst outcome, with the message and the reports of the runs. */
function toFinished(all: readonly ReportOfScope[]): Finished {
  const outcome =
    WORST_FIRST.find((each) => all.some(({ report }) => report.outcome === each)) ?? 'converged';
  const reports = all.map(({ report }) => report);
  return { outcome, message: messageOf(all), result: [JSON.stringify(reports)] };
}

/** Returns the message of one run; of several runs the scope, outcome and message of each; undefined: no run has a message. */
function messageOf(all: readonly ReportOfScope[]): string | undefined {
  const [first, ...others] = all;
  if (others.length === 0) return first?.report.message;
  if (all.every(({ report }) => report.message === undefined)) return undefined;
  const texts = all.map(({ scope, report }) =>
    [
      scope,
      report.outcome,
      ...(report.message === undefined ? [] : [report.message.replace(/\.$/, '')]),
    ].join(': '),
  );
  return texts.join('. ');
}

/** Loads the stored result of a plan. @throws Problem 404 when there is none, 413 when it is too large */
async function resultOf({ operations }: AdminContext, id: string): Promise<string> {
  const [operation, bytes] = await Promise.all([operations.get(id), operations.resultBytes(id)]);
  if (operation?.kind !== 'plan' || bytes === 0)
    throw new Problem(404, `There is no plan of operation ${id} any more: make a new one.`);
  if (bytes > MAX_PLAN_BYTES)
    throw new Problem(
      413,
      `The plan of operation ${id} has ${bytes} bytes, and ${MAX_PLAN_BYTES} can be applied from here: use scim-bridge plan --out FILE and scim-bridge apply FILE, or scim-bridge reconcile.`,
    );
  const pieces: Buffer[] = [];
  for await (const piece of operations.result(id, bytes)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Returns the plans of a document with their scopes. @throws Problem 400 for another document, or an unknown scope */
function pairsIn(document: string, { scopes }: AdminContext): Pair[] {
  try {
    return parseSaved(document).map((saved) => ({ plan: saved, scheduled: scopeOfPlan(saved, scopes) }));
  } catch (error) {
    throw new Problem(400, (error as Error).message);
  }
}
