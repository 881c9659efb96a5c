// Waits until the marks of a run are applied, and tells how they ended.
import type { Destruction } from '../directory/guard/held-changes.ts';
import type { Outcome } from '../directory/outbox/runs.ts';
import type { Ref } from '../directory/records.ts';
import { counted } from '../support/counted.ts';
import { removalsOf } from './mark.ts';
import type { Plan } from './plan.ts';
import { readPutOff, type PutOff } from './put-off.ts';
import type { Progress, ReconcileScope } from './scope.ts';

const POLL_MS = 200;
/** Resources whose marks are read by one command. */
const MARKS_PORTION = 1000;
/** A run ends as stalled when no change was applied for this time: no worker runs, or the platform is unavailable. */
const STALL_MS = 300_000;

/** Outcome of a run. */
export interface End {
  outcome: Outcome;
  message?: string;
}

export interface AwaitOptions {
  signal: AbortSignal;
  onProgress?: ((progress: Progress) => void) | undefined;
}

export const CONVERGED: End = { outcome: 'converged' };

/**
 * Returns the end of a run with held changes; dead letters are named too. Public ids of approvals begin with the name of the connection.
 * @param run.ofRun held changes of this run; default: all of the approval
 */
export function toHeld(
  { connection }: ReconcileScope,
  { id, total }: { id: string; total: number },
  { letters, ofRun = total }: { letters: number; ofRun?: number },
): End {
  const changes =
    ofRun === total
      ? counted(total, 'change')
      : `${counted(ofRun, 'change')} of this run, ${ofRun} of ${total} in the approval`;
  return {
    outcome: 'held',
    message: `the guard holds ${changes}: scim-bridge approvals show ${connection}.${id}${besides(letters)}`,
  };
}

export const deadLetters = (count: number): string =>
  `${counted(count, 'dead letter')}: see scim-bridge dead-letters list`;

/** The words for dead letters behind those for held changes; '' without any. */
const besides = (letters: number): string => (letters > 0 ? `; ${deadLetters(letters)}` : '');

const blocked = (count: number): End => ({ outcome: 'blocked', message: deadLetters(count) });

/**
 * Reads portions from the start of the list and removes applied resources, up to the first portion with waiting ones, which move
 * to the end. Reading the whole list several times a second would block Redis and this process during a large run.
 */
async function withoutApplied({ drifts }: ReconcileScope, refs: readonly Ref[]): Promise<Ref[]> {
  for (let at = 0; at < refs.length; at += MARKS_PORTION) {
    const waiting = await drifts.stillMarked(refs.slice(at, at + MARKS_PORTION));
    if (waiting.length > 0) return [...refs.slice(at + MARKS_PORTION), ...waiting];
  }
  return [];
}

/** Where a report is kept, the hold may be over. */
export const releaseAdvice = (target: string): string => `scim-bridge release --target ${target} ends a hold`;

/**
 * Waits until no resource of the plan has a dirty mark, and returns their outcomes. Resources whose sync waits for a person or
 * fails again and again end the wait too.
 * @param saved the plan, when it is a saved one: then its own removals and the dead letters of its resources count, and no others
 */
export async function untilApplied(
  scope: ReconcileScope,
  { signal, onProgress }: AwaitOptions,
  refs: Ref[],
  saved?: Plan,
): Promise<End> {
  const { outbox, clock } = scope;
  let left = refs;
  let movedAt = clock.now();
  const putOff: PutOff = { held: [], failing: [] };
  for (;;) {
    signal.throwIfAborted();
    const before = left.length;
    left = await withoutApplied(scope, left);
    // While others move on, those that wait need no look.
    if (left.length === before) left = await withoutPutOff(scope, left, putOff);
    if (left.length < before) movedAt = clock.now();
    onProgress?.({ phase: 'apply', done: refs.length - left.length, total: refs.length });
    if (left.length === 0) break;
    if (await outbox.guardStore.onHold())
      return { outcome: 'held', message: `the target was on hold: ${releaseAdvice(scope.target.name)}` };
    if (clock.now() - movedAt > STALL_MS)
      return { outcome: 'failed', message: `${left.length} are still not applied: see scim-bridge status` };
    await clock.sleep(POLL_MS, signal);
  }
  const [failing] = putOff.failing;
  if (failing) {
    const count = counted(putOff.failing.length, 'change');
    return {
      outcome: 'failed',
      message: `${count} not applied yet, tried again and again: ${failing.message}; see scim-bridge status`,
    };
  }
  const ours = new Set(refs);
  const isOurs = saved ? removalsOf(saved) : ({ ref }: Destruction) => ours.has(ref);
  const letters = (await outbox.blocked()).filter(({ ref }) => !saved || ours.has(ref)).length;
  const approval = await outbox.guardStore.open();
  let waiting = 0;
  if (approval)
    for await (const page of outbox.guardStore.pages(approval)) waiting += page.filter(isOurs).length;
  if (approval && waiting > 0) return toHeld(scope, approval, { letters, ofRun: waiting });
  if (putOff.held.length > 0) return behindHeld(scope, approval, { count: putOff.held.length, letters });
  return letters > 0 ? blocked(letters) : CONVERGED;
}

/** Takes those for which the run does not wait out of the list, and notes them. */
async function withoutPutOff(scope: ReconcileScope, left: Ref[], putOff: PutOff): Promise<Ref[]> {
  const { held, failing } = await readPutOff(scope, left.slice(0, MARKS_PORTION));
  putOff.held.push(...held);
  putOff.failing.push(...failing);
  const out = new Set([...held, ...failing.map(({ ref }) => ref)]);
  return out.size === 0 ? left : left.filter((ref) => !out.has(ref));
}

/**
 * Returns the end of a run with changes that wait for another resource, whose change is held; dead letters are named too.
 * @param approval undefined: decided just now
 */
function behindHeld(
  { connection }: ReconcileScope,
  approval: { id: string; total: number } | undefined,
  { count, letters }: { count: number; letters: number },
): End {
  const where = approval ? `scim-bridge approvals show ${connection}.${approval.id}` : 'scim-bridge status';
  const held = approval ? `the guard holds ${counted(approval.total, 'change')}` : 'the guard held a change';
  return {
    outcome: 'held',
    message: `${held}, for which ${counted(count, 'change')} of this run ${count === 1 ? 'waits' : 'wait'}: ${where}${besides(letters)}`,
  };
}
