// Syncs the resources of a run in the process of its command, so that they are written even when no worker runs. Marks of other
// resources and of other targets are left to the workers.
import type { Ref } from '../../directory/records.ts';
import { isStoreUnavailable } from '../../directory/redis/connection.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import type { Logger } from '../../support/logger.ts';
import { syncResource } from '../../sync/sync-resource.ts';
import type { ReconcileScope } from '../scope.ts';

/** Number of syncs that run for each call that the target allows at once; several, because a sync also waits for Redis. */
const SYNCS_PER_CALL = 3;
/** Number of resources whose marks one script of Redis claims: a script over all of them would block Redis. */
const CLAIM_PORTION = 200;
/** Pause after the end of a sync, milliseconds: syncs that end within it are replaced by one claim. */
const TOGETHER_MS = 10;

/**
 * Values of `room` of `claim` (outbox.ts): the number of deliveries in flight from which only deactivations are claimed. A delivery
 * is a claimed mark whose sync has not ended (ADR 0002). 0: only deactivations, whatever is in flight.
 */
const ONLY_DEACTIVATIONS = 0;
/** Marks of every priority, whatever is in flight. */
const EVERY_MARK = Number.MAX_SAFE_INTEGER;

/** Interval of looks for deactivations, milliseconds. They go first, but each look reads all that wait at the target. */
const LOOK_MS = 200;

/**
 * Creates the syncs of a run. The caller repeats `start` with the resources that still wait, pauses with `oneEnded`, and calls
 * `end` at last.
 * @param run.ours all resources of the run
 * @param run.signal aborts the syncs
 */
export function createOwnSyncs(
  scope: ReconcileScope,
  { ours, logger, signal }: { ours: ReadonlySet<Ref>; logger: Logger; signal: AbortSignal },
) {
  const { outbox, target, clock } = scope;
  const deps = { ...scope, logger: logger.child({ connection: scope.connection }) };
  const running = new Set<Promise<void>>();

  let lookedAt = -Infinity;
  const free = (): number => target.concurrency() * SYNCS_PER_CALL - running.size;

  /** Starts the syncs of the resources whose marks are due, up to the number of syncs that may run. @param room as in `claim` */
  async function startDue(refs: readonly Ref[], room: number): Promise<void> {
    for (const portion of inPortions(refs, CLAIM_PORTION)) {
      if (free() <= 0) return;
      for (const { ref, priority } of await outbox.claim(free(), room, portion)) {
        const sync: Promise<void> = syncResource(deps, ref, priority, signal)
          // The mark remains, and is claimed again after the lease expires. An outage of Redis is logged elsewhere.
          .catch((error: unknown) => {
            if (isStoreUnavailable(error)) return;
            logger.error({ err: error as Error, target: target.name, ref }, 'sync ended unexpectedly');
          })
          .finally(() => running.delete(sync));
        running.add(sync);
      }
    }
  }

  /**
   * Starts as many syncs as may run at once, and does not wait for them. Deactivations of the run go first, also of a resource that
   * is no longer in `refs`: it was synced and then marked again.
   */
  async function start(refs: readonly Ref[]): Promise<void> {
    if (free() > 0 && clock.now() - lookedAt >= LOOK_MS) {
      lookedAt = clock.now();
      const urgent = (await outbox.deactivations()).filter((ref) => ours.has(ref));
      await startDue(urgent, ONLY_DEACTIVATIONS);
    }
    // Deliveries do not limit this claim: without a worker, old deliveries of other resources may fill the room for ever.
    await startDue(refs, EVERY_MARK);
  }

  return {
    start,
    /** Returns whether no sync runs: the marks that are left are not due, or a service has claimed them. */
    isIdle: (): boolean => running.size === 0,
    /** Resolves soon after the end of one of the syncs; never while none runs. */
    oneEnded: async (): Promise<void> => {
      await Promise.race(running);
      await clock.sleep(TOGETHER_MS, signal);
    },
    /** Resolves when no sync runs any more. */
    end: async (): Promise<void> => {
      await Promise.all(running);
    },
  };
}
