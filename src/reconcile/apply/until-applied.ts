// Waits until the resources that a run marked are synced, and returns the outcome of the run.
import type { Destruction } from '../../directory/guard/held-changes.ts';
import type { Outcome } from '../../directory/outbox/runs.ts';
import type { Ref } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import type { Logger } from '../../support/logger.ts';
import { wasOnHold } from '../../directory/guard/operator-hold.ts';
import { removalsOf } from './mark.ts';
import { createOwnSyncs } from './own-syncs.ts';
import type { Plan } from '../plan.ts';
import { leftOutGroups } from '../unwritten/left-by-settings.ts';
import { failingWords, readPutOff, type PutOff } from '../unwritten/put-off.ts';
import { acceptedMeanwhileText } from '../tenant/tenant.ts';
import type { Progress, ReconcileScope } from '../scope.ts';
import { isoTime } from '../../support/sources.ts';

/** Interval of looks at the marks, milliseconds. */
const POLL_MS = 200;
/** Number of resources whose marks one command of Redis reads. */
const MARKS_PORTION = 1000;
/** A run ends as stalled when no change was applied for this time: no worker runs, or the platform is unavailable. */
const STALL_MS = 300_000;
/**
 * Number of times that a run which syncs its resources itself, or applies a saved plan, takes up resources that were marked again.
 */
const MOST_LOOKS = 10;
/** Time without a sync or an applied change after which a run that syncs its resources itself looks for new marks, milliseconds. */
const LOOK_AGAIN_MS = 1000;

export interface End {
  outcome: Outcome;
  message?: string;
}

export interface AwaitOptions {
  signal: AbortSignal;
  onProgress?: ((progress: Progress) => void) | undefined;
  logger: Logger;
  /** True: this process syncs the resources itself (own-syncs.ts); otherwise they wait for a worker. */
  syncsItself?: boolean | undefined;
}

/** The end of a run after which the platform is as desired. */
export const CONVERGED: End = { outcome: 'converged' };

/**
 * Returns the end of a run with held changes; its message names the approval and counts the dead letters.
 * @param counts.letters number of dead letters
 * @param counts.ofRun number of held changes that belong to this run; default: all changes of the approval
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

/** Returns the number of dead letters, and where they are listed. */
export const deadLetters = (count: number): string =>
  `${counted(count, 'dead letter')}: see scim-bridge dead-letters list`;

/** The dead letters, as the end of a text about held changes; '' without any. */
const besides = (letters: number): string => (letters > 0 ? `; ${deadLetters(letters)}` : '');

/** Returns the end of a run with dead letters. @param waiting number of changes that wait for the removal from a refused group */
function blocked(letters: number, waiting: number): End {
  const parts = [
    ...(waiting > 0
      ? [
          `${counted(waiting, 'change')} of this run ${waiting === 1 ? 'waits' : 'wait'} for the removal of the person from a group that needs a person`,
        ]
      : []),
    ...(letters > 0 ? [deadLetters(letters)] : []),
  ];
  return { outcome: 'blocked', message: parts.join('; ') };
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
  if (held > 0) return behindHeld(scope, approval, { count: held, letters });
  return letters + causes.length > 0 ? blocked(letters, causes.length) : CONVERGED;
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
  const { outbox, clock } = scope;
  let left = refs;
  let movedAt = clock.now();
  let looksAgain = 0;
  let lookedAt = movedAt;
  for (;;) {
    signal.throwIfAborted();
    const before = left.length;
    left = await withoutApplied(scope, left);
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
    const hold = await outbox.guardStore.onHold();
    if (hold) return { outcome: 'held', message: wasOnHold(scope.target.name, hold) };
    // A hold may have ended between two looks, with the acceptance of another tenant.
    if (await outbox.hasMoved())
      return { outcome: 'held', message: acceptedMeanwhileText(scope.target.name) };
    // Without this check a command would wait for STALL_MS, although none of its syncs can begin before then.
    const late = own && clock.now() - movedAt > FAR_AHEAD_MS ? await dueLaterText(scope, left) : undefined;
    if (late !== undefined) return { outcome: 'failed', message: late };
    if (clock.now() - movedAt > STALL_MS)
      return {
        outcome: 'failed',
        message: `${counted(left.length, 'resource')} ${left.length === 1 ? 'has' : 'have'} changes that are still not applied: see scim-bridge status`,
      };
    await own?.start(left);
    await Promise.race([clock.sleep(POLL_MS, signal), ...(own ? [own.oneEnded()] : [])]);
  }
}

/**
 * Returns the end of a run with changes that wait for another resource, whose change is held; dead letters are named too.
 * @param approval undefined: an operator has just decided it
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

/**
 * Milliseconds; a command does not wait for a resource that is due later. Tries after a failure are due earlier
 * (sync/calls/failures.ts).
 */
const FAR_AHEAD_MS = 30_000;
/** With more resources, none is read. */
const MOST_READ = 1000;

/**
 * Returns a sentence if all resources are due later and at least one of them by more than FAR_AHEAD_MS: the due time of the earliest of
 * these, and the command that tells why. Undefined: a resource is due or under way, none is due that far ahead, or there are more than
 * MOST_READ.
 */
async function dueLaterText(
  { outbox, clock }: Pick<ReconcileScope, 'outbox' | 'clock'>,
  refs: readonly Ref[],
): Promise<string | undefined> {
  if (refs.length > MOST_READ) return undefined;
  let next: { ref: Ref; dueAt: number } | undefined;
  for (const ref of refs) {
    const { mark } = await outbox.resourceStatus(ref);
    const dueAt = mark?.dueAt ?? 0;
    if (mark?.state !== 'due' || dueAt <= clock.now()) return undefined;
    if (dueAt > clock.now() + FAR_AHEAD_MS && dueAt < (next?.dueAt ?? Infinity)) next = { ref, dueAt };
  }
  return (
    next &&
    `${counted(refs.length, 'change')} not applied yet: ${next.ref} is not due before ${isoTime(next.dueAt)}, and scim-bridge explain ${next.ref} tells why`
  );
}
