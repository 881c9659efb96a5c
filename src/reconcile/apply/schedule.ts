// Starts reconcile runs, one at a time across all replicas: by schedule, when a process starts and a run is needed, when all
// records have to be mapped anew, and again after such a run that did not compare everything.
import cron from 'node-cron';
import { isTenantHold } from '../../directory/guard/operator-hold.ts';
import { RunLost } from '../../directory/outbox/drift.ts';
import { isAnew, isRepaired } from '../../directory/outbox/mapped-by.ts';
import { comparesAll } from '../../directory/outbox/runs.ts';
import { isStoreUnavailable } from '../../directory/redis/connection.ts';
import type { GuardSettings } from '../../guard/judge.ts';
import { backoffMs } from '../../support/backoff.ts';
import type { Clock, Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import type { ReadTrail } from '../scan/audit-trail.ts';
import { isChange, isDrift } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { isReadWhole, type Plan } from '../plan.ts';
import { reconcile } from './run.ts';
import { RunStopped } from './run-lock.ts';

export interface ScheduledScope {
  scope: ReconcileScope;
  guard: GuardSettings;
  readTrail?: ReadTrail;
}

interface ScheduleOptions {
  /** node-cron pattern; null: runs start only as `startDueRuns` says. */
  schedule: string | null;
  timezone: string;
  onDrift: 'repair' | 'report';
  /** Resolves when the start of the service has noted the targets that are back in the settings; they need a run. */
  returnedTargetsNoted: Promise<void>;
}

export type Scheduler = ReturnType<typeof startScheduler>;

/** Interval at which Redis is asked whether everything has to be mapped anew, milliseconds. */
const LOOK_MS = 5000;
/** Age up to which scheduled times are compared with the end of the last run: one day. */
const MISSED_WITHIN_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** Delay before a run that did not compare everything is repeated. */
const REPEAT = { baseMs: MINUTE_MS, maxMs: 30 * MINUTE_MS };

/**
 * How a run of this process ended. `none`: it joined another run, another run took its lock (`RunLost`), or the service stopped.
 * `incomplete`: the run failed, or could not read everything.
 */
type RunEnd = 'complete' | 'incomplete' | 'none';

/** Starts the schedule, and a run for each scope that needs one now. */
export function startScheduler(
  deps: { clock: Clock; ids: Ids; logger: Logger; random: () => number },
  scopes: ScheduledScope[],
  options: ScheduleOptions,
) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Set<Promise<unknown>>();
  const busy = new Set<ReconcileScope>();
  const track = (work: Promise<unknown>): void => {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  };
  const run = async (each: ScheduledScope, why: string): Promise<RunEnd> => {
    // A run of this process is in progress, and covers this one.
    if (busy.has(each.scope) || signal.aborted) return 'none';
    busy.add(each.scope);
    return runOnce(deps, each, { ...options, why, signal }).finally(() => busy.delete(each.scope));
  };
  // A run before `returnedTargetsNoted` would take a target that is back for one that was fed all the time.
  const runAsScheduled = async (each: ScheduledScope): Promise<void> => {
    await options.returnedTargetsNoted;
    await run(each, 'schedule');
  };
  const task =
    options.schedule === null
      ? undefined
      : cron.createTask(options.schedule, () => scopes.forEach((each) => track(runAsScheduled(each))), {
          timezone: options.timezone,
          name: 'reconcile',
          suppressMissedWarning: true,
        });
  void task?.start();
  const isDue = (moment: Date): boolean => task?.match(moment) ?? false;
  for (const each of scopes) {
    const watch = () => startDueRuns(deps, each.scope, { isDue, signal, run: (why) => run(each, why) });
    // An empty directory is noted without a wait for `options.returnedTargetsNoted`, because the first pushes may arrive during
    // that wait. After an error `reasonAtStart` looks again.
    const isEmptyNoted = noteEmptyDirectory(each.scope).catch(() => false);
    track(Promise.all([isEmptyNoted, options.returnedTargetsNoted]).then(watch));
  }
  return {
    /** Aborts running reconciles before their next platform call. */
    stop: async (): Promise<void> => {
      await task?.destroy();
      stopping.abort(new RunStopped('the service stopped'));
      await Promise.allSettled([...running]);
    },
  };
}

/**
 * Starts a run if one is due at the start of the process, and one each time that everything has to be mapped anew, and repeats a
 * run that did not compare everything. A run waits until all processes have the same rules, because any process may sync a marked
 * resource, by its own rules.
 */
async function startDueRuns(
  { clock, logger, random }: { clock: Clock; logger: Logger; random: () => number },
  scope: ReconcileScope,
  options: {
    isDue: (moment: Date) => boolean;
    signal: AbortSignal;
    run: (why: string) => Promise<RunEnd>;
  },
): Promise<void> {
  const { isDue, signal, run } = options;
  let isStart = true;
  /**
   * The value of `mappedBy` for which this process made its last run. Redis keeps the value if the run could not map everybody; it
   * must not start another run.
   */
  let lastRunFor: string | undefined;
  /** Number of runs in a row that did not compare everything, and the time of the next one. */
  let incomplete = 0;
  let repeatAt = Infinity;
  /** The last logged message; undefined after a look without error. */
  let logged: string | undefined;
  while (!signal.aborted) {
    try {
      // Digest of the rules that last mapped everybody, or a note that all have to be mapped anew (mapped-by.ts); undefined: never.
      const mappedBy = await scope.runs.mappedBy();
      let why: string | undefined;
      if (isAnew(mappedBy) && mappedBy !== lastRunFor)
        why = 'the rules of the target changed, or it is back in the settings';
      else if (isStart) why = await reasonAtStart(scope, mappedBy, isDue);
      else if (clock.now() >= repeatAt && !(await isLastComplete(scope)))
        why = 'the last run was not complete';
      const mustWait = why !== undefined && !(await scope.rulesAgree());
      if (!mustWait) {
        isStart = false;
        const end = why === undefined ? 'none' : await run(why);
        if (end !== 'none') lastRunFor = mappedBy;
        if (end === 'incomplete') repeatAt = clock.now() + backoffMs(++incomplete, REPEAT, random);
        // Another run, of the schedule or of an operator, may have compared everything meanwhile. If one is in progress (`none`),
        // the next look decides.
        else if (clock.now() >= repeatAt && (why === undefined || end === 'complete'))
          [incomplete, repeatAt] = [0, Infinity];
      }
      logged = undefined;
    } catch (error) {
      const { message } = error as Error;
      // The connection to Redis logs that it is away, and a lasting error is logged once.
      if (!isStoreUnavailable(error) && message !== logged) {
        const { connection, target } = scope;
        logger.error(
          { err: error as Error, connection, target: target.name },
          'it cannot be told whether a reconcile is due, looking again',
        );
        logged = message;
      }
    }
    await clock.sleep(LOOK_MS, signal);
  }
}

/** Returns whether the last run of the target, by any process, compared everything. */
async function isLastComplete({ runs }: ReconcileScope): Promise<boolean> {
  const { last } = await runs.read();
  return last !== undefined && comparesAll(last);
}

/** Returns why a run is needed when the process starts; undefined: none is needed. */
async function reasonAtStart(
  scope: ReconcileScope,
  mappedBy: string | undefined,
  isDue: (moment: Date) => boolean,
): Promise<string | undefined> {
  const [{ last }, hasMoved, hold] = await Promise.all([
    scope.runs.read(),
    scope.outbox.hasMoved(),
    scope.outbox.guardStore.onHold(),
  ]);
  if (mappedBy === undefined && (await noteEmptyDirectory(scope))) return undefined;
  if (hasMoved) return 'the address of the target changed';
  if (hold && isTenantHold(hold)) return 'the tenant of the target was not recognised';
  if (mappedBy === undefined) return 'the target is new';
  if (isRepaired(mappedBy)) return 'derived data was repaired';
  if (mappedBy !== scope.digest) return 'the mapping rules changed';
  return last && isOverdue(last.endedAt, await scope.runs.now(), isDue) ? 'a run was missed' : undefined;
}

/**
 * Stores that the current rules have mapped everybody, if the directory is empty: all later pushes are mapped by them.
 * @returns whether it stored them: the directory is empty, and no rules were stored before
 */
async function noteEmptyDirectory({ runs, directory, digest }: ReconcileScope): Promise<boolean> {
  const [mappedBy, users, groups] = await Promise.all([
    runs.mappedBy(),
    directory.count('User'),
    directory.count('Group'),
  ]);
  if (mappedBy !== undefined || users + groups > 0) return false;
  await runs.noteMapped(digest, mappedBy);
  return true;
}

/** Returns whether a scheduled time, or a whole day, has passed since the end of the last run. */
export function isOverdue(lastEndedAt: number, now: number, isDue: (moment: Date) => boolean): boolean {
  const thisMinute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  for (let back = 0; back < MISSED_WITHIN_MINUTES; back++) {
    const moment = thisMinute - back * MINUTE_MS;
    if (moment <= lastEndedAt) return false;
    if (isDue(new Date(moment))) return true;
  }
  return true;
}

/**
 * Runs one reconcile and logs its result; errors are logged, not thrown. A run that waits in vain for changes to be applied is
 * complete: it has marked them, and the worker goes on.
 */
async function runOnce(
  { clock, ids, logger }: { clock: Clock; ids: Ids; logger: Logger },
  { scope, guard, readTrail }: ScheduledScope,
  { onDrift, why, signal }: ScheduleOptions & { why: string; signal: AbortSignal },
): Promise<RunEnd> {
  const log = logger.child({ connection: scope.connection, target: scope.target.name });
  const startedAt = clock.now();
  try {
    const { report, plan } = await reconcile(scope, {
      id: ids.request(),
      repair: onDrift === 'repair',
      joins: true,
      guard,
      signal,
      logger: log,
      readTrail,
    });
    // The message of the report may name people, or quote the platform: scim-bridge status shows it, and no log.
    const { run, outcome, counts } = report;
    const line = {
      run,
      why,
      outcome,
      counts,
      unread: plan?.unknown,
      durationMs: clock.now() - startedAt,
      joined: !plan,
    };
    if (outcome === 'converged' && !(plan && hasDrift(plan))) log.info(line, 'reconciled');
    else log.warn(line, 'reconciled, differences found: see scim-bridge status');
    if (plan === undefined) return 'none';
    // After Redis came back empty, a run that compared all stored resources is `unproven` too, but a repetition would not help.
    return outcome === 'unproven' && !isReadWhole(plan) ? 'incomplete' : 'complete';
  } catch (error) {
    if (signal.aborted || error instanceof RunLost) return 'none';
    log.error({ err: error as Error, why }, 'reconcile failed: see scim-bridge status');
    return 'incomplete';
  }
}

/** Returns whether the plan changes something that was changed at the platform. */
const hasDrift = ({ entries }: Plan): boolean => entries.some((entry) => isChange(entry) && isDrift(entry));
