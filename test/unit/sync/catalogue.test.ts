// Tests the read of the attribute definitions that several syncs share.
import type { PlatformClient } from '../../../src/platform/client.ts';
import { PlatformAborted } from '../../../src/platform/errors.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { createCatalogue } from '../../../src/sync/mapping/catalogue.ts';

/** A platform that answers when `answer` is called, unless the signal of its caller aborts before. */
function slowPlatform() {
  const seen: { signals: AbortSignal[]; answer: () => void } = { signals: [], answer: () => undefined };
  const list = ({ signal }: { signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      seen.signals.push(signal);
      seen.answer = () => resolve([{ id: '7', name: 'level', type: 'number' }]);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const client = { attributes: { list }, accounts: {} } as unknown as PlatformClient;
  const catalogue = createCatalogue({ client, clock: systemClock, key: () => 'key' }, { level: 'number' });
  return { seen, catalogue };
}

test('the first of two syncs that wait for the definitions ends → the second one gets them', async () => {
  const { seen, catalogue } = slowPlatform();
  const first = new AbortController();
  const ended = catalogue.definitions(first).catch((error: unknown) => error);
  const other = catalogue.definitions(new AbortController());
  first.abort();
  expect(await ended).toBeInstanceOf(PlatformAborted);
  seen.answer();
  expect(await other).toEqual(new Map([['level', { kind: 'ready', id: '7' }]]));
  expect(seen.signals).toHaveLength(1);
});

test('every sync that waits for the definitions ends → their read ends too, and the next sync reads again', async () => {
  const { seen, catalogue } = slowPlatform();
  const only = new AbortController();
  const ended = catalogue.definitions(only).catch((error: unknown) => error);
  only.abort();
  expect(await ended).toBeInstanceOf(PlatformAborted);
  expect(seen.signals.map(({ aborted }) => aborted)).toEqual([true]);
  const next = catalogue.definitions(new AbortController());
  seen.answer();
  expect(await next).toHaveProperty('size', 1);
});
