// Routes of plan, reconcile and apply. Each starts an operation and answers immediately with the address of the operation.
// `orderRoute` takes the path, the operationId of the OpenAPI document, and the rest of the route.
import type { Actor } from '../../../directory/logs/acts.ts';
import type { Operation } from '../../../directory/logs/operations.ts';
import type { RunReport } from '../../../directory/outbox/runs.ts';
import { reviewPlan, type PlanReview } from '../../../reconcile/plan/review-plan.ts';
import type { Progress } from '../../../reconcile/scope.ts';
import { planWhileAnswering } from '../../../reconcile/plan/plan-while-answering.ts';
import { driftOnly, outcomeOf, savedPieces, type Plan } from '../../../reconcile/plan.ts';
import { applySaved } from '../../../reconcile/apply/apply-saved.ts';
import { reconcile } from '../../../reconcile/apply/run.ts';
import { failedReport, TargetSilent } from '../../../reconcile/target-silent.ts';
import { whileAnswering } from '../../../reconcile/while-answering.ts';
import type { ScheduledScope } from '../../../reconcile/apply/schedule.ts';
import type { Finished, OperationWork } from '../operations.ts';
import { requireTarget, scopesAt, type AdminAnswer, type AdminContext, type AdminRoute } from '../route.ts';
import { toFinished, type ReportOfScope } from '../run-result.ts';
import { planOf, plansIn, type PlannedScope } from '../saved-plan.ts';
import { booleanField, onlyTarget, textField } from '../schema-fields.ts';
import { orderRoute } from '../operator-fields.ts';
import { accepted, startedAnswer as answers } from './operations.ts';

interface Order {
  target?: string;
  full?: boolean;
  driftOnly?: boolean;
}

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
      // The schema (`oneOf` above) requires exactly one of `operation` and `saved`.
      const document = saved === undefined ? await planOf(context, operation ?? '') : JSON.stringify(saved);
      const planned = plansIn(document, context);
      return start(context, 'apply', { by: actor.by }, (work) => carryOut(context, planned, actor, work));
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

/** Applies plans, or none of them if one is stale: the mapping rules or a resource changed otherwise than the plan says. */
async function carryOut(
  context: AdminContext,
  planned: readonly PlannedScope[],
  orderedBy: Actor,
  work: OperationWork,
): Promise<Finished> {
  const { reviewed, stale } = await reviewAll(planned, work);
  if (stale.length > 0) return staleResult(stale);
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

/**
 * Compares plans with the present state of their resources.
 * @returns `reviewed`: each plan without the changes that are already made. `stale`: changes that do not hold any more, in words
 */
async function reviewAll(planned: readonly PlannedScope[], work: OperationWork) {
  const stale: string[] = [];
  const reviewed: { scheduled: ScheduledScope; review: PlanReview }[] = [];
  for (const { plan: saved, scheduled } of planned) {
    const review = await atTarget(scheduled, work, (signal) => reviewPlan(scheduled.scope, saved, signal));
    if (!review) {
      stale.push(MAPPING_RULES);
      continue;
    }
    reviewed.push({ scheduled, review });
    stale.push(...review.stale.map(({ action, kind, name }) => `${action} ${kind} ${name}`));
  }
  return { reviewed, stale };
}

/** Item of `stale` for a plan that was made with other mapping rules. The changes of this plan are not checked. */
const MAPPING_RULES = 'the mapping rules';

function staleResult(stale: readonly string[]): Finished {
  const reason = stale.includes(MAPPING_RULES)
    ? `${MAPPING_RULES} have changed since it was made`
    : `${stale.length} of its changes ${stale.length === 1 ? 'does' : 'do'} not hold any more`;
  const message = `The plan is stale: ${reason}. Nothing was changed, make a new plan.`;
  return { outcome: 'stale', message, result: [JSON.stringify({ stale })] };
}

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

const scopeText = ({ scope: { connection, target } }: ScheduledScope): string =>
  `${connection} → ${target.name}`;
