// Waits until the resources that a run marked are synced, and returns the end of the run. Every POLL_MS the wait reads which of
// them still have a mark. It ends when none has one, apart from the resources that are put off: their syncs wait for a person or
// fail again and again. It ends early during a hold, when nothing is applied for STALL_MS, or when all is due much later.
import type { Destruction } from '../../directory/guard/held-changes.ts';
import type { Ref } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import type { Logger } from '../../support/logger.ts';
import { wasOnHold } from '../../directory/guard/operator-hold.ts';
import { dueLaterText, FAR_AHEAD_MS } from './due-later.ts';
import { behindHeldEnd, blockedEnd, CONVERGED, toHeld, type End } from './ends.ts';
import { removalsOf } from './belongs-to-plan.ts';
import { createOwnSyncs } from './own-syncs.ts';
import type { Plan } from '../plan.ts';
import { leftOutGroups } from '../unwritten/left-by-settings.ts';
import { failingWords, readPutOff, type PutOff } from '../unwritten/put-off.ts';
import { acceptedMeanwhileText } from '../tenant/tenant.ts';
import type { Progress, ReconcileScope } from '../scope.ts';

/** Interval of looks at the marks, milliseconds. */
const POLL_MS = 200;
/** Number of resources whose marks one command of Redis reads. */
const MARKS_PORTION = 1000;
/** Milliseconds without an applied change after which a run ends as stalled: no worker runs, or the platform is unavailable. */
const STALL_MS = 300_000;
/**
 * Number of times that a run which syncs its resources itself, or applies a saved plan, waits for resources that were marked again.
 * Pushes may mark them for ever.
 */
const MOST_LOOKS = 10;
/** Time without a sync or an applied change after which a run that syncs its resources itself looks for new marks, milliseconds. */
const LOOK_AGAIN_MS = 1000;

export interface AwaitOptions {
  signal: AbortSignal;
  onProgress?: ((progress: Progress) => void) | undefined;
  logger: Logger;
  /** True: this process syncs the resources itself (own-syncs.ts); otherwise they wait for a worker. */
  syncsItself?: boolean | undefined;
}

/**
 * Waits until none of `refs` has a mark, and returns the end of the run. It does not wait for a resource whose sync waits for a
 * person or fails again and again.
 * @param saved a saved plan: only its own held removals and the dead letters among `refs` count. Without one, the held changes of
 *   `refs` and all dead letters of the target count.
 */
export async function untilApplied(
  scope: ReconcileScope,
  options: AwaitOptions,
  refs: Ref[],
  saved?: Plan,
): Promise<End> {
  const { outbox } = scope;
  const ours = new Set(refs);
  const own = options.syncsItself ? createOwnSyncs(scope, { ...options, ours }) : undefined;
  const putOff: PutOff = new Map();
  const early = await untilUnmarked(scope, options, { refs, putOff, own, saved }).finally(() => own?.end());
  if (early) return early;
  const causes = [...putOff.values()];
  const failing = causes.filter((cause) => typeof cause === 'object');
  if (failing.length > 0) {
    const count = counted(failing.length, 'change');
    return {
      outcome: 'failed',
      message: `${count} not applied yet, tried again and again: ${await failingWords(scope.directory, failing)}; see scim-bridge status`,
    };
  }
  const isOurs = saved ? removalsOf(saved) : ({ ref }: Destruction) => ours.has(ref);
  const letters = (await outbox.blocked()).filter(({ ref }) => !saved || ours.has(ref)).length;
  const approval = await outbox.guardStore.open();
  let heldOfRun = 0;
  if (approval)
    for await (const page of outbox.guardStore.pages(approval)) heldOfRun += page.filter(isOurs).length;
  if (approval && heldOfRun > 0) return toHeld(scope, approval, { letters, ofRun: heldOfRun });
  const held = causes.filter((cause) => cause === 'held').length;
  if (held > 0) return behindHeldEnd(scope, approval, { count: held, letters });
  return letters + causes.length > 0 ? blockedEnd({ letters, waiting: causes.length }) : CONVERGED;
}

interface Awaited {
  refs: readonly Ref[];
  /** Filled during the wait: the resources for which the run does not wait. */
  putOff: PutOff;
  /** Syncs of this process; undefined: a worker syncs the resources. */
  own: ReturnType<typeof createOwnSyncs> | undefined;
  /**
   * As in `untilApplied`. With a saved plan the run also waits for resources that are marked again, such as a group after the sync
   * of its member.
   */
  saved: Plan | undefined;
}

/** Waits until no resource has a mark, but for those in `putOff`. @returns the end of a run that ends before */
async function untilUnmarked(
  scope: ReconcileScope,
  { signal, onProgress }: AwaitOptions,
  { refs, putOff, own, saved }: Awaited,
): Promise<End | undefined> {
  const { clock } = scope;
  /** Resources for which the run still waits. */
  let left = refs;
  /** Time at which the wait last saw an applied change. */
  let movedAt = clock.now();
  let hasApplied = false;
  /** Time of the last look for new marks, and number of looks that found some. */
  let lookedAt = movedAt;
  let looksAgain = 0;
  for (;;) {
    signal.throwIfAborted();
    const before = left.length;
    left = await withoutApplied(scope, left);
    hasApplied ||= left.length < before;
    // The reasons of waiting resources are read only when no other resource was applied since the last look.
    if (left.length === before) {
      for (const [ref, cause] of await readPutOff(scope, left.slice(0, MARKS_PORTION)))
        putOff.set(ref, cause);
      left = left.filter((ref) => !putOff.has(ref));
    }
    if (left.length < before) movedAt = clock.now();
    // The sync of a resource marks others of the run, such as the groups of a new user. The user may wait for the membership, so
    // the run also looks for new marks while resources are left and none is synced; at most MOST_LOOKS times, as pushes may go on.
    const isIdle = own?.isIdle() && clock.now() - Math.max(movedAt, lookedAt) >= LOOK_AGAIN_MS;
    const mayLookAgain = (own ?? saved) !== undefined && looksAgain < MOST_LOOKS;
    if (mayLookAgain && (left.length === 0 || isIdle)) {
      lookedAt = clock.now();
      const again = [
        ...(await markedAgain(scope, refs, [...left, ...putOff.keys()])),
        // With a worker the groups need no look: the worker syncs every mark.
        ...(own ? await markedLeftOut(scope, refs, left) : []),
      ];
      if (again.length > 0) looksAgain++;
      left = [...left, ...again];
    }
    onProgress?.({ phase: 'apply', done: Math.max(0, refs.length - left.length), total: refs.length });
    if (left.length === 0) return undefined;
    const early = await earlyEnd(scope, left, { movedAt, hasApplied, syncsItself: own !== undefined });
    if (early) return early;
    await own?.start(left);
    await Promise.race([clock.sleep(POLL_MS, signal), ...(own ? [own.oneEnded()] : [])]);
  }
}

/**
 * Returns the list without resources that were seen to be applied. Reads portions from the start, up to the first with resources
 * that still wait; these move to the end of the list. Reading the whole list several times a second would block Redis and this
 * process during a large run.
 */
async function withoutApplied({ drifts }: ReconcileScope, refs: readonly Ref[]): Promise<Ref[]> {
  for (let at = 0; at < refs.length; at += MARKS_PORTION) {
    const waiting = await drifts.stillMarked(refs.slice(at, at + MARKS_PORTION));
    if (waiting.length > 0) return [...refs.slice(at + MARKS_PORTION), ...waiting];
  }
  return [];
}

/** Returns the resources of a run that have a mark and are not among those for which the run waits already. */
async function markedAgain(
  { drifts }: ReconcileScope,
  refs: readonly Ref[],
  awaited: readonly Ref[],
): Promise<Ref[]> {
  const known = new Set(awaited);
  return (await drifts.stillMarked(refs)).filter((ref) => !known.has(ref));
}

/**
 * Returns the marked groups that the settings leave out, except groups of the run. No plan names such a group, because its sync
 * writes nothing. The sync ends the pending memberships of the group, for which the activation or the values of its members wait.
 */
async function markedLeftOut(
  scope: ReconcileScope,
  ofRun: readonly Ref[],
  awaited: readonly Ref[],
): Promise<Ref[]> {
  const known = new Set([...ofRun, ...awaited]);
  const groups = (await scope.outbox.marked()).filter((ref) => ref.startsWith('Group:') && !known.has(ref));
  return leftOutGroups(scope, groups);
}

/** Returns the end of a run that stops its wait although changes are left; undefined: the wait goes on. */
async function earlyEnd(
  { outbox, target, clock }: ReconcileScope,
  left: readonly Ref[],
  { movedAt, hasApplied, syncsItself }: { movedAt: number; hasApplied: boolean; syncsItself: boolean },
): Promise<End | undefined> {
  const toStopped = (message: string): End => ({
    outcome: 'held',
    message,
    ...(hasApplied ? {} : { isStopped: true }),
  });
  const hold = await outbox.guardStore.onHold();
  if (hold) return toStopped(wasOnHold(target.name, hold));
  // An operator may have accepted another tenant, which ends the hold between two looks. The run was compared with the former
  // tenant, so it stops.
  if (await outbox.hasMoved()) return toStopped(acceptedMeanwhileText(target.name));
  // Without this check a command would wait for STALL_MS, although none of its syncs can begin before then.
  const mayBeLate = syncsItself && clock.now() - movedAt > FAR_AHEAD_MS;
  const late = mayBeLate ? await dueLaterText({ outbox, clock }, left) : undefined;
  if (late !== undefined) return { outcome: 'failed', message: late };
  if (clock.now() - movedAt <= STALL_MS) return undefined;
  return {
    outcome: 'failed',
    message: `${counted(left.length, 'resource')} ${left.length === 1 ? 'has' : 'have'} changes that are still not applied: see scim-bridge status`,
  };
}
