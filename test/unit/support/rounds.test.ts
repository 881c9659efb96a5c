// Tests the order of rounds and waits, and the stop.
import { loggedRound, startRounds } from '../../../src/support/rounds.ts';
import { systemClock, type Clock } from '../../../src/support/sources.ts';
import type { Logger } from '../../../src/support/logger.ts';

test('rounds of repeated work begin after a given first wait, and each round returns the wait before the next', async () => {
  const steps: string[] = [];
  let stop = (): Promise<void> => Promise.resolve();
  const clock: Clock = {
    now: () => 0,
    sleep: (ms) => {
      steps.push(`wait ${ms}`);
      return Promise.resolve();
    },
  };
  await new Promise<void>((resolve) => {
    let rounds = 0;
    const round = (): Promise<number> => {
      steps.push('round');
      rounds += 1;
      if (rounds === 2) void stop().then(resolve);
      return Promise.resolve(10 * rounds);
    };
    stop = startRounds(clock, round, 5);
  });
  expect(steps).toEqual(['wait 5', 'round', 'wait 10', 'round', 'wait 20']);
});

test('stop ends a wait between rounds at once, and aborts and awaits a running round', async () => {
  const waiting = startRounds(systemClock, () => Promise.resolve(3_600_000));
  await waiting();
  let hasEnded = false;
  const running = startRounds(systemClock, async (signal) => {
    await systemClock.sleep(3_600_000, signal);
    hasEnded = true;
    return 0;
  });
  await running();
  expect(hasEnded).toBe(true);
});

test('several rounds in a row fail → only the first failure is logged, and further rounds run', async () => {
  const logged: unknown[] = [];
  const logger = { warn: (...args: unknown[]) => void logged.push(args) } as unknown as Logger;
  const outcomes = [false, false, true, false];
  const round = loggedRound(
    logger,
    () => (outcomes.shift() ? Promise.resolve(7) : Promise.reject(new Error('away'))),
    { failedMs: 3, message: 'failed', reasonOf: (error) => (error as Error).message },
  );
  const { signal } = new AbortController();
  const waits = [await round(signal), await round(signal), await round(signal), await round(signal)];
  expect(waits).toEqual([3, 3, 7, 3]);
  expect(logged).toEqual([
    [{ reason: 'away' }, 'failed'],
    [{ reason: 'away' }, 'failed'],
  ]);
});
