// Builds the router of /metrics.
import { takePulse } from '../directory/redis/store-health.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createMetricsRouter } from '../http/metrics.ts';
import type { ReadFleet } from '../ops/status/fleet.ts';
import { lastProofs } from '../ops/doctor/prove.ts';
import type { TargetQueue } from '../queue/worker.ts';
import { oncePerTurn } from '../support/once-per-turn.ts';
import type { Target } from '../sync/target.ts';
import type { CredentialStore } from '../tokens/credentials.ts';
import type { Events } from './events.ts';
import type { Instruments } from './instruments.ts';
import type { Parts } from './parts.ts';
import type { MetricSources } from './shared-metrics.ts';
import { outboxesOf } from './targets.ts';

interface Measured {
  targets: Map<string, Target>;
  states: DesiredState[];
  queues: Map<string, TargetQueue>;
  credentialStore: CredentialStore;
  events: Pick<Events, 'feeds'>;
  readFleet: ReadFleet;
  /** Longest time between two scheduled reconciles; null without a schedule. */
  reconcileGapMs: number | null;
}

/** Returns the router of /metrics. It serves the counters of this process and the shared state in Redis. */
export function buildMetricsRouter(
  { redis }: Parts,
  { contentType, scrape }: Instruments,
  { targets, states, queues, credentialStore, events, readFleet, reconcileGapMs }: Measured,
): ReturnType<typeof createMetricsRouter> {
  const sources: MetricSources = {
    pulse: () => takePulse(redis),
    backlogs: (target) =>
      Promise.all([...outboxesOf(states, target).values()].map((outbox) => outbox.backlog())),
    breaker: async (target) => (await targets.get(target)?.breaker.read()) ?? { open: false },
    fleet: readFleet,
    reconcileGapMs,
    tokens: credentialStore.tokens,
    events: () =>
      Promise.all(
        [...events.feeds].map(async ([connection, feed]) => ({
          connection,
          delivery: await feed.delivery(),
        })),
      ),
    // Faults that the last proof of derived data found.
    faults: async () => (await lastProofs(states)).map(({ connection, faults }) => ({ connection, faults })),
    logChecks: async () => {
      const found = await Promise.all(
        states.map(async ({ connection, logChecks }) => ({ connection, last: await logChecks.last() })),
      );
      return found.flatMap(({ connection, last }) =>
        (last?.checks ?? []).map((check) => ({ connection, ...check })),
      );
    },
    // A sweep moves all due marks to the queue of the target.
    lastSweeps: () => new Map([...queues].map(([target, queue]) => [target, queue.lastSweepAt()])),
  };
  // /metrics needs no token, and its text takes milliseconds: requests of one event loop turn share it.
  return createMetricsRouter(
    contentType,
    oncePerTurn(async () => Buffer.from(await scrape(sources))),
  );
}
