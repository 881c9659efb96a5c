// Starts relay and workers of every target and the subscription that notifies them.
import { connectRedis } from '../directory/redis/connection.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createTargetQueue, type SyncHandler, type TargetQueue } from '../queue/worker.ts';
import { probeWhileIdle } from '../sync/calls/probe.ts';
import { recogniseAddress } from '../sync/calls/recognise.ts';
import { syncResource } from '../sync/sync-resource.ts';
import type { Target } from '../sync/target.ts';
import type { Parts } from './parts.ts';
import { outboxesOf } from './targets.ts';

/**
 * Starts the relay and the workers of each target on one shared Redis connection, which BullMQ duplicates for the blocking commands
 * of each worker. Does not wait until Redis is ready.
 * @returns the queues by target name
 */
export function startQueues(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
): Map<string, TargetQueue> {
  const { config, logger, clock, random, releasers } = parts;
  const { prefix } = config.redis;
  const queueRedis = connectRedis(config.redis, 'queue', logger);
  releasers.add('queue connection', () => queueRedis.disconnect());
  const byConnection = new Map(states.map((state) => [state.connection, state]));
  const queues = new Map<string, TargetQueue>();
  const stopping = new AbortController();
  releasers.add('address checks and probes', () => stopping.abort());
  for (const [name, target] of targets) {
    const outboxes = outboxesOf(states, name);
    parts.instruments?.startLag(name);
    const { onApplied, onWrite } = parts.instruments?.target(name) ?? {};
    const handler: SyncHandler = async (job, signal) => {
      const state = byConnection.get(job.connection);
      const outbox = outboxes.get(job.connection);
      // Never true: the worker calls the handler only for connections in `outboxes`. The check is for the types.
      const handovers = state?.handovers.get(name);
      if (!state || !outbox || !handovers) return;
      const deps = {
        target,
        ...state,
        outbox,
        handovers,
        clock,
        random,
        onApplied,
        onWrite,
        trace: parts.tracing?.caused,
        logger: logger.child({ connection: job.connection }),
      };
      await syncResource(deps, job.ref, job.priority, signal);
    };
    // No call is sent while the circuit breaker is open or the platform asked for a pause.
    const isPaused = async (): Promise<boolean> => {
      const { open, pause } = await target.breaker.read();
      return open || pause !== undefined;
    };
    const queue = createTargetQueue(
      { redis: queueRedis, outboxes, handler, isPaused, clock, logger },
      { prefix, target: name, concurrency: target.concurrency },
    );
    releasers.add(`queue of ${name}`, queue.stop);
    queues.set(name, queue);
    // Sends probes while the circuit breaker is open and no sync calls the platform.
    void probeWhileIdle(target, clock, stopping.signal);
    for (const [connection, outbox] of outboxes) {
      const state = byConnection.get(connection);
      // After a change of the target's address, checks whether the tenant there is the known one.
      if (state) void recogniseAddress({ target, outbox, links: state.links, clock }, stopping.signal);
    }
  }
  const subscriber = connectRedis(config.redis, 'subscriber', logger);
  releasers.add('subscriber', () => subscriber.disconnect());
  // The message is the name of the target that has new marks.
  subscriber.on('message', (_channel: string, target: string) => queues.get(target)?.notify());
  // The subscription waits until Redis is reachable; until then the relays find marks by polling.
  void subscriber.subscribe(...states.map(({ channel }) => channel)).catch(() => undefined);
  return queues;
}
