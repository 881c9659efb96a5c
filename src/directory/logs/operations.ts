// Stores the long operations of the admin API in Redis, so that every process can return their progress and result.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { redisTime } from '../redis/redis-time.ts';

export type OperationKind = 'plan' | 'reconcile' | 'apply' | 'doctor' | 'repair';
/** `lost`: the process of the operation stopped sending heartbeats. */
type OperationState = 'running' | 'succeeded' | 'failed' | 'cancelled' | 'lost';

export interface OperationProgress {
  connection: string;
  /** null: the operation concerns the connection as a whole. */
  target: string | null;
  /** Name of the step that is running. */
  phase: string;
  /** Number of finished items of this step. */
  done: number;
  /** Number of all items of this step. */
  total: number;
}

export interface Operation {
  id: string;
  kind: OperationKind;
  /** null: all targets. */
  target: string | null;
  /** Name of the operator. */
  by: string;
  state: OperationState;
  /** Times in Unix milliseconds by the clock of Redis, because other processes compare them. */
  startedAt: number;
  updatedAt: number;
  endedAt: number | null;
  progress: OperationProgress[];
  /** Outcome in one word, such as `converged` or `stale`; null until the end. */
  outcome: string | null;
  /** Remark or advice for the operator. */
  message: string | null;
}

/** Largest number of listed operations; the oldest ones leave the list, and lose their results. */
const MOST_OPERATIONS = 50;
/** Lifetime of an operation after its last change; also of the order to cancel it. */
const KEEP_SECONDS = 86_400;
/** Lifetime of a result: short, because it contains personal data. */
const KEEP_RESULT_SECONDS = 3600;
/** Bytes of a result that one command reads. */
const RESULT_PIECE_BYTES = 262_144;

export type OperationStore = ReturnType<typeof createOperationStore>;

export function createOperationStore({ redis }: { redis: Redis }, options: { prefix: string }) {
  // The dot keeps these keys apart from those of connections, whose names have no dot.
  const keys = createKeyspace(options.prefix, 'bridge.operations');
  const list = keys.key('operations');
  const resultKey = (id: string): string => keys.key('operationResult', id);

  async function put(operation: Operation): Promise<void> {
    const multi = redis.multi();
    multi.set(keys.key('operation', operation.id), JSON.stringify(operation), 'EX', KEEP_SECONDS);
    multi.zadd(list, operation.startedAt, operation.id);
    // All but the newest MOST_OPERATIONS; -1 is the newest.
    multi.zrange(list, '0', String(-MOST_OPERATIONS - 1));
    multi.zremrangebyrank(list, 0, -MOST_OPERATIONS - 1);
    const [_set, _added, beyondMost] = (await multi.exec()) ?? [];
    const dropped = (beyondMost?.[1] ?? []) as string[];
    // `dropResults` finds the results of listed operations only, so the results of operations that leave the list are deleted here.
    // An operation that still runs enters the list again with its last `put`, and leaves it again.
    if (dropped.length > 0) await redis.del(...dropped.map(resultKey));
  }

  async function get(id: string): Promise<Operation | undefined> {
    const text = await redis.get(keys.key('operation', id));
    return text === null ? undefined : (JSON.parse(text) as Operation);
  }

  /** Returns the stored operations, newest first. */
  async function all(): Promise<Operation[]> {
    const ids = await redis.zrevrange(list, 0, -1);
    if (ids.length === 0) return [];
    const texts = await redis.mget(ids.map((id) => keys.key('operation', id)));
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as Operation]));
  }

  /**
   * Stores the JSON text of a result piece by piece, so that it is never whole in memory.
   * @throws Error when `dropResults` deletes it meanwhile
   */
  async function putResult(id: string, pieces: Iterable<Buffer>): Promise<void> {
    const key = resultKey(id);
    await redis.set(key, '', 'EX', KEEP_RESULT_SECONDS);
    let length = 0;
    for (const piece of pieces) {
      // SETRANGE is idempotent, unlike APPEND: a result that is written again after a lost reply has every piece once.
      const change = redis.multi().exists(key).setrange(key, length, piece);
      const [[, existed] = []] = (await change.expire(key, KEEP_RESULT_SECONDS).exec()) ?? [];
      length += piece.length;
      if (existed === 1) continue;
      // `dropResults` has deleted the earlier pieces.
      await redis.del(key);
      throw new Error(
        'the work has ended, but its result was deleted while it was stored, because a person was forgotten',
      );
    }
  }

  /** Returns the size of a result in bytes; 0 when there is none. */
  const resultBytes = (id: string): Promise<number> => redis.strlen(resultKey(id));

  /** Yields the JSON of a result in pieces. @throws Error when the result expires while it is read */
  async function* result(id: string, bytes: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes; at += RESULT_PIECE_BYTES) {
      const piece = await redis.getrangeBuffer(resultKey(id), at, at + RESULT_PIECE_BYTES - 1);
      if (piece.length === 0) throw new Error('the result expired while it was read');
      yield piece;
    }
  }

  /**
   * Deletes all results, because they may contain data of a person who is to be forgotten. An operation that is under way may still
   * store data read before.
   */
  async function dropResults(): Promise<void> {
    for (const { id } of await all()) await redis.del(resultKey(id));
  }

  /** Asks the process of the operation to stop. @param why reason, with the name of the operator */
  const cancel = async (id: string, why: string): Promise<void> => {
    await redis.set(keys.key('operationCancel', id), why, 'EX', KEEP_SECONDS);
  };

  /** Returns why an operator has cancelled the operation, with the name of the operator; null: it is not cancelled. */
  const whyCancelled = (id: string): Promise<string | null> => redis.get(keys.key('operationCancel', id));

  /** Returns the time of Redis, Unix milliseconds. */
  const now = (): Promise<number> => redisTime(redis);

  return { now, put, get, all, putResult, resultBytes, result, dropResults, cancel, whyCancelled };
}
