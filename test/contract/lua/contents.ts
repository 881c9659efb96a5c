// Reads all data of a store from Redis, so that two stores can be compared.
import { PRIORITY_SPAN } from '../../../src/directory/records.ts';
import type { Store } from './rig.ts';

/** Returns the refs in `dirty:<target>` with the numbers of their priorities, without times, which depend on the clock. */
async function prioritiesOf(store: Store, key: string): Promise<string[]> {
  const scored = await store.redis.zrange(key, '0', '-1', 'WITHSCORES');
  const refs = scored.filter((_, at) => at % 2 === 0);
  return refs.map((ref, at) => `${ref} ${Math.floor(Number(scored[2 * at + 1]) / PRIORITY_SPAN)}`).sort();
}

/** Returns all stored data without generations and times, which differ between runs. */
export async function contents(store: Store): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const family of await store.families()) {
    const key = `${store.keys.base}${family}`;
    const type = await store.redis.type(key);
    if (type === 'hash') {
      const fields = await store.redis.hgetall(key);
      const values = Object.entries(fields).map(([field, value]) => [
        field,
        family.startsWith('marks') || family.startsWith('deliveries')
          ? value.split(' ').at(-1)
          : value
              .replaceAll(/\b\d{13}\b/g, 'time')
              .split(',')
              .sort()
              .join(','),
      ]);
      all[family] = Object.fromEntries(values);
    } else if (family.startsWith('dirty')) all[family] = await prioritiesOf(store, key);
    else if (family.startsWith('accepted')) all[family] = (await store.redis.zrange(key, '0', '-1')).sort();
    else if (type === 'zset') all[family] = await store.redis.zrange(key, '0', '-1');
    else if (type === 'set') all[family] = (await store.redis.smembers(key)).sort();
  }
  return all;
}

/** Runs the same calls concurrently in one store and one by one in another. Expects equal replies and contents. */
export async function expectSameTogether<Item>(
  [together, alone]: [Store, Store],
  items: Item[],
  act: (store: Store, item: Item, at: number) => Promise<unknown>,
): Promise<void> {
  const atOnce = await Promise.all(items.map((item, at) => act(together, item, at)));
  const inTurn: unknown[] = [];
  for (const [at, item] of items.entries()) inTurn.push(await act(alone, item, at));
  expect(atOnce).toEqual(inTurn);
  const [one, other] = [await contents(together), await contents(alone)];
  expect({ ...one, sequence: '' }).toEqual({ ...other, sequence: '' });
}
