// Waits until a bridge has nothing left to do, so that a test can say that nothing happened.
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';

/** Keys that exist only while work is due, waits, or is under way: Redis removes a collection with its last item. */
const WORK = [/:(marks|dirty|inflight|deliveries|lease):/, /:(wait|prioritized|delayed|active)$/];

/**
 * A push leaves its mark before it is answered, so all that the pushes so far caused has ended when this returns.
 * It never returns while a target is on hold or away: then the marks stay.
 */
export async function untilIdle({ url, prefix }: { url: string; prefix: string }): Promise<void> {
  const redis = new Redis(url);
  try {
    await eventually('the bridge is idle', async () => {
      const work = new Set<string>();
      for await (const found of redis.scanStream({ match: `${prefix}:*`, count: 1000 }))
        for (const key of found as string[]) if (WORK.some((pattern) => pattern.test(key))) work.add(key);
      if (work.size > 0) throw new Error([...work].join(', '));
      return true;
    });
  } finally {
    redis.disconnect();
  }
}
