// Starts reconcile runs one at a time across all replicas: by schedule, when a process starts and a run is needed, and when all
// records have to be mapped anew.
import cron from 'node-cron';
import { isTenantHold } from '../../directory/guard/operator-hold.ts';
import { RunLost } from '../../directory/outbox/drift.ts';
import { isAnew, isRepaired } from '../../directory/outbox/runs.ts';
import { isStoreUnavailable } from '../../directory/redis/connection.ts';
import type { GuardSettings } from '../../guard/judge.ts';
import type { Clock, Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import type { ReadTrail } from '../scan/audit-trail.ts';
import { isChange, isDrift } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import type { Plan } from '../plan.ts';
import { reconcile } from './run.ts';
import { RunStopped } from './run-lock.ts';

export interface ScheduledScope {
  scope: ReconcileScope;
  guard: GuardSettings;
  readTrail?: ReadTrail;
}

interface ScheduleOptions {
  /** node-cron pattern; null: a run starts only when a process starts and `reasonAtStart` returns a reason. */
  schedule: string | null;
  timezone: string;
  onDrift: 'repair' | 'report';
  /** Resolves when the start of the service has noted the targets that are back in the settings; they need a run. */
  returnedTargetsNoted?: Promise<void>;
}

export type Scheduler = ReturnType<typeof startScheduler>;

/** Interval at which Redis is asked whether everything has to be mapped anew, milliseconds. */
const LOOK_MS = 5000;
/** Age up to which scheduled times are compared with the end of the last run: one day. */
const MISSED_WITHIN_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;

/** Starts the schedule, and a run for each scope that needs one now. */
export function startScheduler(
  deps: { clock: Clock; ids: Ids; logger: Logger },
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
  const run = async (each: ScheduledScope, why: string): Promise<boolean> => {
    // A run in progress covers this one.
    if (busy.has(each.scope) || signal.aborted) return false;
    busy.add(each.scope);
    return runOnce(deps, each, { ...options, why, signal }).finally(() => busy.delete(each.scope));
  };
  const task =
    options.schedule === null
      ? undefined
      : cron.createTask(options.schedule, () => scopes.forEach((each) => track(run(each, 'schedule'))), {
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
 * Starts a run if one is due at the start of the process, and one each time that everything has to be mapped anew. A run waits
 * until all processes have the same rules, because any process may sync a marked resource, by its own rules.
 * @param options.run returns false when this process made no run of its own
 */
async function startDueRuns(
  { clock, logger }: { clock: Clock; logger: Logger },
  scope: ReconcileScope,
  options: {
    isDue: (moment: Date) => boolean;
    signal: AbortSignal;
    run: (why: string) => Promise<boolean>;
  },
): Promise<void> {
  const { isDue, signal, run } = options;
  let isStart = true;
  /**
   * The value of `mappedBy` for which this process made its last run. Redis keeps the value if the run could not map everybody; it
   * must not start another run.
   */
  let lastRunFor: string | undefined;
  /** The last logged message; undefined after a look without error. */
  let logged: string | undefined;
  while (!signal.aborted) {
    try {
      // Digest of the rules that last mapped everybody, or a note that somebody has to be mapped anew (runs.ts); undefined: never.
      const mappedBy = await scope.runs.mappedBy();
      let why: string | undefined;
      if (isAnew(mappedBy) && mappedBy !== lastRunFor)
        why = 'the rules of the target changed, or it is back in the settings';
      else if (isStart) why = await reasonAtStart(scope, mappedBy, isDue);
      const mustWait = why !== undefined && !(await scope.rulesAgree());
      if (!mustWait) {
        isStart = false;
        if (why !== undefined && (await run(why))) lastRunFor = mappedBy;
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
 * Runs one reconcile and logs its result; errors are logged, not thrown.
 * @returns true: this process made a run of its own, even if the run failed; false: it joined another run, another run took its
 *   lock (`RunLost`), or the service stopped
 */
async function runOnce(
  { clock, ids, logger }: { clock: Clock; ids: Ids; logger: Logger },
  { scope, guard, readTrail }: ScheduledScope,
  { onDrift, why, signal }: ScheduleOptions & { why: string; signal: AbortSignal },
): Promise<boolean> {
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
    return plan !== undefined;
  } catch (error) {
    if (signal.aborted || error instanceof RunLost) return false;
    log.error({ err: error as Error, why }, 'reconcile failed: see scim-bridge status');
    return true;
  }
}

/** Returns whether the plan changes something that was changed at the platform. */
const hasDrift = ({ entries }: Plan): boolean => entries.some((entry) => isChange(entry) && isDrift(entry));
