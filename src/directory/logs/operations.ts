// Stores long operations in Redis, so that every replica can return their progress.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';

export type OperationKind = 'plan' | 'reconcile' | 'apply' | 'doctor' | 'repair';
/** `lost`: the process of the operation stopped sending heartbeats. */
export type OperationState = 'running' | 'succeeded' | 'failed' | 'cancelled' | 'lost';

/** Progress of an operation on one connection and target. */
export interface OperationProgress {
  connection: string;
  /** null = the work concerns the connection as a whole. */
  target: string | null;
  phase: string;
  done: number;
  total: number;
}

export interface Operation {
  id: string;
  kind: OperationKind;
  /** null = all targets. */
  target: string | null;
  by: string;
  state: OperationState;
  /** Unix milliseconds of the process that works at it. */
  startedAt: number;
  updatedAt: number;
  endedAt: number | null;
  progress: OperationProgress[];
  /** Outcome in one word, such as `converged` or `stale`; null until the end. */
  outcome: string | null;
  /** Remark or advice for the operator. */
  message: string | null;
}

const KEPT = 50;
const KEEP_SECONDS = 86_400;
/** Lifetime of a result, which contains personal data. */
const KEEP_RESULT_SECONDS = 3600;
const RESULT_PIECE = 262_144;

export type OperationStore = ReturnType<typeof createOperationStore>;

export function createOperationStore({ redis }: { redis: Redis }, options: { prefix: string }) {
  // No connection can be called so: its name has no dot.
  const keys = createKeyspace(options.prefix, 'bridge.operations');
  const list = keys.key('operations');

  async function put(operation: Operation): Promise<void> {
    const multi = redis.multi();
    multi.set(keys.key('operation', operation.id), JSON.stringify(operation), 'EX', KEEP_SECONDS);
    multi.zadd(list, operation.startedAt, operation.id);
    multi.zremrangebyrank(list, 0, -KEPT - 1);
    await multi.exec();
  }

  async function get(id: string): Promise<Operation | undefined> {
    const text = await redis.get(keys.key('operation', id));
    return text === null ? undefined : (JSON.parse(text) as Operation);
  }

  /** Newest first. */
  async function all(): Promise<Operation[]> {
    const ids = await redis.zrevrange(list, 0, -1);
    if (ids.length === 0) return [];
    const texts = await redis.mget(ids.map((id) => keys.key('operation', id)));
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as Operation]));
  }

  /** Stores the JSON text of a result piece by piece, so that it is never whole in memory. */
  async function putResult(id: string, pieces: Iterable<Buffer>): Promise<void> {
    const key = keys.key('operationResult', id);
    await redis.set(key, '', 'EX', KEEP_RESULT_SECONDS);
    let length = 0;
    for (const piece of pieces) {
      // SETRANGE with a position is idempotent, because ioredis may repeat a command whose reply was lost.
      await redis.setrange(key, length, piece);
      length += piece.length;
    }
  }

  /** Returns the size of a result in bytes; 0 when there is none. */
  const resultBytes = (id: string): Promise<number> => redis.strlen(keys.key('operationResult', id));

  /** The JSON of a result in pieces. @throws when it expires on the way */
  async function* result(id: string, bytes: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes; at += RESULT_PIECE) {
      const piece = await redis.getrangeBuffer(keys.key('operationResult', id), at, at + RESULT_PIECE - 1);
      if (piece.length === 0) throw new Error('the result expired while it was read');
      yield piece;
    }
  }

  /** Deletes all results, because they may contain data of a person who is to be forgotten. */
  async function dropResults(): Promise<void> {
    for (const { id } of await all()) await redis.del(keys.key('operationResult', id));
  }

  const cancel = async (id: string): Promise<void> => {
    await redis.set(keys.key('operationCancel', id), '1', 'EX', KEEP_SECONDS);
  };

  const isCancelled = async (id: string): Promise<boolean> =>
    (await redis.exists(keys.key('operationCancel', id))) === 1;

  return { put, get, all, putResult, resultBytes, result, dropResults, cancel, isCancelled };
}
