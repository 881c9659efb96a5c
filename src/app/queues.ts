// Relay and worker of every target, and what wakes them.
import { connectRedis } from '../directory/connection.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import {
  createTargetQueue,
  type QueueConnection,
  type SyncHandler,
  type TargetQueue,
} from '../queue/target-queue.ts';
import { recogniseAddress } from '../sync/recognise.ts';
import { syncResource } from '../sync/sync-resource.ts';
import type { Target } from '../sync/target.ts';
import type { Parts } from './parts.ts';
import { outboxesOf } from './states.ts';

/** Relay and worker of every target. They wait for Redis by themselves. */
export function startQueues(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
): Map<string, TargetQueue> {
  const { config, logger, clock, random, releasers } = parts;
  const { prefix } = config.redis;
  const queueRedis = connectRedis(config.redis, 'queue', logger);
  releasers.add('queue connection', () => queueRedis.disconnect());
  const connection = queueRedis as unknown as QueueConnection;
  const byConnection = new Map(states.map((state) => [state.connection, state]));
  const queues = new Map<string, TargetQueue>();
  const stopping = new AbortController();
  releasers.add('looks at addresses', () => stopping.abort());
  for (const [name, target] of targets) {
    const outboxes = outboxesOf(states, name);
    const { onApplied, onWrite } = parts.instruments?.target(name) ?? {};
    const handler: SyncHandler = async (job, signal) => {
      const state = byConnection.get(job.connection);
      const outbox = outboxes.get(job.connection);
      // A job of a connection that the settings no longer have: its marks wait until it comes back.
      if (!state || !outbox) return;
      const deps = {
        target,
        ...state,
        outbox,
        ...{ clock, random, onApplied, onWrite, trace: parts.tracing?.caused },
        logger: logger.child({ connection: job.connection }),
      };
      await syncResource(deps, job.ref, job.lane, signal);
    };
    const concurrency = config.targets[name]?.concurrency ?? 1;
    const queue = createTargetQueue(
      { connection, outboxes, handler, clock, logger },
      { prefix, target: name, concurrency },
    );
    releasers.add(`queue of ${name}`, queue.stop);
    queues.set(name, queue);
    for (const [connection, outbox] of outboxes) {
      const state = byConnection.get(connection);
      if (state) void recogniseAddress({ target, outbox, links: state.links, clock }, stopping.signal);
    }
  }
  const subscriber = connectRedis(config.redis, 'subscriber', logger);
  releasers.add('subscriber', () => subscriber.disconnect());
  subscriber.on('message', (_channel: string, target: string) => queues.get(target)?.poke());
  // Resolves once Redis is there; until then the queues' own sweeps do.
  void subscriber.subscribe(...states.map(({ channel }) => channel)).catch(() => undefined);
  return queues;
}
