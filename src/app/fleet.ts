// Announces this process to the fleet, and reads the fleet.
import { hostname } from 'node:os';
import { BEAT_MS, createFleetStore, type ProcessRole } from '../directory/fleet/fleet-store.ts';
import { judgeFleet, type ReadFleet } from '../ops/fleet.ts';
import { packageVersion } from '../support/version.ts';
import { settledWithin } from '../support/within.ts';
import type { Parts, Store } from './parts.ts';

/** Longest time that the start and the stop wait for Redis. */
const WAIT_MS = 1000;
const LONGEST_HOST = 200;

export const buildFleetReader = (store: Store): ReadFleet => {
  const fleet = createFleetStore(store, store.config.redis);
  const isScheduled = store.config.reconcile.schedule !== null;
  return async () => judgeFleet(await fleet.read(), { isScheduled });
};

/**
 * Beats until the service stops, and then removes the process from the fleet. A beat that Redis does not take is left out;
 * the connection logs that Redis is away. Resolves after the first beat.
 */
export async function joinFleet(parts: Parts, role: ProcessRole): Promise<void> {
  const { clock, config, ids, releasers, identity } = parts;
  const fleet = createFleetStore(parts, config.redis);
  const id = ids.request();
  const facts = {
    role,
    version: identity?.version ?? packageVersion(),
    host: (identity?.host ?? hostname()).slice(0, LONGEST_HOST),
    port: config.server.port,
    pid: process.pid,
    startedAt: clock.now(),
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const first = fleet.beat(id, facts).catch(() => undefined);
  const run = async (): Promise<void> => {
    await first;
    while (!signal.aborted) {
      await clock.sleep(BEAT_MS, signal);
      if (!signal.aborted) await fleet.beat(id, facts).catch(() => undefined);
    }
  };
  const running = run();
  releasers.add('fleet', async () => {
    stopping.abort();
    // The last beat ends first, so that it does not add the process again.
    const leave = running.then(() => fleet.leave(id)).catch(() => undefined);
    await settledWithin(clock, leave, WAIT_MS);
  });
  await settledWithin(clock, first, WAIT_MS);
}
