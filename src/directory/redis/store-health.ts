// Whether Redis can be trusted with people's access: a primary, writable, never evicting, as durable as was promised.
import { Cluster, type Redis } from 'ioredis';

export interface StoreHealth {
  ok: boolean;
  /** Faults, each with advice; empty when ok. */
  findings: string[];
  version?: string;
}

export interface StoreExpectations {
  durability: 'everysec' | 'always';
  /** A key of ours that is written to see whether Redis takes writes; without it nothing is written. */
  probe?: string;
}

const PROBE_LIFE_MS = 60_000;

/** Redis must be a writable primary that never evicts and, for `always`, syncs each write to disk; so must all of a cluster. */
export async function checkStore(redis: Redis, expected: StoreExpectations): Promise<StoreHealth> {
  try {
    const infos = await Promise.all(
      primariesOf(redis).map(async (node) => ({ node, info: parseInfo(await node.info()) })),
    );
    const findings = await Promise.all(
      infos.map(({ node, info }) => examine(node, info, expected, infos.length > 1)),
    );
    findings.push(await examineWhole(redis, expected.probe));
    const version = infos[0]?.info.get('redis_version');
    const all = findings.flat();
    return { ok: all.length === 0, findings: all, ...(version ? { version } : {}) };
  } catch (error) {
    return { ok: false, findings: [`Redis does not answer: ${(error as Error).message}`] };
  }
}

/** The servers that writes go to; of a cluster those that are known now. */
export const primariesOf = (redis: Redis | Cluster): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

async function examine(
  node: Redis,
  info: Map<string, string>,
  { durability }: StoreExpectations,
  named: boolean,
): Promise<string[]> {
  const findings: string[] = [];
  if (info.get('role') !== 'master') findings.push('Redis is a replica: point redis.url at the primary');
  const policy = info.get('maxmemory_policy');
  if (policy !== 'noeviction') {
    findings.push(`Redis may evict keys (maxmemory-policy ${policy}): set maxmemory-policy noeviction`);
  }
  if (info.get('aof_last_write_status') === 'err') findings.push('Redis cannot write its append-only file');
  if (durability === 'always') {
    const reply = await node.config('GET', 'appendfsync').catch(() => ['', 'unknown: CONFIG is forbidden']);
    const synced = String((reply as unknown[])[1]);
    if (info.get('aof_enabled') !== '1' || synced !== 'always') {
      findings.push(
        `redis.durability is always: set appendonly yes and appendfsync always in Redis (it is ${synced})`,
      );
    }
  }
  if (!named) return findings;
  return findings.map((finding) => `${node.options.host}:${node.options.port}: ${finding}`);
}

async function examineWhole(redis: Redis | Cluster, probe: string | undefined): Promise<string[]> {
  if (redis instanceof Cluster) {
    const state = parseInfo(await redis.cluster('INFO')).get('cluster_state');
    if (state !== 'ok') return [`The cluster is not whole (cluster_state ${state}): see CLUSTER NODES`];
  }
  if (probe === undefined) return [];
  try {
    await redis.set(probe, '1', 'PX', PROBE_LIFE_MS);
    return [];
  } catch (error) {
    return [`Redis takes no writes: ${(error as Error).message}`];
  }
}

/** Facts for doctor beyond whether Redis can be used. */
export interface StoreFacts {
  version: string;
  persistence: 'append-only file' | 'snapshots' | 'none';
  /** Time of Redis less ours, milliseconds, as far as the round trip lets it be known. */
  skewMs: number;
}

/** Of a cluster the first primary is asked. @param now our time, Unix milliseconds */
export async function readStoreFacts(redis: Redis, now: () => number): Promise<StoreFacts> {
  const [node = redis] = primariesOf(redis);
  const info = parseInfo(await node.info());
  const askedAt = now();
  const [seconds = 0, micros = 0] = (await node.time()).map(Number);
  const ours = (askedAt + now()) / 2;
  const saves = await node.config('GET', 'save').catch(() => ['save', '']);
  const hasSnapshots = String(saves[1] ?? '') !== '';
  return {
    version: info.get('redis_version') ?? 'unknown',
    persistence: info.get('aof_enabled') === '1' ? 'append-only file' : hasSnapshots ? 'snapshots' : 'none',
    skewMs: Math.round(seconds * 1000 + micros / 1000 - ours),
  };
}

/** Facts of one look at Redis; the role is the server's own word: master or slave. */
export type StorePulse =
  { up: true; latencyMs: number; role: string | undefined } | { up: false; role?: never };

/** Of a cluster the slowest primary counts, and any node that is none. */
export async function takePulse(redis: Redis): Promise<StorePulse> {
  try {
    const beats = await Promise.all(
      primariesOf(redis).map(async (node) => {
        const askedAt = performance.now();
        await node.ping();
        const latencyMs = performance.now() - askedAt;
        return { latencyMs, role: parseInfo(await node.info('replication')).get('role') };
      }),
    );
    const odd = beats.find(({ role }) => role !== 'master') ?? beats[0];
    if (!odd) return { up: false };
    return { up: true, latencyMs: Math.max(...beats.map(({ latencyMs }) => latencyMs)), role: odd.role };
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
