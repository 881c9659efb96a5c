// Keeps the reconcile runs of a connection and target apart: by a lock in Redis, one runs at a time over all processes. The lock
// has a fence, so that a run which lost it stores no more notes (apply_drift.lua, ADR 0010).
import { setMaxListeners } from 'node:events';
import { RunLost } from '../../directory/outbox/drift.ts';
import type { ReconcileScope } from '../scope.ts';

/** Expiry of the lock without a heartbeat, milliseconds. */
export const LOCK_MS = 30_000;
/** Interval at which a waiting run tries to take the lock, milliseconds. */
export const POLL_MS = 200;

/** Reason of an abort when the service stops. It is no failure: the next start of the service repeats a missed run. */
export class RunStopped extends Error {
  override name = 'RunStopped';
}

/**
 * Runs work while heartbeats keep the lock, then releases the lock.
 * @param fence fence of the run that took the lock
 * @param work gets a signal that is aborted by the caller, or when the lock is lost
 */
export async function keepingLock<T>(
  { runs }: ReconcileScope,
  fence: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  // A third: the lock outlives two heartbeats that fail.
  const keepAlive = setInterval(() => {
    runs.keep(fence, LOCK_MS).then(
      (isKept) => {
        if (!isKept) lost.abort(new RunLost('another reconcile run has taken over'));
      },
      () => undefined,
    );
  }, LOCK_MS / 3);
  const endedOrLost = AbortSignal.any([signal, lost.signal]);
  // 0: no warning about many listeners. Each running call adds one, and the target's concurrency limits their number.
  setMaxListeners(0, endedOrLost);
  try {
    return await work(endedOrLost);
  } finally {
    clearInterval(keepAlive);
    await runs.release(fence).catch(() => undefined);
  }
}

/** Waits until the lock is free. @returns the fence of the run that took it */
async function untilTaken({ runs, clock }: ReconcileScope, signal: AbortSignal): Promise<string> {
  for (;;) {
    const fence = await runs.take(LOCK_MS);
    if (fence !== undefined) return fence;
    signal.throwIfAborted();
    await clock.sleep(POLL_MS, signal);
  }
}

/**
 * Runs work under the lock of the target's reconcile runs; waits until the lock is free.
 * @param work gets the fence of the run
 * @throws errors of `work`, and the reason of an abort. If another run took the lock, the signal of `work` has RunLost as its
 *   reason
 */
export async function underRunLock<T>(
  scope: ReconcileScope,
  signal: AbortSignal,
  work: (signal: AbortSignal, fence: string) => Promise<T>,
): Promise<T> {
  const fence = await untilTaken(scope, signal);
  return keepingLock(scope, fence, signal, (kept) => work(kept, fence));
}
