// Opens the desired state in Redis for one command. Modules are imported at call time, so that `serve` does not load them.
import type { Config } from '../config/schema.ts';
import type { Breaker } from '../directory/outbox/breaker.ts';
import type { OperationStore } from '../directory/logs/operations.ts';
import type { NoticeOperations } from '../app.ts';
import type { ReadFleet } from '../ops/fleet.ts';
import type { TargetFeed, KnownTargets } from '../directory/fleet/known-targets.ts';
import type { DataVersion } from '../directory/fleet/data-version.ts';
import type { ProcessLease } from '../directory/redis/lease.ts';
import type { DesiredState } from '../directory/desired-state.ts';

export interface OpenStore {
  /** By target name. */
  breakers: Map<string, Breaker>;
  operations: OperationStore;
  readFleet: ReadFleet;
  dataVersion: DataVersion;
  knownTargets: KnownTargets;
  /** Targets that the settings have, with their connections. */
  fed: TargetFeed[];
  restoreLease: ProcessLease;
  notices: NoticeOperations;
  nextReconcile: (now: number) => number | null;
  /** Digest of the mapping rules in the settings, by target. */
  digests: Map<string, string>;
}

/** Opens the store, runs `use`, closes it. @throws Error with what to do when Redis does not answer */
export async function withStore<T>(
  config: Config,
  use: (states: DesiredState[], store: OpenStore) => Promise<T>,
  options: { forRestore?: boolean } = {},
): Promise<T> {
  const { openDesiredStates } = await import('../app.ts');
  const { redis, reach, states, ...store } = openDesiredStates(config);
  try {
    await reach(undefined, options);
    return await use(states, store);
  } finally {
    redis.disconnect();
  }
}
