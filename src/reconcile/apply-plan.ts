// Carries a plan out: judged by the guard, noted for the worker, waited for, and proven at the end.
import type { CoverageOfKinds, Outcome } from '../directory/outbox/runs.ts';
import type { Ref } from '../directory/records.ts';
import type { GuardSettings } from '../guard/judge.ts';
import type { Logger } from '../support/logger.ts';
import { markPlan } from './mark.ts';
import type { ReconcileScope, Progress } from './scope.ts';
import type { Books } from './make-plan.ts';
import { changesIn, type Plan } from './plan.ts';
import { readCoverageResult, whatIsMissing } from './coverage.ts';

export interface ApplyPlanOptions {
  /** False: differences are reported and left alone. */
  repair: boolean;
  guard: GuardSettings;
  logger: Logger;
  signal: AbortSignal;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Asked when the plan is there; false ends the run without a change. */
  confirm?: ((plan: Plan) => Promise<boolean>) | undefined;
}

const POLL_MS = 200;
/** Nothing was applied for this long: no worker is there, or the platform is away. */
const STALL_MS = 300_000;

/** How a run ends. */
export interface End {
  outcome: Outcome;
  message?: string;
}

export interface CarriedOut {
  end: End;
  /** False: after a repair something was left out, and has to be looked at before the repair is done with. */
  isWhole: boolean;
}

export async function applyPlan(
  estate: ReconcileScope,
  options: ApplyPlanOptions,
  fence: string,
  plan: Plan,
  books: Books,
): Promise<CarriedOut> {
  const wanted = changesIn(plan);
  const proven = plan.proof.users.complete && plan.proof.groups.complete && plan.unknown === 0;
  const unproven: End = { outcome: 'unproven', message: whyUnproven(plan) };
  if (wanted === 0) {
    // A lost resource looks as desired, as far as the lists tell: its sync finds out, and notes it.
    const end = books.lost.length > 0 ? await restoreLost(estate, options, plan, books.lost) : CONVERGED;
    const isWhole = await keepBooks(estate, books, 0);
    if (!proven) return { end: unproven, isWhole };
    if (end.outcome !== 'converged') return { end, isWhole };
    const needsPerson = plan.counts.conflict ? blocked(plan.counts.conflict) : CONVERGED;
    return { end: (await whatIsHeld(estate, options, plan)) ?? needsPerson, isWhole };
  }
  const agreed = options.repair && (await (options.confirm?.(plan) ?? true));
  if (!agreed) {
    await keepBooks(estate, { ...books, mapped: false }, 0);
    return {
      end: proven ? { outcome: 'drifted', message: `${wanted} differences` } : unproven,
      isWhole: true,
    };
  }
  const applied = await markPlan(estate, plan, options.guard, fence);
  const end = await restoreLost(estate, options, plan, books.lost, applied.refs);
  const moved = applied.noted.stale + applied.noted.busy;
  const isWhole = await keepBooks(estate, books, moved);
  if (end.outcome !== 'converged') return { end, isWhole };
  if (!proven) return { end: unproven, isWhole };
  if (moved > 0) options.logger.info(applied.noted, 'some moved meanwhile, the next run looks at them again');
  return { end: (await whatIsHeld(estate, options, plan)) ?? end, isWhole };
}

const CONVERGED: End = { outcome: 'converged' };

/** How often a run marks again what is lost before it ends as incomplete. */
const ROUNDS = 2;

/** Counts how everything stands at the end. Resources that were lost during the run are brought in line too. */
export async function proveDesired(
  estate: ReconcileScope,
  options: ApplyPlanOptions,
  { startedAt, books, plan, end }: { startedAt: number; books: Books; plan: Plan; end: End },
): Promise<{ coverage: CoverageOfKinds; end: End }> {
  if (changesIn(plan) === 0 && books.lost.length === 0) return { coverage: plan.coverage, end };
  let result = end;
  for (let round = 1; ; round++) {
    const { coverage, lost } = await readCoverageResult(estate, books.isShown, startedAt);
    if (result.outcome !== 'converged' || lost.length === 0) return { coverage, end: result };
    if (round > ROUNDS) return { coverage, end: { outcome: 'incomplete', message: whatIsMissing(coverage) } };
    result = await restoreLost(estate, options, plan, lost);
  }
}

/** Marks what is lost, and waits until that and what the plan has marked is applied. */
async function restoreLost(
  estate: ReconcileScope,
  options: Pick<ApplyPlanOptions, 'signal' | 'onProgress'>,
  { id }: Plan,
  lost: Ref[],
  marked: Ref[] = [],
): Promise<End> {
  if (lost.length > 0) await estate.coverage.restoreMarks(lost, `plan:${id}`);
  return untilApplied(estate, options, [...new Set([...marked, ...lost])]);
}

/**
 * As long as the guard holds anything, whoever asked for it, the platform is not as desired. A held change that is not
 * wanted any more (rules went back, for instance) has no mark that would tell the guard: its sync looks once more.
 */
async function whatIsHeld(
  estate: ReconcileScope,
  options: ApplyPlanOptions,
  plan: Plan,
): Promise<End | undefined> {
  const { guardStore, mark } = estate.outbox;
  const refs = await guardStore.heldRefs();
  if (refs.length === 0) return undefined;
  if (options.repair) {
    await mark(refs, 'reconcile', `plan:${plan.id}`);
    const end = await untilApplied(estate, options, refs);
    if (end.outcome === 'failed') return end;
  }
  const approval = await guardStore.open();
  return approval && held(estate, approval.items.length, approval.id);
}

/** Outside, the id of an approval begins with the connection. */
const held = ({ connection }: ReconcileScope, count: number, id: string): End => ({
  outcome: 'held',
  message: `the guard holds ${count}: approvals show ${connection}.${id}`,
});

const blocked = (count: number): End => ({
  outcome: 'blocked',
  message: `${count} need a person: see dead-letters`,
});

export function whyUnproven({ proof, unknown }: Plan): string {
  const reasons = [proof.users.reason, proof.groups.reason].filter((reason) => reason !== undefined);
  if (unknown > 0) reasons.push(`${unknown} resources could not be read`);
  return reasons.join('; ');
}

/** Waits until nothing that the plan wants is marked any more, and tells what became of it. */
export async function untilApplied(
  estate: ReconcileScope,
  { signal, onProgress }: Pick<ApplyPlanOptions, 'signal' | 'onProgress'>,
  refs: Ref[],
): Promise<End> {
  const { drifts, outbox, clock } = estate;
  let left = refs;
  let movedAt = clock.now();
  for (;;) {
    signal.throwIfAborted();
    const now = await drifts.stillMarked(left);
    if (now.length < left.length) movedAt = clock.now();
    left = now;
    onProgress?.({ phase: 'apply', done: refs.length - left.length, total: refs.length });
    if (left.length === 0) break;
    if (await outbox.guardStore.onHold())
      return { outcome: 'held', message: 'the target is on hold: release' };
    if (clock.now() - movedAt > STALL_MS)
      return { outcome: 'failed', message: `${left.length} are still not applied: see status` };
    await clock.sleep(POLL_MS, signal);
  }
  const ours = new Set(refs);
  const approval = await outbox.guardStore.open();
  const waiting = (approval?.items ?? []).filter(({ ref }) => ours.has(ref)).length;
  if (approval && waiting > 0) return held(estate, waiting, approval.id);
  const letters = (await outbox.blocked()).length;
  return letters > 0 ? blocked(letters) : CONVERGED;
}

/** @param moved entries of the plan that were left alone. @returns whether nothing was left out that a repair needs */
async function keepBooks({ runs, digest }: ReconcileScope, books: Books, moved: number): Promise<boolean> {
  for (const name of ['values', 'members'] as const) {
    const place = books.cursors[name];
    if (place !== undefined) await runs.moveCursor(name, place);
  }
  await runs.noteGroupsSeen(books.groupsSeen);
  const isWhole = !books.isRepaired || books.moved + moved === 0;
  if (books.mapped && isWhole) await runs.noteMapped(digest);
  return isWhole;
}
