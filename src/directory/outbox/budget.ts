// Takes calls from the request budget of a target, which its `rateLimit` fills, and stores a pause of all calls to the target with
// its cause. All replicas share the budget and the pause through Redis; take_budget.lua obeys the pause.
import type { Redis } from 'ioredis';
import type { Clock } from '../../support/sources.ts';
import { createKeyspace } from '../keys.ts';
import type { Scripts } from '../redis/scripts.ts';

export interface Pause {
  /** Unix milliseconds at which calls go on. */
  until: number;
  /** Status of the answer that caused the pause. */
  status: number;
  /** Whether the platform asked for the pause by Retry-After; false: the bridge chose its length. */
  asked: boolean;
  /** Wait in milliseconds that the platform asked for, where the bridge pauses for less. */
  askedMs?: number;
}

/** Status of an answer that refuses the API key. */
const REFUSED_KEY = 401;

/** Returns whether the bridge pauses because the platform refused the key. */
export const isForKey = (pause: Pause | undefined): boolean => pause?.status === REFUSED_KEY;

/** Options that name the breaker and the pause of a target. */
interface CallStateOptions {
  prefix: string;
  target: string;
  /**
   * Print of the address and keys of a command that calls another address than the service, or with another key (`callerPrint`): it
   * has a breaker and a pause of its own, so that its failures do not stop the service. Absent: those that the service uses.
   */
  caller?: string | undefined;
}

/** Returns the name of the breaker and the pause in Redis: `<target>`, or `<target>.<print>` for a command with other settings. */
export const callStateOf = ({ target, caller }: Omit<CallStateOptions, 'prefix'>): string =>
  caller === undefined ? target : `${target}.${caller}`;

export function createPauses(redis: Redis, options: CallStateOptions) {
  const { prefix, target } = options;
  const key = createKeyspace(prefix, `target.${target}`).key('paused', callStateOf(options));

  /** Pauses all requests of all replicas for `ms`, unless a longer pause runs. */
  async function set(clock: Clock, ms: number, cause: Omit<Pause, 'until'>): Promise<void> {
    const length = Math.ceil(ms);
    if (length <= 0 || (await redis.pttl(key)) >= length) return;
    const pause: Pause = { until: clock.now() + length, ...cause };
    await redis.set(key, JSON.stringify(pause), 'PX', length);
  }

  /** Returns the pause that is in force; undefined: there is none. */
  const read = async (): Promise<Pause | undefined> => {
    const text = await redis.get(key);
    return text === null ? undefined : (JSON.parse(text) as Pause);
  };

  /** Ends a pause after a refused key, so that a new key is tried at once. */
  async function endForKey(): Promise<void> {
    if (isForKey(await read())) await redis.del(key);
  }

  return { set, read, endForKey };
}

export type Budget = ReturnType<typeof createBudget>;

/** Longest sleep of a waiting request before it checks the pause again. */
const CHECK_MS = 500;

export function createBudget(
  deps: {
    redis: Redis;
    scripts: Scripts;
    clock: Clock;
    /** Called with whether calls have failed recently (breaker.ts). */
    onFailing?: (failing: boolean) => void;
    /** Called with every wait in milliseconds, including 0. */
    onWait?: ((waitMs: number) => void) | undefined;
  },
  /** `burst`: number of requests that may be sent at once after a time without requests. */
  options: CallStateOptions & { requestsPerSecond: number; burst: number },
) {
  const { redis, scripts, clock, onFailing, onWait } = deps;
  const keys = createKeyspace(options.prefix, `target.${options.target}`);
  const pauses = createPauses(redis, options);
  const { target, requestsPerSecond, burst } = options;
  const args = { target, callState: callStateOf(options), intervalMs: 1000 / requestsPerSecond, burst };

  /**
   * Resolves when one request may be sent; waits for the budget, for a pause and for the breaker.
   * @returns the time that it waited, milliseconds
   */
  async function take(signal?: AbortSignal): Promise<number> {
    let waitedMs = 0;
    let hasToken = false;
    for (;;) {
      signal?.throwIfAborted();
      const [tag, wait, failing] = await scripts.run('take_budget', keys.base, { ...args, hasToken });
      const waitMs = Number(wait);
      // A pause, or the breaker, that began while the request waited for its turn stops the request too. The request loses its turn
      // (`hasToken`), so that not all requests that waited are sent at once afterwards.
      hasToken = tag === 'taken';
      const sleepMs = hasToken ? waitMs : Math.min(waitMs, CHECK_MS);
      if (sleepMs > 0) {
        await clock.sleep(sleepMs, signal);
        waitedMs += sleepMs;
      } else if (hasToken) {
        onFailing?.(failing === 1);
        break;
      }
    }
    signal?.throwIfAborted();
    onWait?.(waitedMs);
    return waitedMs;
  }

  return {
    take,
    /** Pauses all requests of all replicas to this target for `ms`. */
    pause: (ms: number, cause: Omit<Pause, 'until'>): Promise<void> => pauses.set(clock, ms, cause),
    /** Ends a pause after a refused key, so that the key is tried at once. */
    tryKey: pauses.endForKey,
  };
}
