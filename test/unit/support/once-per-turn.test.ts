// Tests that callers within one turn of the event loop share one run.
import { oncePerTurn } from '../../../src/support/once-per-turn.ts';

test('calls within one turn of the event loop share one run, and a later call starts a new run', async () => {
  let runs = 0;
  const ask = oncePerTurn(() => Promise.resolve(++runs));
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  expect(await ask()).toBe(2);
});

test('a failed run rejects all calls of its turn, and the next turn runs again', async () => {
  let runs = 0;
  const ask = oncePerTurn(() => (++runs === 1 ? Promise.reject(new Error('away')) : Promise.resolve('back')));
  const outcomes = await Promise.allSettled([ask(), ask()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe('back');
});

test('a run begins after the turn of its calls, so it sees a change made right after a call', async () => {
  let value = 1;
  const ask = oncePerTurn(() => Promise.resolve(value));
  const asked = ask();
  value = 2;
  expect(await asked).toBe(2);
});
