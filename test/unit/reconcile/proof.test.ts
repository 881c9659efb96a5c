// Tests the proof of complete lists with random faults of pages: an incomplete list never counts as complete.
import type { ListPage } from '../../../src/platform/readers.ts';
import { createListProof, type ListProof } from '../../../src/reconcile/scan/list-proof.ts';
import { scanList } from '../../../src/reconcile/scan/scan.ts';
import type { Clock } from '../../../src/support/sources.ts';
import { createRandom } from '../../support/company.ts';

interface Item {
  id: string;
}

const clock: Clock = { now: () => 0, sleep: () => Promise.resolve() };
const all = (size: number): Item[] => Array.from({ length: size }, (_, index) => ({ id: `u${index}` }));

type FetchPage = (startIndex: number, count: number) => Promise<ListPage<Item>>;

const honest =
  (items: Item[], cap = 1000): FetchPage =>
  (startIndex, count) =>
    Promise.resolve({
      startIndex,
      totalResults: items.length,
      resources: items.slice(startIndex - 1, startIndex - 1 + Math.min(count, cap)),
    });

async function walk(fetch: FetchPage, count = 7, inFlight = 3): Promise<{ seen: Item[]; proof: ListProof }> {
  const proof = createListProof<Item>();
  const seen: Item[] = [];
  const signal = new AbortController().signal;
  const options = { clock, signal, random: () => 0.5, count, inFlight };
  for await (const page of scanList(fetch, proof, options)) seen.push(...page);
  return { seen, proof: proof.verdict() };
}

/** Returns the page with one random fault, or throws. */
function withFault(page: ListPage<Item>, random: () => number, items: Item[]): ListPage<Item> {
  const roll = random();
  const { resources } = page;
  if (roll < 0.15) return { ...page, resources: resources.slice(0, Math.floor(random() * resources.length)) };
  if (roll < 0.25) return { ...page, resources: [] };
  if (roll < 0.35) return { ...page, resources: [...resources].reverse() };
  if (roll < 0.5) {
    const other = Math.floor(random() * items.length);
    return { ...page, resources: items.slice(other, other + resources.length) };
  }
  if (roll < 0.6) return { ...page, totalResults: Math.floor(random() * items.length * 2) };
  if (roll < 0.7)
    return {
      ...page,
      totalResults: page.startIndex - 1 + resources.length,
      resources: resources.slice(0, 1),
    };
  throw new Error('503');
}

test('a scan of a platform list that counts as complete has read every item exactly once (1,000 random schedules)', async () => {
  let complete = 0;
  for (let seed = 1; seed <= 1000; seed++) {
    const random = createRandom(seed * 7919);
    const items = all(Math.floor(random() * 60));
    const share = random() * 0.4;
    const good = honest(items, 1 + Math.floor(random() * 20));
    let lied = false;
    const { seen, proof } = await walk(async (startIndex, count) => {
      const page = await good(startIndex, count);
      if (random() >= share) return page;
      const answer = withFault(page, random, items);
      lied ||= answer.totalResults !== items.length;
      return answer;
    });
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    if (!proof.complete) {
      expect(proof.reason).toEqual(expect.any(String));
      continue;
    }
    complete++;
    // A platform whose total and list miss the same users is detected by the second look (second-look.test.ts).
    if (lied && proof.total !== items.length) continue;
    expect([seed, seen.map(({ id }) => id).sort()]).toEqual([seed, items.map(({ id }) => id).sort()]);
  }
  // The test proves nothing if no scan succeeds.
  expect(complete).toBeGreaterThan(200);
}, 60_000);

test.each([
  ['nothing', 0, 1000],
  ['one page', 5, 1000],
  ['exactly two pages', 14, 1000],
  ['many pages that the platform made smaller', 50, 3],
])('a scan of a platform list of %s reads every item and counts as complete', async (_what, size, cap) => {
  const items = all(size);
  const { seen, proof } = await walk(honest(items, cap));
  expect(seen).toEqual(items);
  expect(proof).toEqual({ complete: true, total: size, seen: size });
});

test('a page of a platform list fails once → it is read again, and the scan counts as complete', async () => {
  const good = honest(all(30));
  const failed = new Set<number>();
  const { proof } = await walk((startIndex, count) => {
    if (failed.has(startIndex)) return good(startIndex, count);
    failed.add(startIndex);
    return Promise.reject(new Error('503'));
  });
  expect(proof.complete).toBe(true);
});

test('one page of a platform list is late → six further pages are requested, at most three at the same time', async () => {
  const items = all(70);
  const asked: number[] = [];
  let [underWay, most] = [0, 0];
  let arrive: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (arrive = resolve));
  const walked = walk(async (startIndex, count) => {
    asked.push(startIndex);
    most = Math.max(most, ++underWay);
    await (startIndex === 8 ? late : Promise.resolve());
    underWay--;
    return honest(items)(startIndex, count);
  });
  await new Promise((resolve) => setImmediate(resolve));
  // The late page (8) is awaited; meanwhile as many pages as memory allows have arrived.
  expect(asked).toEqual([1, 8, 15, 22, 29, 36, 43, 50]);
  arrive();
  const { seen, proof } = await walked;
  expect(seen).toEqual(items);
  expect(proof.complete).toBe(true);
  expect(most).toBe(3);
});

test('an empty platform list with a total above zero does not count as complete', async () => {
  const { proof } = await walk((startIndex) =>
    Promise.resolve({ startIndex, totalResults: 40, resources: [] }),
  );
  expect(proof).toMatchObject({ complete: false, seen: 0 });
});
