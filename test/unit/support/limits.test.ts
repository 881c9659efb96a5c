// Tests the limits of concurrent work: admission, order and waiting.
import { Busy, createTurns } from '../../../src/support/limits.ts';

const turnsOf = createTurns;
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('one owner can use half of the turns, and the other half stays free for all other owners', async () => {
  const owner = turnsOf({ atOnce: 4, queue: 5, waitMs: 20 });
  const [a, b] = [owner(), owner()];
  await Promise.all([a.enter(), a.enter()]);
  await expect(a.enter()).rejects.toThrow(Busy);
  await Promise.all([b.enter(), b.enter()]);
  await expect(owner().enter()).rejects.toThrow(Busy);
});

test('waiting calls get turns in order, except those of an owner that uses its whole share while another owner waits', async () => {
  const owner = turnsOf({ atOnce: 2, queue: 5, waitMs: 1000 });
  const [a, b] = [owner(), owner()];
  const order: string[] = [];
  const leaveA = await a.enter();
  const leaveB = await b.enter();
  const waitingA = a.enter().then((leave) => (order.push('a'), leave));
  const waitingB = b.enter().then((leave) => (order.push('b'), leave));
  leaveB();
  await tick();
  expect(order).toEqual(['b']);
  leaveA();
  (await waitingA)();
  (await waitingB)();
  expect(order).toEqual(['b', 'a']);
});

test('a full queue for turns throws Busy, and a turn that is released twice frees one place only', async () => {
  const turns = turnsOf({ atOnce: 2, queue: 1, waitMs: 1000 })();
  const leave = await turns.enter();
  const next = turns.enter();
  await expect(turns.enter()).rejects.toThrow(Busy);
  leave();
  leave();
  (await next)();
  await expect(turns.run(() => 'done')).resolves.toBe('done');
});

test("an aborted signal ends the wait for a turn with the signal's reason, and failed work releases its turn", async () => {
  const turns = turnsOf({ atOnce: 2, queue: 5, waitMs: 1000 })();
  const leave = await turns.enter();
  const left = new AbortController();
  const waiting = turns.enter(left.signal);
  left.abort(new Error('the client has left'));
  await expect(waiting).rejects.toThrow('the client has left');
  leave();
  await expect(turns.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await expect(turns.run(() => 'done')).resolves.toBe('done');
});
