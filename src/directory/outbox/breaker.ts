// The breaker of a target, shared by all replicas through Redis: after failures in a row calls are suspended, and one
// probe at a time finds out when the platform is back. take_budget.lua keeps requests waiting meanwhile.
import type { Redis } from 'ioredis';
import type { Logger } from '../../support/logger.ts';
import { createKeyspace } from '../keys.ts';
import type { Scripts } from '../redis/scripts.ts';

/** The end of one call. */
export interface CallEnd {
  /** HTTP status; 0 = no complete answer. */
  status: number;
  /** Name of the error that the caller got. */
  error?: string;
}

export interface BreakerState {
  open: boolean;
  /** Unix milliseconds of Redis; set while open. */
  since?: number;
  /** Status of the last failure, 0 = no answer; set while calls fail. */
  status?: number;
}

export type Breaker = ReturnType<typeof createBreaker>;

/** Five failures in a row, or ten refusals: one resource may be forbidden to us, ten in a row are our key. */
const LIMIT = 10;
const FAILURE = 2;
const REFUSAL = 1;
/** Between probes: a short loss of the network costs a second, a long one is not hammered. */
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 15_000;
/** Longer than anything waits before it tries again: an older failure says nothing about now. */
const KEEP_MS = 120_000;

/** How much a call speaks against the target as a whole; undefined = it says nothing. */
export function weightOf({ status, error }: CallEnd): number | undefined {
  if (error === 'PlatformAborted') return undefined;
  if (status === 0 || status >= 500 || status === 401 || error === 'PlatformIntermediary') return FAILURE;
  return status === 403 ? REFUSAL : 0;
}

export function createBreaker(
  deps: { redis: Redis; scripts: Scripts; logger: Logger },
  options: { prefix: string; target: string },
) {
  const { redis, scripts, logger } = deps;
  const { target } = options;
  const keys = createKeyspace(options.prefix, `target.${target}`);
  /** Only then an answer is worth telling: the rest of the time it costs nothing. */
  let troubled = false;

  /** Told by the budget whether calls of any replica have failed lately. */
  const heed = (failing: boolean): void => {
    troubled = failing;
  };

  /** Told of every call; does not wait for Redis. */
  function note(end: CallEnd): void {
    const weight = weightOf(end);
    if (weight === undefined || (weight === 0 && !troubled)) return;
    troubled = weight > 0;
    void tell(end.status, weight).catch(() => undefined);
  }

  async function tell(status: number, weight: number): Promise<void> {
    const [tag] = await scripts.run('note_answer', keys.base, {
      ...{ target, weight, limit: LIMIT, status },
      // A target that answers can be called again soon.
      grows: status === 0 || status >= 500,
      ...{ firstMs: FIRST_PROBE_MS, longestMs: LONGEST_PROBE_MS, keepMs: KEEP_MS },
    });
    if (tag === 'opened') logger.warn({ target, status }, 'calls fail in a row: only probes from now on');
    if (tag === 'closed') logger.info({ target }, 'the platform answers again');
  }

  async function read(): Promise<BreakerState> {
    const [openedAt, status] = await redis.hmget(keys.key('breaker', target), 'openedAt', 'status');
    return {
      open: typeof openedAt === 'string',
      ...(openedAt ? { since: Number(openedAt) } : {}),
      ...(status ? { status: Number(status) } : {}),
    };
  }

  return { heed, note, read };
}
