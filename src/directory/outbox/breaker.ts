// Circuit breaker of a target, shared by all replicas through Redis: consecutive failures suspend calls, and single probes find
// out when the platform answers again. Each call reports its result (`note`), which counts by its weight (`weightOf`).
// note_answer.lua adds the weights of consecutive failures: at LIMIT it opens the breaker, and a successful probe closes it. While
// it is open, take_budget.lua delays all other calls.
import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Logger } from '../../support/logger.ts';
import { createKeyspace } from '../keys.ts';
import type { Scripts } from '../redis/scripts.ts';
import { callStateOf, createPauses, type Pause } from './budget.ts';

/** Result of one platform call. */
export interface CallEnd {
  /** HTTP status; 0 = no complete answer. */
  status: number;
  method?: string;
  /** Template of the address, such as `/api/scim/v2/Users/{id}`. */
  route?: string;
  /** Name of the error, if the call failed (platform/errors.ts). */
  error?: string;
}

export interface BreakerState {
  open: boolean;
  /** Unix milliseconds of Redis of the first failure since a success, for 401 of the first 401; set while calls fail. */
  since?: number;
  /** Status of the last failure, 0 = no answer, 200 = a web page; set while calls fail. */
  status?: number;
  /**
   * Methods that the platform answers with 401 while it accepts the key for other methods; absent: it refuses all or none.
   */
  only?: string[];
  /** Set if the refused key (401) is another one than the key of this process: a process uses a former key. */
  ofOtherKey?: true;
  /** Time of the next probe, Unix milliseconds of Redis; set while open. */
  probeAt?: number;
  /** Time at which the breaker closed, Unix milliseconds of Redis; set for two minutes after it was open. */
  resumedAt?: number;
  /** Pause of all calls. */
  pause?: Pause;
}

/** Returns whether the platform refuses the key; one such answer is enough, because a person has to set a new one. */
export const isKeyRefused = ({ status }: BreakerState): boolean => status === 401;

export type Breaker = ReturnType<typeof createBreaker>;

/** Weight at which the breaker opens: five consecutive failures, 401 included, or ten 403, which may mean a refused API key. */
const LIMIT = 10;
/** Weight of a failure that means that the target cannot be used. */
const FAILURE = 2;
/** Weight of a 403, which may also be about a single call. */
const REFUSAL = 1;
/** First and longest interval of probes. The interval grows while the target does not answer. */
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 2000;
/** Time after which failures are forgotten; it is longer than the longest backoff between two attempts of a sync. */
const KEEP_MS = 120_000;

/**
 * A tenant that lacks an address answers it with a web page. Only for SCIM addresses this is a failure of the target. The names
 * of errors here are classes of platform/errors.ts.
 */
const isWebPage = ({ error }: CallEnd): boolean => error === 'EndpointAbsent';
const isScim = ({ route = '' }: CallEnd): boolean => route.startsWith('/api/scim/');

/** Returns the weight of a result against the target; undefined: the result does not count. */
export function weightOf(end: CallEnd): number | undefined {
  const { status, error } = end;
  // The bridge itself ended the call, so the result says nothing about the target.
  if (error === 'PlatformAborted') return undefined;
  if (isWebPage(end) && isScim(end)) return FAILURE;
  const isOfProxy = error === 'PlatformIntermediary';
  const isUnanswered = status === 0 || status >= 500;
  if (isUnanswered || status === 401 || isOfProxy) return FAILURE;
  return status === 403 ? REFUSAL : 0;
}

/** The keys of the platform in the settings of this process. */
interface PlatformKeys {
  token: string;
  scimToken: string | null;
}

/** Returns the print of the address and the keys with which a process calls a target. */
export const callerPrint = ({ url, token, scimToken }: PlatformKeys & { url: string }): string =>
  hash('sha256', [url, token, scimToken ?? ''].join(' '), 'hex').slice(0, 8);

export function createBreaker(
  deps: { redis: Redis; scripts: Scripts; logger: Logger },
  /** `caller`: as in budget.ts. */
  options: { prefix: string; target: string; keys: PlatformKeys; caller?: string | undefined },
) {
  const { redis, scripts, logger } = deps;
  const { target } = options;
  const callState = callStateOf(options);
  /**
   * Returns the print of the API keys of this process, a short hash. It differs from the print of former keys that another process
   * still uses. It is computed anew each time, because the keys may change at run time.
   */
  const keyPrint = (): string =>
    hash('sha256', `${options.keys.token} ${options.keys.scimToken ?? ''}`, 'hex').slice(0, 8);
  const redisKeys = createKeyspace(options.prefix, `target.${target}`);
  const pauses = createPauses(redis, options);
  /** Whether calls have failed recently; successes are recorded only then. */
  let troubled = false;

  /** Called by the budget (budget.ts) with whether calls of any replica have failed recently. */
  const noteFailing = (failing: boolean): void => {
    troubled = failing;
  };

  /** Records the result of a call, without waiting for Redis. */
  function note(end: CallEnd): void {
    const weight = weightOf(end);
    // A web page does not prove that the platform answers.
    if (weight === 0 && isWebPage(end)) return;
    if (weight === undefined || (weight === 0 && !troubled)) return;
    troubled = weight > 0;
    // While Redis is away the result is lost: the breaker opens by later results.
    void report(end, weight).catch(() => undefined);
  }

  /** Stores the result of a call by note_answer.lua. @param closes a success closes the breaker, also without a probe */
  const noteAnswer = ({ status, method = 'GET' }: CallEnd, weight: number, closes = false) =>
    scripts.run('note_answer', redisKeys.base, {
      target: callState,
      weight,
      limit: LIMIT,
      status,
      method,
      keyPrint: keyPrint(),
      closes,
      // The probe interval grows only while the target does not answer.
      grows: status === 0 || status >= 500,
      firstMs: FIRST_PROBE_MS,
      longestMs: LONGEST_PROBE_MS,
      keepMs: KEEP_MS,
    });

  /** Stores the result of a call, and logs it if it opened or closed the breaker. */
  async function report(end: CallEnd, weight: number): Promise<void> {
    const { status } = end;
    const [tag] = await noteAnswer(end, weight);
    if (tag === 'opened') logger.warn({ target, status }, 'calls fail in a row: only probes from now on');
    if (tag === 'closed') logger.info({ target }, 'the platform answers again');
  }

  /** Returns the state of the breaker and the pause of the calls. */
  async function read(): Promise<BreakerState> {
    const [stored, resumedAt, pause] = await Promise.all([
      redis.hgetall(redisKeys.key('breaker', callState)),
      redis.get(redisKeys.key('resumed', callState)),
      pauses.read(),
    ]);
    // The header of note_answer.lua explains the fields.
    const { openedAt, since, status, probeAt, partial } = stored;
    const refused = refusedMethods(stored);
    const isRefused = status === '401';
    const begun = since ?? openedAt;
    return {
      open: typeof openedAt === 'string',
      ...(begun ? { since: Number(begun) } : {}),
      ...(status ? { status: Number(status) } : {}),
      ...(isRefused && partial && refused.length > 0 ? { only: refused } : {}),
      ...(isRefused && stored.refusedKey && stored.refusedKey !== keyPrint() ? { ofOtherKey: true } : {}),
      ...(probeAt ? { probeAt: Number(probeAt) } : {}),
      ...(resumedAt === null ? {} : { resumedAt: Number(resumedAt) }),
      ...(pause && { pause }),
    };
  }

  /**
   * Closes the breaker and ends the pause after a refused key. Called after successful reads that bypass the budget, such as the
   * reads of doctor. Other methods that were answered with 401 stay noted. If the refused key is that of this process, it is noted
   * as accepted for reads.
   */
  async function close(): Promise<void> {
    await Promise.all([noteAnswer({ status: 200 }, 0, true), pauses.endForKey()]);
  }

  return { noteFailing, note, read, close };
}

/** Start of the names of fields for methods that were answered with 401 (note_answer.lua). */
const REFUSED = 'refused:';

const refusedMethods = (stored: Readonly<Record<string, string>>): string[] =>
  Object.keys(stored)
    .filter((field) => field.startsWith(REFUSED))
    .map((field) => field.slice(REFUSED.length))
    .sort();
