// Loads the plans that an order to apply names: the result of a plan operation, or a saved document.
import type { ScheduledScope } from '../../reconcile/apply/schedule.ts';
import { parseSaved, type Plan } from '../../reconcile/plan.ts';
import { scopeOfPlan } from '../../reconcile/plan/review-plan.ts';
import { Problem } from './problem.ts';
import type { AdminContext } from './route.ts';

/** A plan, with the connection and target that it is for. */
export interface PlannedScope {
  plan: Plan;
  scheduled: ScheduledScope;
}

/** Largest plan that the service loads into memory. The command line applies larger ones. */
const MAX_PLAN_BYTES = 64 * 1024 * 1024;

/** Loads the stored result of a plan operation, as text. @throws Problem 404 when there is none, 413 when it is too large */
export async function planOf({ operations }: AdminContext, id: string): Promise<string> {
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
export function plansIn(document: string, { scopes }: AdminContext): PlannedScope[] {
  try {
    return parseSaved(document).map((saved) => ({ plan: saved, scheduled: scopeOfPlan(saved, scopes) }));
  } catch (error) {
    throw new Problem(400, (error as Error).message);
  }
}
