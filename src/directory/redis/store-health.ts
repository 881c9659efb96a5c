// Checks whether Redis is safe to use: `checkStore` finds every fault, such as a replica, an eviction policy, or a durability below
// that of the settings. `takePulse` tells briefly for metrics and the fleet whether Redis answers and takes writes.
// `readStoreFacts` reads what doctor shows besides.
import { Cluster, type Redis } from 'ioredis';
import { primariesOf } from './portions.ts';
import { awayText, isDiskRefusal, whyAway } from './why-away.ts';

/** A fault of Redis: a sentence without full stop, and advice with one. */
export interface StoreFault {
  message: string;
  advice: string;
}

export interface StoreHealth {
  ok: boolean;
  /** Empty when ok. */
  findings: StoreFault[];
}

interface StoreExpectations {
  /** `redis.durability` of the settings: when Redis has to write its append-only file to the disk. */
  durability: 'everysec' | 'always';
  /** Key that is written to test whether Redis accepts writes; undefined: no test write. */
  probe?: string;
}

/** Memory of a Redis server in bytes; `limit` 0: maxmemory is not set. */
interface StoreMemory {
  used: number;
  limit: number;
}

/** Why Redis takes no writes, or soon will take none, and what to do. */
export interface StoreRefusal {
  reason: string;
  advice: string;
  /** Whether pushes that free memory are stored all the same (PUSHES_WHEN_FULL). */
  takesFreeing?: boolean;
}

/** Lifetime of the key of a test write. */
const PROBE_LIFE_MS = 60_000;
/** Share of maxmemory above which Redis is nearly full; the alert ScimBridgeRedisMemory has the same. */
const NEARLY_FULL = 0.85;

const REPLICA_ADVICE = 'Point redis.url at the primary.';
/**
 * Words about pushes while the memory is full. Redis refuses a script at its first command that may need memory, unless the script
 * has written before. So a push is stored if its script begins with a command that frees memory.
 */
export const PUSHES_WHEN_FULL = 'pushes are refused, except those that free memory first, such as deletions';
const FULL_ADVICE = 'Raise maxmemory of Redis, or remove what else is kept there.';

/** Checks one server, or all primaries of a cluster: writable, no eviction, and for `always` an fsync of each write. */
export async function checkStore(redis: Redis, expected: StoreExpectations): Promise<StoreHealth> {
  try {
    const nodes = primariesOf(redis);
    const ofNodes = await Promise.all(
      nodes.map(async (node) => findingsOf(node, parseInfo(await node.info()), expected, nodes.length > 1)),
    );
    const findings = [...ofNodes.flat(), ...(await findingsOfWhole(redis, expected.probe))];
    return { ok: findings.length === 0, findings };
  } catch (error) {
    const advice = 'Check that it runs, and redis.url or REDIS_URL.';
    return { ok: false, findings: [{ message: awayText(redis, error), advice }] };
  }
}

/** Returns the faults of one server. @param named whether each fault names the server */
async function findingsOf(
  node: Redis,
  info: Map<string, string>,
  { durability }: StoreExpectations,
  named: boolean,
): Promise<StoreFault[]> {
  const server = named ? `${node.options.host}:${node.options.port}: ` : '';
  const findings: StoreFault[] = [];
  const add = (message: string, advice: string): void => {
    findings.push({ message: `${server}${message}`, advice });
  };
  if (info.get('role') !== 'master') add('Redis is a replica', REPLICA_ADVICE);
  const memory = memoryOf(info);
  if (isFull(memory)) add(`Redis takes no writes, because ${fullText(memory)}`, FULL_ADVICE);
  const policy = info.get('maxmemory_policy');
  if (policy !== 'noeviction')
    add(`Redis may evict keys (maxmemory-policy ${policy})`, 'Set maxmemory-policy noeviction.');
  const refusal = await writeRefusalOf(node, info);
  if (refusal) add(`Redis takes no writes, because ${refusal.reason}`, refusal.advice);
  if (durability === 'always') {
    const synced = (await redisSetting(node, 'appendfsync')) ?? 'unknown: CONFIG is forbidden';
    if (info.get('aof_enabled') !== '1' || synced !== 'always')
      add(
        `redis.durability is always, and Redis has appendonly ${info.get('aof_enabled') === '1' ? 'yes' : 'no'} and appendfsync ${synced}`,
        'Set appendonly yes and appendfsync always in Redis.',
      );
  }
  return findings;
}

/** Returns the faults of the cluster as a whole, and of a test write. */
async function findingsOfWhole(redis: Redis | Cluster, probe: string | undefined): Promise<StoreFault[]> {
  if (redis instanceof Cluster) {
    const state = parseInfo(await redis.cluster('INFO')).get('cluster_state');
    if (state !== 'ok')
      return [{ message: `The cluster is not whole (cluster_state ${state})`, advice: 'See CLUSTER NODES.' }];
  }
  if (probe === undefined) return [];
  try {
    await redis.set(probe, '1', 'PX', PROBE_LIFE_MS);
    return [];
  } catch (error) {
    return [
      { message: `Redis takes no writes (${whyAway(error)})`, advice: 'See its log and its settings.' },
    ];
  }
}

/** Result of `takePulse`; `role` is `master` or `slave`, as the server reports it. */
export type StorePulse =
  | {
      up: true;
      latencyMs: number;
      role: string | undefined;
      memory: StoreMemory;
      refusal?: StoreRefusal | undefined;
    }
  | { up: false; role?: never };

/**
 * Checks Redis once. Of a cluster the largest latency and the fullest memory are reported. The role and the refusal are those of a
 * node that is no primary, else of a node that refuses writes, else of any node.
 */
export async function takePulse(redis: Redis): Promise<StorePulse> {
  try {
    const beats = await Promise.all(
      primariesOf(redis).map(async (node) => {
        const askedAt = performance.now();
        const replication = parseInfo(await node.info('replication'));
        const latencyMs = performance.now() - askedAt;
        const [memory, refusal] = await Promise.all([node.info('memory'), writeRefusalOf(node, replication)]);
        return { latencyMs, role: replication.get('role'), memory: memoryOf(parseInfo(memory)), refusal };
      }),
    );
    const reported =
      beats.find(({ role }) => role !== 'master') ?? beats.find(({ refusal }) => refusal) ?? beats[0];
    if (!reported) return { up: false };
    const memories = beats.map(({ memory }) => memory);
    return {
      up: true,
      latencyMs: Math.max(...beats.map(({ latencyMs }) => latencyMs)),
      role: reported.role,
      refusal: reported.refusal,
      memory: memories.reduce((fullest, each) => (fullness(each) > fullness(fullest) ? each : fullest)),
    };
  } catch {
    return { up: false };
  }
}

/** Returns why Redis takes no writes; undefined when it takes them, or does not answer. */
export function storeRefusalOf(pulse: StorePulse): StoreRefusal | undefined {
  if (!pulse.up) return undefined;
  if (pulse.role !== 'master') return { reason: 'it is a replica', advice: REPLICA_ADVICE };
  return isFull(pulse.memory)
    ? { reason: fullText(pulse.memory), advice: FULL_ADVICE, takesFreeing: pulse.refusal === undefined }
    : pulse.refusal;
}

/**
 * Returns why a primary with free memory takes no writes; undefined when it takes them. PING shows a failed save even where
 * CONFIG is forbidden; INFO has `min_slaves_good_slaves` only if a number of replicas is demanded.
 */
async function writeRefusalOf(node: Redis, info: Map<string, string>): Promise<StoreRefusal | undefined> {
  if (info.get('role') !== 'master') return undefined;
  try {
    await node.ping();
  } catch (error) {
    if (!isDiskRefusal(error)) throw error;
    return { reason: whyAway(error), advice: 'Give its disk space and rights, and see the log of Redis.' };
  }
  const goodReplicas = Number(info.get('min_slaves_good_slaves') ?? Infinity);
  if (goodReplicas === Infinity) return undefined;
  // Where CONFIG is forbidden, one replica counts as demanded.
  const demanded = (await redisSetting(node, 'min-replicas-to-write')) ?? 1;
  return goodReplicas >= Number(demanded)
    ? undefined
    : { reason: whyAway(new Error('NOREPLICAS')), advice: 'Bring the replicas of Redis back.' };
}

/** Facts about Redis that doctor shows besides the faults. */
export interface StoreFacts {
  version: string;
  persistence: 'append-only file' | 'snapshots' | 'none';
  /** When the append-only file is written (`appendfsync`); undefined: CONFIG is forbidden. */
  fsync: string | undefined;
  memory: StoreMemory;
  /** Clock of Redis minus clock of this process at the middle of the round trip, in milliseconds. */
  skewMs: number;
}

/** Reads facts of the server, or of the first primary of a cluster. @param now clock of this process, Unix milliseconds */
export async function readStoreFacts(redis: Redis, now: () => number): Promise<StoreFacts> {
  const [node = redis] = primariesOf(redis);
  const info = parseInfo(await node.info());
  const askedAt = now();
  const [seconds = 0, micros = 0] = (await node.time()).map(Number);
  const ownTime = (askedAt + now()) / 2;
  const [saves, fsync] = await Promise.all([redisSetting(node, 'save'), redisSetting(node, 'appendfsync')]);
  let persistence: StoreFacts['persistence'] = 'none';
  if (info.get('aof_enabled') === '1') persistence = 'append-only file';
  else if (saves) persistence = 'snapshots';
  return {
    version: info.get('redis_version') ?? 'unknown',
    persistence,
    fsync,
    memory: memoryOf(info),
    skewMs: Math.round(seconds * 1000 + micros / 1000 - ownTime),
  };
}

/** Returns a warning without full stop while the memory is nearly full; undefined below that, and when it is full. */
export function memoryWarning(memory: StoreMemory): StoreRefusal | undefined {
  const share = fullness(memory);
  if (share <= NEARLY_FULL || share >= 1) return undefined;
  const reason = `its memory is ${Math.floor(share * 100)} % full (limit ${megabytes(memory.limit)}); when it is full, ${PUSHES_WHEN_FULL}`;
  return { reason, advice: FULL_ADVICE };
}

const isFull = (memory: StoreMemory): boolean => fullness(memory) >= 1;
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
const fullText = ({ limit }: StoreMemory): string => `its memory of ${megabytes(limit)} is full`;

const memoryOf = (info: Map<string, string>): StoreMemory => ({
  // Buffers of replicas and of the append-only file do not count against the limit.
  used: Number(info.get('used_memory') ?? 0) - Number(info.get('mem_not_counted_for_evict') ?? 0),
  limit: Number(info.get('maxmemory') ?? 0),
});

const fullness = ({ used, limit }: StoreMemory): number => (limit === 0 ? 0 : used / limit);

/** Returns a setting of a Redis server; undefined where CONFIG is forbidden. */
async function redisSetting(node: Redis, name: string): Promise<string | undefined> {
  const [_name, value] = (await node.config('GET', name).catch(() => [])) as string[];
  return value;
}

/** Parses the reply of INFO: lines `name:value`, and headings without a colon. */
function parseInfo(info: string): Map<string, string> {
  const entries = info.split('\r\n').filter((line) => line.includes(':'));
  return new Map(
    entries.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
