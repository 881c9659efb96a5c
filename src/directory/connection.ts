// Connections to Redis: one that fails fast for answers to identity providers, one that waits for the queue.
import { Cluster, Redis } from 'ioredis';
import type { Logger } from '../support/logger.ts';
import { placeOf, type ClusterPlace, type RedisSettings, type ServerOptions } from './redis-options.ts';
import { gatherWrites, hearLateErrors, limitWaiting } from './sending.ts';

export {
  checkStore,
  readStoreFacts,
  takePulse,
  type StoreFacts,
  type StoreHealth,
  type StorePulse,
} from './store-health.ts';

/** MOVED and ASK come through only where the client can not follow: a cluster is changing its mind. */
const AWAY =
  /^(MOVED|ASK|READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|OOM|NOREPLICAS|UNKILLABLE|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED)\b|isn't (writeable|ready)|Connection is closed|Command (timed out|aborted)|max retries per request|Too many Cluster redirections|Cluster is ended|startup nodes|slots cache|ECONN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|Stream connection ended|not confirmed by a replica/;

/** Longest wait for an answer of Redis before a request is told to come back. */
const ANSWER_LIMIT_MS = 5000;
const CONNECT_LIMIT_MS = 5000;
const LONGEST_PAUSE_MS = 2000;
/** How often a cluster is asked who has which keys, besides when a node says that it is another. */
const SLOTS_REFRESH_MS = 5000;

export type ConnectionRole = 'commands' | 'queue' | 'subscriber';

/** Whether an error of the Redis client means "not now" rather than a bug. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof Error && AWAY.test(error.message);
}

/**
 * `commands`: answers within a few seconds or fails, and sends nothing twice: a command whose answer is lost may have been
 * done. `queue`: never gives up, as BullMQ asks. `subscriber`: reconnects and subscribes again by itself.
 * A cluster comes in the type of a single server: commands are the same, and what differs is in this folder only.
 */
export function connectRedis(settings: RedisSettings, role: ConnectionRole, logger: Logger): Redis {
  const place = placeOf(settings);
  const redis =
    place.kind === 'cluster'
      ? (connectCluster(place, role) as unknown as Redis)
      : new Redis({
          ...common(role),
          ...place.options,
          enableOfflineQueue: role !== 'commands',
          retryStrategy: pauseBefore,
          // Prepared before its first socket, which a new client would open at once.
          lazyConnect: true,
        });
  if (place.kind === 'server') {
    prepare(redis, role);
    prepareCopies(redis, role);
    redis.connect().catch(() => undefined);
  }
  report(redis, role, logger);
  return redis;
}

const pauseBefore = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 6), LONGEST_PAUSE_MS);

function common(role: ConnectionRole): ServerOptions {
  return {
    connectionName: `scim-bridge-${role}`,
    enableReadyCheck: true,
    maxRetriesPerRequest: role === 'commands' ? 0 : null,
    connectTimeout: CONNECT_LIMIT_MS,
    keepAlive: 10000,
    // After a failover the old primary answers READONLY: reconnect, the address may point elsewhere now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  };
}

function connectCluster({ nodes, options, tls }: ClusterPlace, role: ConnectionRole): Cluster {
  const cluster = new Cluster(nodes, {
    redisOptions: { ...common(role), ...options },
    enableOfflineQueue: role !== 'commands',
    // Zero: what was under way to a node that is lost fails instead of being sent again.
    retryDelayOnFailover: role === 'commands' ? 0 : 100,
    clusterRetryStrategy: pauseBefore,
    // A certificate names the host, not the address behind it.
    ...(tls ? { dnsLookup: (host, done) => done(null, host) } : {}),
  });
  // The client's own timer survives its end when it ends in the middle of a round.
  const refreshing = setInterval(() => cluster.refreshSlotsCache(), SLOTS_REFRESH_MS).unref();
  cluster.once('end', () => clearInterval(refreshing));
  cluster.on('+node', (node: Redis) => {
    prepare(node, role);
    // Nodes connect with their first command, and whatever comes before they are ready would fail.
    if (role === 'commands') node.connect().catch(() => undefined);
  });
  return cluster;
}

/** BullMQ takes copies for commands that block; they are prepared like the original. */
function prepareCopies(redis: Redis, role: ConnectionRole): void {
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (options: ServerOptions = {}) => {
    const copy = duplicate({ ...options, lazyConnect: true });
    prepare(copy, role);
    copy.connect().catch(() => undefined);
    return copy;
  };
}

/** What every connection to one server is given. */
function prepare(redis: Redis, role: ConnectionRole): void {
  hearLateErrors(redis);
  if (role !== 'commands') return;
  gatherWrites(redis);
  limitWaiting(redis, ANSWER_LIMIT_MS);
}

function report(redis: Redis, role: ConnectionRole, logger: Logger): void {
  let away = false;
  redis.on('error', (error: Error) => {
    if (!away) logger.warn({ role, reason: error.message }, 'redis away, connecting again');
    away = true;
  });
  redis.on('ready', () => {
    if (away) logger.info({ role }, 'redis back');
    away = false;
  });
}

/** Resolves when Redis can be used, or after `limitMs`: a service without its store still starts and says so. */
export function untilReady(redis: Redis, limitMs: number): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      redis.off('ready', done);
      resolve();
    };
    const timer = setTimeout(done, limitMs);
    redis.once('ready', done);
  });
}
