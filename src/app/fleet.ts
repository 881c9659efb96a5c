// Announces this process to the fleet, and reads the fleet.
import { hostname } from 'node:os';
import { announced } from '../directory/fleet/announced-rules.ts';
import {
  createFleetStore,
  dutiesOf,
  type ProcessRole,
  type ProcessWork,
} from '../directory/fleet/fleet-store.ts';
import { callerPrint } from '../directory/outbox/breaker.ts';
import { createKnownTargets } from '../directory/fleet/known-targets.ts';
import { checkStore, storeRefusalOf, takePulse } from '../directory/redis/store-health.ts';
import { startBeats } from '../ops/status/beats.ts';
import { judgeFleet, type ReadFleet } from '../ops/status/fleet.ts';
import { packageVersion } from '../support/version.ts';
import type { Target } from '../sync/target.ts';
import { feedRulesOf, feedsOf } from './note-targets.ts';
import type { Parts, Store } from './parts.ts';

/** Largest length of the version and the host name that a process announces, in characters. */
const LONGEST_NAME = 200;

/** Returns a function that reads all processes of the service and the findings about them. */
export const buildFleetReader = (store: Store): ReadFleet => {
  const fleet = createFleetStore(store, store.config.redis);
  const known = createKnownTargets(store, store.config.redis);
  const isScheduled = store.config.reconcile.schedule !== null;
  return async () => {
    const [view, removed, pulse, { findings: faults }] = await Promise.all([
      fleet.read(),
      known.removed(feedsOf(store.config)),
      takePulse(store.redis),
      checkStore(store.redis, { durability: store.config.redis.durability }),
    ]);
    return judgeFleet(view, { isScheduled, refusal: storeRefusalOf(pulse), faults, removed });
  };
};

/**
 * Announces this process in Redis every few seconds. When the service stops, the process is removed from the fleet.
 * Resolves after the first announcement, or after a second without it, because the service also starts without Redis.
 */
export async function joinFleet(
  parts: Parts,
  role: ProcessRole,
  targets: Map<string, Target>,
): Promise<void> {
  const { clock, config, ids, releasers, identity } = parts;
  const readWork = dutiesOf(role).includes('worker') ? measureWork(targets) : undefined;
  const fixedFacts = {
    role,
    version: (identity?.version ?? packageVersion()).slice(0, LONGEST_NAME),
    host: (identity?.host ?? hostname()).slice(0, LONGEST_NAME),
    port: config.server.port,
    pid: process.pid,
    startedAt: clock.now(),
    // By connection and target: digest of the mapping rules and print of the other settings. Other processes see by them that their
    // settings differ.
    rules: announced(feedRulesOf(config)),
  };
  const facts = () => ({
    ...fixedFacts,
    // By target: print of its address and API keys. Computed for each beat, because keys are rotated at run time.
    callers: Object.fromEntries(
      Object.values(config.targets).map((target) => [target.name, callerPrint(target)]),
    ),
    sentAt: clock.now(),
    ...(readWork && { work: readWork() }),
  });
  const processId = ids.request();
  const beats = startBeats({ clock }, createFleetStore(parts, config.redis), processId, facts);
  releasers.add('fleet', beats.stop);
  await beats.started();
}

/** Returns a function that reads the work since its last call. */
function measureWork(targets: Map<string, Target>): () => ProcessWork {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return {
      // Share of the time in which the event loop was busy, from 0 to 1.
      processor: Math.round(utilization * 100) / 100,
      targets: Object.fromEntries([...targets].map(([name, { work }]) => [name, work.read()])),
    };
  };
}
