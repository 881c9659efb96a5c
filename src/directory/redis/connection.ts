// Opens connections to Redis: one that fails fast for answers to identity providers, one that waits for the queue.
import { Cluster, Redis } from 'ioredis';
import type { Logger } from '../../support/logger.ts';
import { placeOf, type ClusterPlace, type RedisSettings, type ServerOptions } from './redis-options.ts';
import { hearLateErrors } from './late-errors.ts';

export {
  checkStore,
  readStoreFacts,
  takePulse,
  type StoreFacts,
  type StoreHealth,
  type StorePulse,
} from './store-health.ts';

/** MOVED and ASK get here only where the client cannot follow them, as during a failover of a cluster. */
const AWAY =
  /^(MOVED|ASK|READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|OOM|NOREPLICAS|UNKILLABLE|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED)\b|isn't (writeable|ready)|Connection is closed|Command (timed out|aborted)|max retries per request|Too many Cluster redirections|Cluster is ended|startup nodes|slots cache|ECONN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|Stream connection ended|not confirmed by a replica/;

/** Longest silence of Redis while a command waits: then the request is answered 503. */
const ANSWER_LIMIT_MS = 5000;
const CONNECT_LIMIT_MS = 5000;
const LONGEST_PAUSE_MS = 2000;
/** How often a cluster is asked for its slots, besides after each redirection. */
const SLOTS_REFRESH_MS = 5000;

export type ConnectionRole = 'commands' | 'queue' | 'subscriber';

/** Whether an error of the Redis client means "not now" rather than a bug. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof Error && AWAY.test(error.message);
}

/**
 * `commands`: a command is answered or fails within seconds, and is never sent twice, because a command whose answer is lost
 * may have been done. `queue`: never gives up, as BullMQ asks. `subscriber`: reconnects and subscribes again by itself.
 * A cluster has the type of a single server: the commands are the same, and only this folder knows the difference.
 */
export function connectRedis(settings: RedisSettings, role: ConnectionRole, logger: Logger): Redis {
  const place = placeOf(settings);
  const redis =
    place.kind === 'cluster'
      ? (connectCluster(place, role) as unknown as Redis)
      : connectServer({
          ...common(role),
          ...place.options,
          enableOfflineQueue: role !== 'commands',
          retryStrategy: pauseBefore,
        });
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
    // A connection that answers nothing is replaced: its server may hang or be cut off. Queue workers wait longer for a job.
    ...(role === 'commands' ? { socketTimeout: ANSWER_LIMIT_MS } : {}),
    keepAlive: 10000,
    // After a failover the old primary answers READONLY, and the address may lead to the new one by now.
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
  // Not the client's own `slotsRefreshInterval`: a cluster that is closed during a refresh would start its timer again.
  const refreshing = setInterval(() => cluster.refreshSlotsCache(), SLOTS_REFRESH_MS).unref();
  cluster.once('end', () => clearInterval(refreshing));
  cluster.on('+node', (node: Redis) => {
    hearLateErrors(node);
    // A node connects with its first command, and commands before it is ready would fail.
    if (role === 'commands') node.connect().catch(() => undefined);
  });
  return cluster;
}

function connectServer(options: ServerOptions): Redis {
  const redis = hearLateErrors(new Redis(options));
  const duplicate = redis.duplicate.bind(redis);
  // BullMQ makes copies for commands that block.
  redis.duplicate = (changed: ServerOptions = {}) => hearLateErrors(duplicate(changed));
  return redis;
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
