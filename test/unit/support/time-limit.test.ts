// Tests signals that abort after a time.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { timeLimit } from '../../../src/support/time-limit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a signal combined with others aborts after its time even if the garbage collector has run', async () => {
  const combined = AbortSignal.any([new AbortController().signal, timeLimit(200)]);
  const aborted = once(combined, 'abort');
  await sleep(50);
  collectGarbage();
  await sleep(50);
  collectGarbage();
  await Promise.race([aborted, sleep(5000)]);
  expect((combined.reason as DOMException | undefined)?.name).toBe('TimeoutError');
});
