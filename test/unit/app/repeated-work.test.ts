// Tests that background work whose commands Redis refuses tells this once in the log.
import { untilStored } from '../../../src/app/parts.ts';
import { startExpiry } from '../../../src/events/expire-events.ts';
import { silentLogger, type Logger } from '../../../src/support/logger.ts';

const NOPERM = 'NOPERM this user has no permissions to run the command';

/** Returns a logger and the reasons of its warnings, and a clock that ends the work after some waits. */
function place(waits: number) {
  const warnings: unknown[] = [];
  const stopping = new AbortController();
  const warn = (fields: { reason: string }, message: string) => warnings.push([message, fields.reason]);
  const logger = { ...silentLogger, warn } as unknown as Logger;
  const sleep = async () => {
    if (--waits <= 0) stopping.abort();
    await new Promise(setImmediate);
  };
  return { warnings, logger, clock: { now: () => 0, sleep }, signal: stopping.signal };
}

const refused = () => Promise.reject(new Error(NOPERM));

test('Redis refuses a command at the start again and again → the log tells the reason once', async () => {
  const { warnings, signal, ...deps } = place(3);
  await untilStored(deps, signal, 'not stored', refused);
  expect(warnings).toEqual([['not stored', 'its user lacks a right']]);
});

test('Redis refuses to delete expired events again and again → the log tells the connection and the reason once', async () => {
  const { warnings, signal, ...deps } = place(3);
  const stop = startExpiry(deps, [{ connection: 'hr', expire: refused } as any]);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  await stop();
  expect(warnings).toEqual([[expect.stringContaining(' hr '), 'its user lacks a right']]);
});
