// Announces this process to the fleet, and reads the fleet.
import { hostname } from 'node:os';
import { createFleetStore, type ProcessRole } from '../directory/fleet/fleet-store.ts';
import { startBeats } from '../ops/beats.ts';
import { judgeFleet, type ReadFleet } from '../ops/fleet.ts';
import { packageVersion } from '../support/version.ts';
import type { Parts, Store } from './parts.ts';

/** Largest length of the names that a process announces. */
const LONGEST_NAME = 200;

export const buildFleetReader = (store: Store): ReadFleet => {
  const fleet = createFleetStore(store, store.config.redis);
  const isScheduled = store.config.reconcile.schedule !== null;
  return async () => judgeFleet(await fleet.read(), { isScheduled });
};

/** Beats until the service stops, and then removes the process from the fleet. Resolves after the first beat. */
export async function joinFleet(parts: Parts, role: ProcessRole): Promise<void> {
  const { clock, config, ids, releasers, identity } = parts;
  const beats = startBeats({ clock }, createFleetStore(parts, config.redis), ids.request(), {
    role,
    version: (identity?.version ?? packageVersion()).slice(0, LONGEST_NAME),
    host: (identity?.host ?? hostname()).slice(0, LONGEST_NAME),
    port: config.server.port,
    pid: process.pid,
    startedAt: clock.now(),
  });
  releasers.add('fleet', beats.stop);
  await beats.started();
}
