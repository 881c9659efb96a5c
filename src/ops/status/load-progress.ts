// Judges the progress of a load, a backlog far larger than in normal operation, such as the first push of all people: how much
// is done, its rate, the time left, and the cause that bounds it. Pure; status, the admin API and metrics show it.
import { type FleetProcess, type TargetWork, dutiesOf } from '../../directory/fleet/fleet-store.ts';
import { movedText } from '../../reconcile/tenant/tenant.ts';
import type { Backlog } from '../../directory/outbox/backlog.ts';
import { isoTime } from '../../support/sources.ts';

/** Causes that stop a load. */
const STOPS = ['redisRefuses', 'hold', 'address', 'breaker', 'pause', 'noWorker'] as const;
/** Causes that can limit the speed of a load; BOUND_WORDS explains each. */
export const LOAD_BOUNDS = [...STOPS, 'waiting', 'rateLimit', 'processor', 'latency'] as const;
type LoadBound = (typeof LOAD_BOUNDS)[number];

export interface LoadProgress {
  /** Unix milliseconds. */
  since: number;
  /** Number of users and groups that left the backlog, and the total with those still in it. */
  done: number;
  total: number;
  /** Resources in a second over the last minute; null in the first seconds, also after an interruption. */
  perSecond: number | null;
  /** Null while the load is stopped (STOPS), while nothing is done, or while the rate is not known. */
  secondsLeft: number | null;
  /** Null while the processes have not measured it, and when none of the causes is seen. */
  bound: LoadBound | null;
}

/** Facts outside the backlog that may bound a load. */
export interface LoadSurroundings {
  target: string;
  /** Whether Redis takes no writes; all processes seem silent then. */
  isRedisRefusing: boolean;
  /** Whether a hold of the target stops all writes. */
  isOnHold: boolean;
  /** Whether the platform's address changed, so that writes wait until the tenant is recognised there. */
  hasMoved: boolean;
  /** Whether the circuit breaker of the target lets only probes through. */
  isBreakerOpen: boolean;
  /** As in BreakerState. */
  resumedAt?: number | undefined;
  /** End of a pause of all calls that the rate limit of the platform causes, Unix milliseconds; absent: no such pause. */
  pausedUntil?: number | undefined;
  processes: readonly FleetProcess[];
}

type LoadBacklog = Pick<Backlog, 'now' | 'dirty' | 'inflight' | 'due' | 'oldestMs' | 'load'>;

/** Time over which the rate is measured. */
const WINDOW_MS = 60_000;
/** Time between two samples from which on the load was interrupted; normal is `SAMPLE_MS` of lua/load.lua. */
const GAP_MS = 10_000;
/** Shortest time over which a rate is reliable. */
const LEAST_MS = 4000;
/** From this share of busy time of a process, its processor limits the rate. */
const FULL_SHARE = 0.9;
/** From this share of busy time, the processor limits the rate if slots are free and no call waits for one. */
const BUSY_SHARE = 0.5;
/** Above this share of busy slots, the answers of the platform limit the rate. */
const BUSY_SLOTS_SHARE = 0.5;
/**
 * From this share of delayed calls, the rate limit is the cause (`rateLimit`). The share is small, because a pause delays only the
 * calls that hold a slot when it begins; all others start after it.
 */
const DELAYED_SHARE = 0.1;
/** If at most this share of all marks is due or in work, the load waits for marks that are not due yet. */
const FEW_DUE_SHARE = 0.01;

/**
 * Returns how many resources leave the backlog in a second: 0 without a sample of the last minute; null: not known yet, as in the
 * first seconds after an interruption.
 * @param resumedAt end of the last time in which the breaker was open, Unix milliseconds; undefined: not lately
 */
export function loadRate({ now, load }: LoadBacklog, resumedAt = 0): number | null {
  if (!load) return null;
  // Samples are sorted from the newest to the oldest. None is taken on hold, without a worker and while Redis takes no writes.
  const gap = load.samples.findIndex(({ at }, index) => {
    const newer = load.samples[index - 1];
    return newer !== undefined && newer.at - at >= GAP_MS;
  });
  const unbroken = load.samples.slice(0, gap === -1 ? undefined : gap);
  const recent = unbroken.filter(({ at }) => now - at <= WINDOW_MS);
  if (recent.length === 0) return load.startedAt === null ? null : 0;
  const first = recent.findLast(({ at }) => at >= resumedAt);
  if (!first) return null;
  if (now - first.at < LEAST_MS) return null;
  return Math.max(0, (load.done - first.done) / (now - first.at)) * 1000;
}

/** Returns the progress of a load; null while nothing loads. */
export function judgeLoad(backlog: LoadBacklog, surroundings: LoadSurroundings): LoadProgress | null {
  const { now, dirty, oldestMs, load } = backlog;
  if (!load) return null;
  const rate = loadRate(backlog, surroundings.resumedAt);
  const bound = boundOf(backlog, surroundings, rate);
  const isStopped = STOPS.some((stop) => stop === bound);
  return {
    since: load.startedAt ?? now - oldestMs,
    done: load.done,
    total: load.done + dirty,
    perSecond: rate === null ? null : Math.round(rate * 10) / 10,
    secondsLeft: !rate || isStopped ? null : Math.ceil(dirty / rate),
    bound,
  };
}

/** Returns the cause that stops or limits the load; null: no cause is seen. @param rate as `loadRate` returns it */
function boundOf(
  backlog: LoadBacklog,
  surroundings: LoadSurroundings,
  rate: number | null,
): LoadBound | null {
  const { target, processes, pausedUntil = 0 } = surroundings;
  const { now, dirty, due, inflight } = backlog;
  const workers = processes.filter(({ role, silent }) => !silent && dutiesOf(role).includes('worker'));
  const stop = stopOf(backlog, surroundings, workers);
  if (stop) return stop;
  // While the platform answers every call with a pause, nothing is done, and the marks are due only after the pause.
  if (pausedUntil > now && !rate) return 'rateLimit';
  if (due + inflight <= FEW_DUE_SHARE * dirty) return 'waiting';
  return limitOf(
    workers.flatMap(({ work }) => work?.targets[target] ?? []),
    Math.max(...workers.map(({ work }) => work?.processor ?? 0)),
  );
}

/** Returns the cause that stops the load; null: it goes on. */
function stopOf(
  { now }: LoadBacklog,
  { isRedisRefusing, isOnHold, hasMoved, isBreakerOpen, pausedUntil = 0 }: LoadSurroundings,
  workers: readonly FleetProcess[],
): (typeof STOPS)[number] | null {
  if (isRedisRefusing) return 'redisRefuses';
  if (isOnHold) return 'hold';
  if (hasMoved) return 'address';
  if (isBreakerOpen) return 'breaker';
  // Shorter pauses do not stop the load: they only lower its rate.
  if (pausedUntil - now > WINDOW_MS) return 'pause';
  // A command such as reconcile runs syncs too, but does not count as a worker: the load stops when the command ends.
  return workers.length === 0 ? 'noWorker' : null;
}

/**
 * Returns the cause that limits the speed of the workers; null: no cause is seen.
 * @param works what each worker measured at the target
 * @param processor share of busy time of the busiest worker
 */
function limitOf(works: readonly TargetWork[], processor: number): LoadBound | null {
  const sum = (part: keyof TargetWork): number => works.reduce((total, each) => total + each[part], 0);
  const calls = sum('calls');
  // Without a finished call, the calls that still wait for the rate limit show that it is the bound.
  const isRateLimited = calls > 0 ? sum('delayed') >= DELAYED_SHARE * calls : sum('waiting') > 0;
  if (isRateLimited) return 'rateLimit';
  if (processor >= FULL_SHARE) return 'processor';
  const isAnyDelayed = sum('delayed') + sum('waiting') > 0;
  const isQueued = sum('queued') > 0;
  // A call holds its slot also while it waits for the rate limit. So a queue for slots shows that the platform is slow only when no
  // call waits for the limit.
  if (sum('busy') > BUSY_SLOTS_SHARE * works.length || (isQueued && !isAnyDelayed)) return 'latency';
  if (processor >= BUSY_SHARE && !isQueued) return 'processor';
  return isAnyDelayed ? 'rateLimit' : null;
}

const BOUND_WORDS: Record<LoadBound, (target: string) => string> = {
  redisRefuses: () => 'Redis takes no writes, see below why',
  hold: () => 'the hold stops it',
  address: movedText,
  breaker: () => 'the platform fails, so only probes are sent',
  pause: () => 'all calls pause, see below until when',
  noWorker: () => 'no worker runs: start one',
  waiting: () => 'it waits for members, or for the time of the next try',
  rateLimit: (target) =>
    `the rate limit bounds it (targets.${target}.rateLimit, or pauses that the platform asks for)`,
  processor: () => 'the processor of the workers bounds it: more workers help',
  latency: (target) =>
    `the answers of the platform bound it: their latency, and targets.${target}.maxConcurrency calls at a time`,
};

/** Returns the progress in words: done, rate, time left, and the bound. */
export function loadText(
  { since, done, total, perSecond, secondsLeft, bound }: LoadProgress,
  target: string,
): string {
  return (
    [
      `loading since ${isoTime(since)}: ${done} of ${total} done`,
      perSecond === null ? 'the rate and the time left are not known yet' : `${perSecond} a second`,
      ...(secondsLeft === null ? [] : [`about ${timeText(secondsLeft)} left`]),
    ].join(', ') + (bound === null ? '' : `; ${BOUND_WORDS[bound](target)}`)
  );
}

/** Formats a time without false precision: seconds below two minutes, then minutes below two hours, then hours. */
const timeText = (seconds: number): string =>
  seconds < 120
    ? `${seconds} s`
    : seconds < 7200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`;
