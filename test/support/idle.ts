// Waits until a bridge has nothing pending, so that a test can check that nothing happened.
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';

/** A deletion after a create without answer waits for 20 s, after `kill -9` for 50 s (sync/names/lost-create.ts). */
const LIMIT_MS = 55_000;
/** Keys that exist only while work is due, waits, or runs; Redis removes an empty collection. */
const WORK = [/:(marks|dirty|inflight|deliveries|lease):/, /:(wait|prioritized|delayed|active)$/];

/**
 * Waits until all effects of earlier pushes have ended: a push stores its mark before it is answered. Never resolves
 * while a target is on hold or unavailable, because the marks stay.
 */
export async function untilIdle({ url, prefix }: { url: string; prefix: string }): Promise<void> {
  const redis = new Redis(url);
  try {
    await eventually(
      'the bridge is idle',
      async () => {
        const work = new Set<string>();
        for await (const found of redis.scanStream({ match: `${prefix}:*`, count: 1000 }))
          for (const key of found as string[]) if (WORK.some((pattern) => pattern.test(key))) work.add(key);
        if (work.size > 0) throw new Error([...work].join(', '));
        return true;
      },
      LIMIT_MS,
    );
  } finally {
    redis.disconnect();
  }
}
