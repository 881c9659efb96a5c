// Tests how many calls run at once, and in which order they start.
import { createSlots } from '../../../src/support/slots.ts';

/** Work that ends when the test says so. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    of: (name: string) => () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    },
    end: async (name: string) => {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('calls beyond the number of slots wait, and start in order', async () => {
  const work = createWork();
  const slots = createSlots(() => 2);
  const all = ['a', 'b', 'c', 'd'].map((name) => slots.run(work.of(name)));
  expect(work.begun).toEqual(['a', 'b']);
  expect(slots.waiting()).toBe(2);
  await work.end('b');
  expect(work.begun).toEqual(['a', 'b', 'c']);
  await work.end('a');
  await work.end('c');
  await work.end('d');
  await expect(Promise.all(all)).resolves.toEqual(['a', 'b', 'c', 'd']);
  expect(slots.waiting()).toBe(0);
});

test('all slots are taken → an urgent call starts at once, and a waiting call only after both running ones have ended', async () => {
  const work = createWork();
  const slots = createSlots(() => 1);
  void slots.run(work.of('a'));
  void slots.run(work.of('b'));
  void slots.run(work.of('urgent'), true);
  expect(work.begun).toEqual(['a', 'urgent']);
  await work.end('a');
  expect(work.begun).toEqual(['a', 'urgent']);
  await work.end('urgent');
  expect(work.begun).toEqual(['a', 'urgent', 'b']);
});

test('failed work frees its slot, and a raised limit starts waiting work', async () => {
  let limit = 1;
  const work = createWork();
  const slots = createSlots(() => limit);
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  void slots.run(work.of('a'));
  void slots.run(work.of('b'));
  void slots.run(work.of('c'));
  limit = 3;
  await work.end('a');
  expect(work.begun).toEqual(['a', 'b', 'c']);
});
