// Opens the desired state in Redis for one command.
// Modules are imported at call time, so that `serve` does not load them.
import type { Config } from '../config/schema.ts';
import type { Breaker } from '../directory/outbox/breaker.ts';
import type { OperationStore } from '../directory/logs/operations.ts';
import type { ReadFleet } from '../ops/fleet.ts';
import type { DesiredState } from '../directory/desired-state.ts';

const REDIS_WAIT_MS = 3000;

export interface OpenStore {
  /** By target name. */
  breakers: Map<string, Breaker>;
  operations: OperationStore;
  readFleet: ReadFleet;
}

/** Opens the store, runs `use`, closes it. @throws Error with what to do when Redis does not answer */
export async function withStore<T>(
  config: Config,
  use: (states: DesiredState[], store: OpenStore) => Promise<T>,
): Promise<T> {
  const [{ openDesiredStates }, { untilReady }] = await Promise.all([
    import('../app.ts'),
    import('../directory/redis/connection.ts'),
  ]);
  const { redis, states, ...store } = openDesiredStates(config);
  try {
    await untilReady(redis, REDIS_WAIT_MS);
    await redis.ping().catch((error: Error) => {
      throw new Error(`Redis does not answer (${error.message}): check redis.url or REDIS_URL.`);
    });
    return await use(states, store);
  } finally {
    redis.disconnect();
  }
}
