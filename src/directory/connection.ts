// Connections to Redis: one that fails fast for answers to identity providers, one that waits for the queue.
import { Redis } from 'ioredis';
import type { Logger } from '../support/logger.ts';

const AWAY =
  /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|OOM|NOREPLICAS|UNKILLABLE|BUSY|NOAUTH|WRONGPASS)\b|isn't writeable|Connection is closed|Command timed out|max retries per request|ECONN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|Stream connection ended/;

/** Longest wait for an answer of Redis before a request is told to come back. */
const ANSWER_LIMIT_MS = 5000;

/** Whether an error of the Redis client means "not now" rather than a bug. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof Error && AWAY.test(error.message);
}

/**
 * `commands`: answers within two seconds or fails. `queue`: never gives up, as BullMQ asks.
 * `subscriber`: reconnects and subscribes again by itself.
 */
export function connectRedis(url: string, role: 'commands' | 'queue' | 'subscriber', logger: Logger): Redis {
  const redis = new Redis(url, {
    connectionName: `scim-bridge-${role}`,
    lazyConnect: false,
    enableReadyCheck: true,
    enableOfflineQueue: role !== 'commands',
    maxRetriesPerRequest: role === 'commands' ? 1 : null,
    connectTimeout: 5000,
    keepAlive: 10000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2000),
    // After a failover the old primary answers READONLY: reconnect, the address may point elsewhere now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  if (role === 'commands') {
    gatherWrites(redis);
    limitWaiting(redis, ANSWER_LIMIT_MS);
  }
  let away = false;
  redis.on('error', (error: Error) => {
    if (!away) logger.warn({ role, reason: error.message }, 'redis away, connecting again');
    away = true;
  });
  redis.on('ready', () => {
    if (away) logger.info({ role }, 'redis back');
    away = false;
  });
  return redis;
}

/** Commands of one turn of the event loop leave in one write: the system call costs more than a command. */
function gatherWrites(redis: Redis): void {
  const send = redis.sendCommand.bind(redis);
  let isGathering = false;
  redis.sendCommand = (command, stream) => {
    const socket = redis.stream;
    if (!isGathering && redis.status === 'ready') {
      isGathering = true;
      socket.cork();
      setImmediate(() => {
        isGathering = false;
        socket.uncork();
      });
    }
    return send(command, stream);
  };
}

/**
 * Rejects what Redis does not answer in time. It answers in order, so it is enough to look at the oldest command now and
 * then; a timer for every command, as the client offers it, costs a fifth of the command.
 */
function limitWaiting(redis: Redis, limitMs: number): void {
  let oldest: unknown;
  let sinceMs = 0;
  const timer = setInterval(() => {
    const front = redis.commandQueue.peekFront();
    if (front !== oldest) {
      oldest = front;
      sinceMs = performance.now();
    } else if (front && performance.now() - sinceMs >= limitMs) {
      for (const { command } of redis.commandQueue.toArray()) command.reject(new Error('Command timed out'));
    }
  }, limitMs / 10);
  timer.unref();
  redis.once('end', () => clearInterval(timer));
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

export interface StoreHealth {
  ok: boolean;
  /** What is wrong and what to do; empty when ok. */
  findings: string[];
  version?: string;
}

/** Redis must be a writable primary that never evicts and, for `always`, syncs each write to disk. */
export async function checkStore(redis: Redis, durability: 'everysec' | 'always'): Promise<StoreHealth> {
  const findings: string[] = [];
  try {
    const info = parseInfo(await redis.info());
    if (info.get('role') !== 'master') findings.push('Redis is a replica: point redis.url at the primary');
    const policy = info.get('maxmemory_policy');
    if (policy !== 'noeviction') {
      findings.push(`Redis may evict keys (maxmemory-policy ${policy}): set maxmemory-policy noeviction`);
    }
    if (info.get('aof_last_write_status') === 'err')
      findings.push('Redis can not write its append-only file');
    if (durability === 'always') {
      const reply = await redis
        .config('GET', 'appendfsync')
        .catch(() => ['', 'unknown: CONFIG is forbidden']);
      const synced = String((reply as unknown[])[1]);
      if (info.get('aof_enabled') !== '1' || synced !== 'always') {
        findings.push(
          `redis.durability is always: set appendonly yes and appendfsync always in Redis (it is ${synced})`,
        );
      }
    }
    const version = info.get('redis_version');
    return { ok: findings.length === 0, findings, ...(version ? { version } : {}) };
  } catch (error) {
    return { ok: false, findings: [`Redis does not answer: ${(error as Error).message}`] };
  }
}

/** What one look at Redis tells; the role is the server's own word: master or slave. */
export type StorePulse =
  { up: true; latencyMs: number; role: string | undefined } | { up: false; role?: never };

export async function takePulse(redis: Redis): Promise<StorePulse> {
  try {
    const askedAt = performance.now();
    await redis.ping();
    const latencyMs = performance.now() - askedAt;
    const role = parseInfo(await redis.info('replication')).get('role');
    return { up: true, latencyMs, role };
  } catch {
    return { up: false };
  }
}

function parseInfo(info: string): Map<string, string> {
  const entries = info.split('\r\n').filter((line) => line.includes(':'));
  return new Map(
    entries.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
