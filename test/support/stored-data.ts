// Dumps the keys of a bridge as lines of JSON, and loads such lines into Redis under another prefix.
import type { Redis } from 'ioredis';
import { scanAll } from '../contract/lua/rig.ts';

/** One key without its prefix. */
interface StoredKey {
  key: string;
  type: string;
  value: any;
}

/** Keys that outlive all processes: those of the connections, of the targets, and the version. */
const KEPT = /^:\{(default|target\.[^}]+)\}:|^:\{bridge\.fleet\}:dataVersion$/;
/** Keys that only running processes need. */
const PASSING =
  /\}:(lease|inflight|deliveries|claim|budget|paused|eventsLease|run|wholeReads|proofTurn)(:|$)/;

export async function dumpStoredData(redis: Redis, prefix: string): Promise<string> {
  const lines: string[] = [];
  for (const name of (await scanAll(redis, `${prefix}:*`)).sort()) {
    const key = name.slice(prefix.length);
    if (!KEPT.test(key) || PASSING.test(key)) continue;
    const type = await redis.type(name);
    const stored: StoredKey = { key, type, value: await read(redis, name, type) };
    lines.push(JSON.stringify(stored));
  }
  return `${lines.join('\n')}\n`;
}

async function read(redis: Redis, name: string, type: string): Promise<unknown> {
  if (type === 'string') return redis.get(name);
  if (type === 'hash') return Object.entries(await redis.hgetall(name)).sort();
  if (type === 'set') return (await redis.smembers(name)).sort();
  if (type === 'zset') return redis.zrange(name, '0', '-1', 'WITHSCORES');
  if (type === 'list') return redis.lrange(name, 0, -1);
  if (type === 'stream') return redis.xrange(name, '-', '+');
  throw new Error(`${name} has the type ${type}, which a dump cannot hold`);
}

export async function loadStoredData(redis: Redis, prefix: string, text: string): Promise<void> {
  for (const line of text.trim().split('\n')) {
    const { key, type, value } = JSON.parse(line) as StoredKey;
    const name = prefix + key;
    if (type === 'string') await redis.set(name, value);
    else if (type === 'hash') await redis.hset(name, ...value.flat());
    else if (type === 'set') await redis.sadd(name, ...value);
    else if (type === 'list') await redis.rpush(name, ...value);
    else if (type === 'stream') for (const [id, fields] of value) await redis.xadd(name, id, ...fields);
    else {
      const pairs = (value as string[]).flatMap((member, at) =>
        at % 2 === 0 ? [value[at + 1] as string, member] : [],
      );
      await redis.zadd(name, ...pairs);
    }
  }
}
