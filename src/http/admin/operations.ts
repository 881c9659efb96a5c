// Runs long work beside the requests and tells in Redis how far it is.
import type {
  Operation,
  OperationKind,
  OperationProgress,
  OperationStore,
} from '../../directory/logs/operations.ts';
import type { Clock, Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { inPieces } from '../../support/pieces.ts';
import { createSerially } from '../../support/serially.ts';
import { tooMany } from './problem.ts';

export interface Work {
  id: string;
  /** Ends when the operator cancels, or when the process stops. */
  signal: AbortSignal;
  onProgress: (progress: OperationProgress) => void;
}

/** The outcome in one word, and the full result. */
export interface Finished {
  outcome: string;
  message?: string | undefined;
  /** JSON in small texts. */
  result: Iterable<string>;
}

export interface Order {
  kind: OperationKind;
  target: string | undefined;
  by: string;
}

export type Operations = ReturnType<typeof createOperations>;

/**
 * In one process, the one that works and those that wait for it. A comparison reads the whole platform and holds what
 * differs in memory, so they run one after the other.
 */
const LIMIT = 4;
const BEAT_MS = 1000;
/** Without a sign of life for so long, the process that worked at it is gone. */
const LOST_MS = 30_000;
const RETRY_SECONDS = 10;

export function createOperations(deps: { store: OperationStore; clock: Clock; ids: Ids; logger: Logger }) {
  const { store, clock, ids, logger } = deps;
  const inTurn = createSerially();
  const running = new Map<string, { end: AbortController; done: Promise<void> }>();

  /** @throws Problem 429 when too many run here already */
  async function start(order: Order, work: (work: Work) => Promise<Finished>): Promise<Operation> {
    if (running.size >= LIMIT)
      throw tooMany(`${LIMIT} operations are under way here: wait for one, or cancel one.`, RETRY_SECONDS);
    const now = clock.now();
    const operation: Operation = {
      ...{ id: ids.request(), kind: order.kind, target: order.target ?? null, by: order.by },
      ...{ state: 'running', startedAt: now, updatedAt: now, endedAt: null },
      ...{ progress: [], outcome: null, message: null },
    };
    const end = new AbortController();
    // Its place is taken before anything is awaited.
    const stored = store.put(operation);
    const done = stored
      .then(() => run(operation, end, work))
      .catch((error: unknown) =>
        logger.warn({ err: error, operation: operation.id }, 'operation is not kept'),
      )
      .finally(() => void running.delete(operation.id));
    running.set(operation.id, { end, done });
    await stored;
    return { ...operation };
  }

  async function run(
    operation: Operation,
    end: AbortController,
    work: (work: Work) => Promise<Finished>,
  ): Promise<void> {
    const beating = new AbortController();
    const heart = beat(operation, end, beating.signal);
    const onProgress = (progress: OperationProgress): void => {
      const others = operation.progress.filter(
        ({ connection, target }) => connection !== progress.connection || target !== progress.target,
      );
      operation.progress = [...others, progress];
    };
    try {
      await inTurn('operations', async () => {
        end.signal.throwIfAborted();
        const { outcome, message, result } = await work({ id: operation.id, signal: end.signal, onProgress });
        await store.putResult(operation.id, inPieces(result));
        Object.assign(operation, { state: 'succeeded', outcome, message: message ?? null });
      });
    } catch (error) {
      const state = end.signal.aborted ? 'cancelled' : 'failed';
      Object.assign(operation, { state, outcome: state, message: (error as Error).message });
      if (state === 'failed') logger.warn({ err: error, operation: operation.id }, 'operation failed');
    }
    beating.abort();
    await heart;
    operation.endedAt = operation.updatedAt = clock.now();
    await store.put(operation);
  }

  /** Shows that somebody works at it, and hears whether it shall end. Redis may be away for a while. */
  async function beat(operation: Operation, end: AbortController, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(BEAT_MS, signal);
      if (signal.aborted) return;
      try {
        operation.updatedAt = clock.now();
        await store.put(operation);
        if (await store.isCancelled(operation.id)) end.abort(new Error('cancelled by an operator'));
      } catch {
        // The next beat tells.
      }
    }
  }

  const judged = (operation: Operation): Operation =>
    operation.state === 'running' && clock.now() - operation.updatedAt > LOST_MS
      ? { ...operation, state: 'lost', message: 'The process that worked at it is gone: start it again.' }
      : operation;

  async function get(id: string): Promise<Operation | undefined> {
    const operation = await store.get(id);
    return operation && judged(operation);
  }

  /** Newest first. */
  const all = async (): Promise<Operation[]> => (await store.all()).map(judged);

  /** Asks for the end; what is marked already is still applied. */
  async function cancel(id: string): Promise<void> {
    running.get(id)?.end.abort(new Error('cancelled by an operator'));
    await store.cancel(id);
  }

  async function stop(): Promise<void> {
    for (const { end } of running.values()) end.abort(new Error('the service stops'));
    await Promise.allSettled([...running.values()].map(({ done }) => done));
  }

  const { result, resultBytes } = store;
  return { start, get, all, cancel, result, resultBytes, stop };
}
