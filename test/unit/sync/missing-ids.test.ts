// Tests the whole list that proves the absence of an account or group.
import { createMissingIds } from '../../../src/sync/calls/missing-ids.ts';
import { systemClock } from '../../../src/support/sources.ts';

const signal = new AbortController().signal;

/** A platform with these ids, and pages of at most 10. `lists`: number of lists that began. */
function platformOf(ids: string[], edit: (startIndex: number) => void = () => undefined) {
  const calls = { lists: 0 };
  const list = ({ startIndex, count }: { startIndex: number; count: number }) => {
    if (startIndex === 1) calls.lists++;
    edit(startIndex);
    const resources = ids.slice(startIndex - 1, startIndex - 1 + Math.min(count, 10)).map((id) => ({ id }));
    return Promise.resolve({ startIndex, totalResults: ids.length, resources });
  };
  return { calls, missing: createMissingIds(list, systemClock) };
}

const ids = (length: number): string[] => Array.from({ length }, (_, index) => `id-${index}`);

test('an id that the whole list shows is listed, and another one is missing', async () => {
  const { missing } = platformOf(ids(35));
  expect(await missing.look('id-34', signal)).toBe('listed');
  expect(await missing.look('gone', signal)).toBe('missing');
});

test('a list that loses a resource while it is read, or is cut, proves nothing', async () => {
  const some = ids(35);
  const { missing } = platformOf(some, (startIndex) => startIndex > 20 && some.shift());
  expect(await missing.look('gone', signal)).toBe('unproven');
  const cut = createMissingIds(
    ({ startIndex }) => Promise.resolve({ startIndex, totalResults: 9, resources: [{ id: 'id-1' }] }),
    systemClock,
  );
  expect(await cut.look('gone', signal)).toBe('unproven');
});

test('a list that fails proves nothing, and the next look reads another list', async () => {
  let fails = true;
  const { calls, missing } = platformOf(ids(3), () => {
    if (fails) throw new Error('no answer');
  });
  expect(await missing.look('gone', signal)).toBe('unproven');
  fails = false;
  expect(await missing.look('gone', signal)).toBe('missing');
  expect(calls.lists).toBe(2);
});

test('ten thousand ids that are gone at the same time need a few lists', async () => {
  const { calls, missing } = platformOf(ids(3));
  let left = Array.from({ length: 10_000 }, (_, number) => `gone-${number}`);
  while (left.length > 0) {
    const shown = await Promise.all(left.map((id) => missing.look(id, signal)));
    expect(shown).not.toContain('listed');
    left = left.filter((_, index) => shown[index] === 'awaited');
  }
  expect(calls.lists).toBeLessThan(5);
});

test('a list that began before the first look at an id proves nothing about it', async () => {
  const some = ids(35);
  let late: Promise<string> | undefined;
  const { calls, missing } = platformOf(some, (startIndex) => {
    if (startIndex > 10) late ??= missing.look('late', signal);
  });
  expect(await missing.look('gone', signal)).toBe('missing');
  expect(calls.lists).toBe(1);
  some.push('late');
  expect(await late).toBe('listed');
});
