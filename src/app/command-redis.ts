// Connects a command to Redis. When Redis does not answer, the error names its address and the reason.
import { createDataVersion } from '../directory/fleet/data-version.ts';
import { connectRedis } from '../directory/redis/connection.ts';
import type { RedisSettings } from '../directory/redis/redis-options.ts';
import { causeOfAway, isDiskRefusal, whereRedisIs, whyAway } from '../directory/redis/why-away.ts';
import type { Logger } from '../support/logger.ts';
import type { Clock } from '../support/sources.ts';

/**
 * Wait for Redis in a command, milliseconds. It is longer than at the start of the service, because a command
 * cannot go on without Redis.
 */
const COMMAND_WAIT_MS = 10_000;
/** Pause between two PINGs, milliseconds. It is short, because the first PING always comes before the connection is open. */
const PING_PAUSE_MS = 10;

/**
 * Starts to connect and returns at once; the returned `reach` waits for an answer.
 * @param options.onlyReads true: the command only reads, so it stays connected to a replica. Default: the command opens a new
 * connection when a replica refuses a write, because after a failover the address may lead to the new primary
 */
export function connectCommand(
  settings: RedisSettings & { prefix: string },
  { clock, logger }: { clock: Clock; logger: Logger },
  { onlyReads = false }: { onlyReads?: boolean | undefined } = {},
) {
  const redis = connectRedis(settings, 'commands', logger, { staysAtReplica: onlyReads });
  /** Repeats PING until it succeeds: a cluster reports ready before all of its nodes are reachable. */
  async function waitForAnswer(signal?: AbortSignal): Promise<void> {
    const deadline = clock.now() + COMMAND_WAIT_MS;
    for (;;) {
      try {
        await redis.ping();
        return;
      } catch (error) {
        // Redis refuses PING while it cannot write to its disk, and still answers reads.
        if (isDiskRefusal(error)) return;
        if (clock.now() >= deadline || signal?.aborted) throw causeOfAway(redis, error);
        await clock.sleep(PING_PAUSE_MS, signal);
      }
    }
  }
  return {
    redis,
    /**
     * Waits for the first answer of Redis, then checks the version of the data. `signal` ends the wait and the connection.
     * `forRestore`: the command itself is a restore, so an unfinished one is no error.
     * @throws Error with address, reason and what to do; DataVersionRefused, RestoreUnderWay
     */
    reach: async (
      options: { signal?: AbortSignal | undefined; forRestore?: boolean } = {},
    ): Promise<void> => {
      const { signal } = options;
      const cut = (): void => redis.disconnect();
      signal?.addEventListener('abort', cut);
      try {
        await waitForAnswer(signal).catch((error: unknown) => {
          throw new Error(
            `Redis at ${whereRedisIs(settings)} does not answer (${whyAway(error)}): check redis.url or REDIS_URL.`,
          );
        });
        await createDataVersion({ redis }, settings).check(options);
      } finally {
        signal?.removeEventListener('abort', cut);
      }
    },
  };
}
