// Opens the parts of the service for commands, without HTTP server and scheduler.
import type { Redis } from 'ioredis';
import type { Config } from '../config/schema.ts';
import { createBreaker, type Breaker } from '../directory/outbox/breaker.ts';
import { connectRedis, untilReady } from '../directory/redis/connection.ts';
import { createOperationStore, type OperationStore } from '../directory/logs/operations.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { ScheduledScope } from '../reconcile/schedule.ts';
import { systemClock, type Clock } from '../support/sources.ts';
import { silentLogger } from '../support/logger.ts';
import { createReleasers } from '../support/releasers.ts';
import { compileMapping } from '../sync/mapping.ts';
import type { ReadFleet } from '../ops/fleet.ts';
import { buildFleetReader } from './fleet.ts';
import { buildScopes } from './scopes.ts';
import { scriptsOn, type AppDeps, type Parts } from './parts.ts';
import { buildStates } from './states.ts';
import { buildTargets, schemasOfTarget, userTypeFor } from './targets.ts';

/**
 * Wait for Redis in a command, milliseconds. It is longer than at the start of the service, because a command
 * cannot go on without Redis.
 */
const COMMAND_WAIT_MS = 5000;

/** Retries the first read: a cluster reports ready before all of its nodes are reachable. */
async function reach(redis: Redis, clock: Clock): Promise<void> {
  for (const end = clock.now() + COMMAND_WAIT_MS; ;) {
    try {
      await redis.ping();
      return;
    } catch (error) {
      if (clock.now() >= end) throw error;
      await clock.sleep(100);
    }
  }
}

/** Opens desired states and breakers without platform clients, for commands that only read or mark in Redis. */
export function openDesiredStates(config: Config): {
  redis: Redis;
  states: DesiredState[];
  /** By target name. */
  breakers: Map<string, Breaker>;
  operations: OperationStore;
  readFleet: ReadFleet;
} {
  const redis = connectRedis(config.redis, 'commands', silentLogger);
  const store = { config, redis, scripts: scriptsOn(redis, config, systemClock) };
  const mappings = new Map(
    Object.values(config.targets).map((target) => [
      target.name,
      compileMapping(target, userTypeFor([target], schemasOfTarget(config, target.name))),
    ]),
  );
  const breakers = Object.keys(config.targets).map((target) => {
    const options = { prefix: config.redis.prefix, target };
    return [target, createBreaker({ ...store, logger: silentLogger }, options)] as const;
  });
  const states = buildStates(store, (name) => mappings.get(name)?.groupsMatter ?? false);
  const operations = createOperationStore({ redis }, { prefix: config.redis.prefix });
  return { redis, states, breakers: new Map(breakers), operations, readFleet: buildFleetReader(store) };
}

/**
 * Opens one reconcile scope for each connection and target. With `worker`, dirty marks are applied in this
 * process too.
 */
export async function openScopes(
  config: Config,
  deps: AppDeps,
  { worker }: { worker: boolean },
): Promise<{ scopes: ScheduledScope[]; readFleet: ReadFleet; stop: () => Promise<void> }> {
  const releasers = createReleasers(deps.logger);
  const redis = connectRedis(config.redis, 'commands', deps.logger);
  releasers.add('redis', () => redis.disconnect());
  await untilReady(redis, COMMAND_WAIT_MS);
  await reach(redis, deps.clock).catch(async (error: Error) => {
    await releasers.releaseAll();
    throw new Error(`Redis does not answer (${error.message}): check redis.url or REDIS_URL.`);
  });
  const parts: Parts = { ...deps, config, redis, scripts: scriptsOn(redis, config, deps.clock), releasers };
  const targets = buildTargets(parts);
  const states = buildStates(parts, (name) => targets.get(name)?.mapping.groupsMatter ?? false);
  if (worker) {
    const { startQueues } = await import('./queues.ts');
    startQueues(parts, targets, states);
  }
  return {
    scopes: buildScopes(parts, targets, states),
    readFleet: buildFleetReader(parts),
    stop: releasers.releaseAll,
  };
}
