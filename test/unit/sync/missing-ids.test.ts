// Tests the whole list that proves the absence of an account or group.
import { createMissingIds } from '../../../src/sync/calls/missing-ids.ts';
import { setTimeout as after } from 'node:timers/promises';
import { systemClock, type Clock } from '../../../src/support/sources.ts';

const signal = new AbortController().signal;

/** A platform with these ids, and pages of at most 10. `lists`: number of lists that began. */
function platformOf(
  ids: string[],
  edit: (startIndex: number) => void = () => undefined,
  clock = systemClock,
) {
  const calls = { lists: 0 };
  const list = ({ startIndex, count }: { startIndex: number; count: number }) => {
    if (startIndex === 1) calls.lists++;
    edit(startIndex);
    const resources = ids.slice(startIndex - 1, startIndex - 1 + Math.min(count, 10)).map((id) => ({ id }));
    return Promise.resolve({ startIndex, totalResults: ids.length, resources });
  };
  return { calls, missing: createMissingIds(list, clock) };
}

const ids = (length: number): string[] => Array.from({ length }, (_, index) => `id-${index}`);

test('a read of the whole list shows an id as listed, and an id that it lacks as missing', async () => {
  const { missing } = platformOf(ids(35));
  expect(await missing.look('id-34', signal)).toBe('listed');
  expect(await missing.look('gone', signal)).toBe('missing');
});

test('a list that loses a resource while it is read, or that is cut, proves no id as missing', async () => {
  const some = ids(35);
  const { missing } = platformOf(some, (startIndex) => startIndex > 20 && some.shift());
  expect(await missing.look('gone', signal)).toBe('unproven');
  const cut = createMissingIds(
    ({ startIndex }) => Promise.resolve({ startIndex, totalResults: 9, resources: [{ id: 'id-1' }] }),
    systemClock,
  );
  expect(await cut.look('gone', signal)).toBe('unproven');
});

test('two syncs ask for the same id at the same time → one list answers both', async () => {
  const { calls, missing } = platformOf(ids(35));
  const shown = await Promise.all(['gone', 'gone', 'id-3'].map((id) => missing.look(id, signal)));
  expect(shown).toEqual(['missing', 'missing', 'listed']);
  expect(calls.lists).toBe(1);
});

test('a list fails → an id counts as unproven, and the next look-up reads another list', async () => {
  let fails = true;
  const { calls, missing } = platformOf(ids(3), () => {
    if (fails) throw new Error('no answer');
  });
  expect(await missing.look('gone', signal)).toBe('unproven');
  fails = false;
  expect(await missing.look('gone', signal)).toBe('missing');
  expect(calls.lists).toBe(2);
});

test('ten thousand missing ids are looked up at the same time → fewer than five lists are read', async () => {
  const { calls, missing } = platformOf(ids(3));
  let left = Array.from({ length: 10_000 }, (_, number) => `gone-${number}`);
  while (left.length > 0) {
    const shown = await Promise.all(left.map((id) => missing.look(id, signal)));
    expect(shown).not.toContain('listed');
    left = left.filter((_, index) => shown[index] === 'awaited');
  }
  expect(calls.lists).toBeLessThan(5);
});

test('an id is first looked up while a list is being read → it waits for the next list', async () => {
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

/** A clock whose time a test moves on; sleeps take real time, and keep no process running. */
function movedClock(): Clock & { moveOn(ms: number): void } {
  let moved = 0;
  return {
    now: () => Date.now() + moved,
    sleep: (ms, sleeping) =>
      after(ms, undefined, { ref: ms <= 1000, ...(sleeping && { signal: sleeping }) }).catch(() => undefined),
    moveOn: (ms) => void (moved += ms),
  };
}

test('an id is looked up long after the last list → it is answered without a pause', async () => {
  const clock = movedClock();
  const { missing } = platformOf(ids(3), () => clock.moveOn(900), clock);
  expect(await missing.look('gone', signal)).toBe('missing');
  clock.moveOn(10_000);
  expect(await missing.look('other', signal)).toBe('missing');
});

test('a list takes longer than a second → a look-up returns `awaited` at once', async () => {
  const clock = movedClock();
  const { missing } = platformOf(ids(3), () => clock.moveOn(10_000), clock);
  expect(await missing.look('gone', signal)).toBe('missing');
  const askedAt = Date.now();
  expect(await missing.look('other', signal)).toBe('awaited');
  expect(Date.now() - askedAt).toBeLessThan(500);
});

test('the caller that began a list aborts → the list goes on and answers all other callers', async () => {
  const asker = new AbortController();
  let lists = 0;
  const missing = createMissingIds(async ({ startIndex }, call) => {
    lists++;
    asker.abort();
    await after(50);
    call.signal?.throwIfAborted();
    return { startIndex, totalResults: 0, resources: [] };
  }, systemClock);
  const shown = [missing.look('gone', asker.signal), missing.look('other', signal)];
  expect(await Promise.all(shown)).toEqual(['missing', 'missing']);
  expect(lists).toBe(1);
});
