// Fills a provisioning log with many entries, faster than the scripts of the service and at given times. The hash chain is
// not kept, so that these logs cannot be verified.
import type { Redis } from 'ioredis';
import type { LogEntry } from '../../src/directory/logs/provisioning-log.ts';
import { splitEntry } from '../../src/directory/logs/split-entry.ts';

const PERSONAL: ReadonlySet<string> = new Set(['name', 'changes', 'message']);
const PORTION = 1000;

export interface SeededLog {
  /** Base of the keys, such as `prefix:{default}:`. */
  base: string;
  target: string;
  count: number;
  /** Unix milliseconds of the oldest entry, and between two entries. */
  from: number;
  stepMs: number;
  /** @param serial 0 is the oldest */
  entry?: (serial: number) => Partial<LogEntry>;
}

/** One usual entry; each user has about 20 of them in a log of a million. */
const usual = (serial: number): LogEntry => ({
  ref: `User:u${String(serial % 50_000).padStart(19, '0')}`,
  name: `user${serial % 50_000}@acme.example`,
  platformId: String(serial % 50_000),
  action: 'update',
  status: 'success',
  request: 'a1b2c3d4e5f6',
  generation: String(serial),
  accepted: 0,
  priority: 'edit',
  attempt: 1,
  ms: 12,
  changes: [['displayName', `before ${serial}`, `after ${serial}`]],
});

export async function seedLog(redis: Redis, log: SeededLog): Promise<void> {
  const { base, target, count, from, stepMs, entry } = log;
  for (let start = 0; start < count; start += PORTION) {
    const pipeline = redis.pipeline();
    const personalParts: string[] = [];
    for (let serial = start; serial < Math.min(start + PORTION, count); serial++) {
      const at = from + serial * stepMs;
      const [chained, personal] = splitEntry(
        { ...usual(serial), accepted: at, ...entry?.(serial) },
        PERSONAL,
      );
      pipeline.xadd(`${base}log:${target}`, `${at}-0`, 'e', chained, 'h', '0'.repeat(40));
      personalParts.push(`${at}-0`, personal);
    }
    pipeline.hset(`${base}logPersonal:${target}`, ...personalParts);
    await pipeline.exec();
  }
}
