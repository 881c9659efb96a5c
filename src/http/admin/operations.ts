// Runs long operations in the background and stores their progress in Redis.
import type { Actor } from '../../directory/logs/acts.ts';
import type {
  Operation,
  OperationKind,
  OperationProgress,
  OperationStore,
} from '../../directory/logs/operations.ts';
import { isStoreFailure, pastStoreFailureText } from '../../directory/redis/why-away.ts';
import { isoTime, type Clock, type Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { inPieces } from '../../support/pieces.ts';
import { startRounds } from '../../support/rounds.ts';
import { createSerially } from '../../support/serially.ts';
import { tooManyProblem } from './problem.ts';

/** Passed to the work of an operation: its abort signal, and a function that reports progress. */
export interface OperationWork {
  /** Aborted when the operator cancels the operation or the process stops. */
  signal: AbortSignal;
  onProgress: (progress: OperationProgress) => void;
}

export interface Finished {
  /** Outcome in one word. */
  outcome: string;
  /** Advice for the operator. */
  message?: string | undefined;
  /** The full result: JSON text in pieces. */
  result: Iterable<string>;
}

interface OperationOrder {
  kind: OperationKind;
  target: string | undefined;
  /** Name of the operator. */
  by: string;
}

export type Operations = ReturnType<typeof createOperations>;

/**
 * Largest number of operations in one process, running or waiting. A comparison keeps all differences in memory, so
 * operations run one after the other.
 */
const MOST_OPERATIONS = 4;
/** Pause between two heartbeats of a running operation. */
const BEAT_MS = 1000;
/** An operation without a heartbeat for this time counts as lost: its process has ended, or cannot reach Redis. */
const LOST_MS = 30_000;
const RETRY_SECONDS = 10;

/** Creates the operations of this process; `stop` cancels those that still run. */
export function createOperations(deps: { store: OperationStore; clock: Clock; ids: Ids; logger: Logger }) {
  const { store, clock, ids, logger } = deps;
  const oneAfterAnother = createSerially();
  /** Operations that run or wait, by id. `end` cancels one; `done` resolves when its final state is stored, or could not be. */
  const running = new Map<string, { end: AbortController; done: Promise<void> }>();

  /** Starts an operation and returns its first state. @throws Problem 429 when too many run or wait */
  async function start(
    order: OperationOrder,
    work: (work: OperationWork) => Promise<Finished>,
  ): Promise<Operation> {
    if (running.size >= MOST_OPERATIONS)
      throw tooManyProblem(
        `${MOST_OPERATIONS} operations are under way here: wait for one, or cancel one.`,
        RETRY_SECONDS,
      );
    const operation: Operation = {
      id: ids.request(),
      kind: order.kind,
      target: order.target ?? null,
      by: order.by,
      state: 'running',
      startedAt: 0,
      updatedAt: 0,
      endedAt: null,
      progress: [],
      outcome: null,
      message: null,
    };
    const end = new AbortController();
    // There is no await before the operation is in `running`, so that parallel requests cannot exceed the limit.
    const stored = store.now().then((now) => {
      operation.startedAt = now;
      operation.updatedAt = now;
      return store.put(operation);
    });
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

  /** Waits until no other operation runs, then does the work and stores its result and final state. */
  async function run(
    operation: Operation,
    end: AbortController,
    work: (work: OperationWork) => Promise<Finished>,
  ): Promise<void> {
    const stopBeats = startRounds(clock, () => beat(operation, end), BEAT_MS);
    const onProgress = (progress: OperationProgress): void => {
      const others = operation.progress.filter(
        ({ connection, target }) => connection !== progress.connection || target !== progress.target,
      );
      operation.progress = [...others, progress];
    };
    try {
      await oneAfterAnother('operations', async () => {
        end.signal.throwIfAborted();
        const { outcome, message, result } = await work({ signal: end.signal, onProgress });
        await store.putResult(operation.id, inPieces(result));
        Object.assign(operation, { state: 'succeeded', outcome, message: message ?? null });
      });
    } catch (error) {
      const state = end.signal.aborted ? 'cancelled' : 'failed';
      const message = isStoreFailure(error)
        ? pastStoreFailureText(error, isoTime(clock.now()))
        : (error as Error).message;
      Object.assign(operation, { state, outcome: state, message });
      if (state === 'failed') logger.warn({ err: error, operation: operation.id }, 'operation failed');
    }
    await stopBeats();
    operation.endedAt = await store.now();
    operation.updatedAt = operation.endedAt;
    await store.put(operation);
  }

  /**
   * Writes a heartbeat and aborts the work when cancellation was requested. Errors of Redis are ignored until the next beat.
   * @returns the wait before the next beat, milliseconds
   */
  async function beat(operation: Operation, end: AbortController): Promise<number> {
    try {
      operation.updatedAt = await store.now();
      await store.put(operation);
      const why = await store.whyCancelled(operation.id);
      if (why !== null) end.abort(new Error(why));
    } catch {
      // The next heartbeat tries again.
    }
    return BEAT_MS;
  }

  const LOST =
    'The process of this operation reports nothing any more: it has ended, or cannot reach Redis. See scim-bridge log for the changes of the operation, then start it again.';

  /** Returns the operation with state `lost` when its process has stopped writing heartbeats. */
  const withLostState = (operation: Operation, now: number): Operation =>
    operation.state === 'running' && now - operation.updatedAt > LOST_MS
      ? { ...operation, state: 'lost', message: LOST }
      : operation;

  async function get(id: string): Promise<Operation | undefined> {
    const [operation, now] = await Promise.all([store.get(id), store.now()]);
    return operation && withLostState(operation, now);
  }

  async function all(): Promise<Operation[]> {
    const [operations, now] = await Promise.all([store.all(), store.now()]);
    return operations.map((operation) => withLostState(operation, now));
  }

  /** Cancels an operation, in whichever process it runs. Resources that it has already marked are still synced. */
  async function cancel(id: string, { by, note }: Pick<Actor, 'by' | 'note'>): Promise<void> {
    const why = note === undefined ? `cancelled by ${by}` : `cancelled by ${by}: ${note}`;
    running.get(id)?.end.abort(new Error(why));
    await store.cancel(id, why);
  }

  /** Cancels the operations of this process and waits until they have ended. */
  async function stop(): Promise<void> {
    for (const { end } of running.values()) end.abort(new Error('the service stops'));
    await Promise.allSettled([...running.values()].map(({ done }) => done));
  }

  const { result, resultBytes, dropResults } = store;
  return { start, get, all, cancel, result, resultBytes, dropResults, stop };
}
