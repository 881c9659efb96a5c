// Opens connections to Redis: `commands` fails fast for requests, `queue` waits for BullMQ, `subscriber` listens.
import { Cluster, Redis } from 'ioredis';
import type { Logger } from '../../support/logger.ts';
import { placeOf, type ClusterPlace, type RedisSettings, type ServerOptions } from './redis-options.ts';
import { connectAgain, ignoreLateErrors } from './ioredis-faults.ts';
import { awayText, watchErrors } from './why-away.ts';

/** Errors that mean "Redis is unavailable". MOVED and ASK appear only when the client cannot follow them during a failover. */
const AWAY =
  /^(MOVED|ASK|READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|OOM|NOREPLICAS|UNKILLABLE|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED|EXECABORT)\b|isn't (writeable|ready)|Connection is closed|Command (timed out|aborted)|max retries per request|Too many Cluster redirections|Cluster is ended|startup nodes|slots cache|ECONN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|Stream connection ended|not confirmed by a replica/;

/** Longest time without a reply of Redis; then the request is answered 503. */
const ANSWER_LIMIT_MS = 5000;
/** Longest time for opening a connection. */
const CONNECT_LIMIT_MS = 5000;
/** Time without traffic after which TCP asks whether the other side still exists. */
const KEEP_ALIVE_MS = 10_000;
/** Longest pause between two attempts to connect. */
const LONGEST_PAUSE_MS = 2000;
/** Shortest time between two new connections that READONLY causes. */
const READ_ONLY_PAUSE_MS = 2000;
/** Interval at which the slots of a cluster are read, in addition to redirections. */
const SLOTS_REFRESH_MS = 5000;

export type ConnectionRole = 'commands' | 'queue' | 'subscriber';

interface ConnectionOptions {
  /** Stays connected to a replica that refuses a write, so that reads go on. Default: false, it connects anew. */
  staysAtReplica?: boolean;
}

/** Returns whether an error means that Redis is unavailable, rather than a bug. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof Error && AWAY.test(error.message);
}

/** Handler for `catch`: ignores an error that means that Redis is unavailable, and throws every other error. */
export function ignoreStoreUnavailable(error: unknown): void {
  if (!isStoreUnavailable(error)) throw error;
}

/**
 * Opens a connection of one role.
 * `commands`: a command succeeds or fails within seconds, and is never sent twice, because a command whose reply was lost
 * may have been executed. `queue`: never gives up, as BullMQ asks. `subscriber`: reconnects and subscribes again by itself.
 * A cluster has the type of a single server: the commands are the same, and only this folder knows the difference.
 */
export function connectRedis(
  settings: RedisSettings,
  role: ConnectionRole,
  logger: Logger,
  { staysAtReplica = false }: ConnectionOptions = {},
): Redis {
  const place = placeOf(settings);
  const redis =
    place.kind === 'cluster'
      ? (connectCluster(place, common(role, staysAtReplica), role) as unknown as Redis)
      : connectServer({
          ...common(role, staysAtReplica),
          ...place.options,
          enableOfflineQueue: role !== 'commands',
          retryStrategy: pauseBefore,
        });
  watchErrors(redis, settings);
  report(redis, role, logger);
  return redis;
}

/** Returns the pause before an attempt to connect, counted from 1: it doubles from 100 ms on. */
const pauseBefore = (attempt: number): number => Math.min(50 * 2 ** attempt, LONGEST_PAUSE_MS);

/** Returns the options that one server and the nodes of a cluster share. */
function common(role: ConnectionRole, staysAtReplica: boolean): ServerOptions {
  return {
    connectionName: `scim-bridge-${role}`,
    enableReadyCheck: true,
    // null: a command is tried again until the connection is closed.
    maxRetriesPerRequest: role === 'commands' ? 0 : null,
    connectTimeout: CONNECT_LIMIT_MS,
    // A silent connection is replaced, because its server may hang. Queue connections wait for jobs and have no such limit.
    ...(role === 'commands' ? { socketTimeout: ANSWER_LIMIT_MS } : {}),
    keepAlive: KEEP_ALIVE_MS,
    ...(staysAtReplica ? {} : { reconnectOnError: createReadOnlyRule() }),
  };
}

/**
 * Returns the rule by which an error makes ioredis connect anew. READONLY comes from an old primary after a failover, and a new
 * connection may reach the new primary. If the new connection leads to a replica too, it stays for READ_ONLY_PAUSE_MS: reads are
 * possible meanwhile, such as the read of the role for an alert.
 */
function createReadOnlyRule(): (error: Error) => boolean {
  let triedAt = -Infinity;
  return (error) => {
    const now = performance.now();
    if (!error.message.startsWith('READONLY') || now - triedAt < READ_ONLY_PAUSE_MS) return false;
    triedAt = now;
    return true;
  };
}

function connectCluster(
  { nodes, options, tls }: ClusterPlace,
  shared: ServerOptions,
  role: ConnectionRole,
): Cluster {
  const cluster = new Cluster(nodes, {
    redisOptions: { ...shared, ...options },
    enableOfflineQueue: role !== 'commands',
    // Zero makes pending commands to a lost node fail instead of being sent twice; 100 ms is the default of ioredis.
    retryDelayOnFailover: role === 'commands' ? 0 : 100,
    clusterRetryStrategy: pauseBefore,
    // TLS certificates name the host, so host names must not be resolved to addresses.
    ...(tls ? { dnsLookup: (host, done) => done(null, host) } : {}),
  });
  // `slotsRefreshInterval` of ioredis is not used: a cluster that is closed during a refresh would restart its timer.
  const refreshing = setInterval(() => cluster.refreshSlotsCache(), SLOTS_REFRESH_MS).unref();
  cluster.once('end', () => clearInterval(refreshing));
  cluster.on('+node', (node: Redis) => {
    ignoreLateErrors(node);
    // Connects at once, because commands that arrive before the node is ready would fail.
    if (role === 'commands') node.connect().catch(() => undefined);
  });
  return cluster;
}

function connectServer(options: ServerOptions): Redis {
  const redis = connectAgain(ignoreLateErrors(new Redis(options)));
  const duplicate = redis.duplicate.bind(redis);
  // BullMQ duplicates the connection for blocking commands; the copies need the same error handling.
  redis.duplicate = (changed: ServerOptions = {}) => connectAgain(ignoreLateErrors(duplicate(changed)));
  return redis;
}

/** Logs why Redis is away, and when it is back. Each reason is logged once, because attempts may fail for several in turn. */
function report(redis: Redis, role: ConnectionRole, logger: Logger): void {
  const told = new Set<string>();
  redis.on('error', (error: Error) => {
    const reason = awayText(redis, error);
    if (!told.has(reason)) logger.warn({ role, reason }, 'redis away, connecting again');
    told.add(reason);
  });
  redis.on('ready', () => {
    if (told.size > 0) logger.info({ role }, 'redis back');
    told.clear();
  });
}

/** Resolves when Redis is ready, or after `limitMs`: the service starts without Redis and reports it as unhealthy. */
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
