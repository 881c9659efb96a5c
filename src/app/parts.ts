// Defines the dependencies that every part of the service is built from, waits for Redis, and loads the Lua scripts.
import type { Redis } from 'ioredis';
import type { Config } from '../config/schema.ts';
import { createConfirmation } from '../directory/redis/replicas.ts';
import { failureReason } from '../directory/redis/why-away.ts';
import { loadScripts, type Scripts } from '../directory/redis/scripts.ts';
import type { Clock, Ids } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { Releasers } from '../support/releasers.ts';
import type { Tracing } from '../support/tracing.ts';
import type { Instruments } from './instruments.ts';

export interface AppDeps {
  logger: Logger;
  clock: Clock;
  ids: Ids;
  /** Returns a number from 0 to below 1. */
  random: () => number;
  /** Host and version that the process announces to the fleet; undefined: those of the machine and of the package. */
  identity?: { host: string; version: string } | undefined;
  /** Undefined when tracing is off. */
  tracing?: Tracing | undefined;
}

/** Redis with the settings and the loaded Lua scripts. */
export interface Store {
  config: Config;
  redis: Redis;
  scripts: Scripts;
}

/** Dependencies of every part of the service, with the release functions that the shutdown runs. */
export type Parts = AppDeps & Store & { releasers: Releasers; instruments?: Instruments };

/** Parts of a service that measures itself; commands build the same parts without instruments. */
export type ServiceParts = Parts & { instruments: Instruments };

/** Longest wait of the start for Redis, milliseconds; then the service starts without Redis and reports it as unhealthy. */
export const STORE_WAIT_MS = 2000;

/** Pause between two attempts of `untilStored`, milliseconds. */
const RETRY_MS = 5000;

/**
 * Repeats work with Redis until it succeeds or the signal aborts; never rejects.
 * @param message logged for the first failure
 */
export async function untilStored(
  { clock, logger }: Pick<AppDeps, 'clock' | 'logger'>,
  signal: AbortSignal,
  message: string,
  work: () => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await work();
    } catch (error) {
      if (failures === 0) logger.warn({ reason: failureReason(error) }, message);
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** Loads the Lua scripts. With `redis.confirmation`, a write waits until all Redis replicas have it. */
export const scriptsOn = (redis: Redis, config: Config, clock: Clock): Scripts =>
  loadScripts(redis, config.redis.confirmation === 'off' ? undefined : createConfirmation({ redis, clock }));
