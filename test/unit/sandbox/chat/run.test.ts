// Tests a running chat answer with several readers: each gets every record once and in order.
import fc from 'fast-check';
import { createRun, type Run } from '../../../../src/sandbox/chat/run.ts';

const start = () => createRun({ chatId: 'c', messageId: null, userIds: new Set(), lastSort: 0 });
const say = (run: Run, id: string, more: object = {}) =>
  run.append({ id, role: 'assistant', content: id, isDelta: false, isInProcess: false, ...more });

async function all(lines: AsyncIterable<string>): Promise<any[]> {
  const records = [];
  for await (const line of lines) records.push(JSON.parse(line));
  return records;
}

test('every reader of a chat run gets all records from the moment of joining to the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('say', 'join', 'pause'), { maxLength: 40 }), async (steps) => {
      const run = start();
      const readers: { from: number; got: Promise<any[]> }[] = [];
      let said = 0;
      for (const each of steps) {
        if (each === 'say') say(run, String((said += 1)));
        else if (each === 'join') readers.push({ from: said, got: all(run.follow()) });
        else await Promise.resolve();
      }
      run.close(['"end"\n']);
      for (const { from, got } of readers) {
        const expected = Array.from({ length: said - from }, (_, place) => from + place + 1);
        expect((await got).map((record) => record.sort ?? record)).toEqual([...expected, 'end']);
      }
      expect(run.readers()).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('a waiting reader of a chat run that disconnects ends at once, and the run continues', async () => {
  const run = start();
  const reader = run.follow()[Symbol.asyncIterator]();
  const waiting = reader.next();
  await reader.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(run.readers()).toBe(0);
  say(run, 'more');
  expect(run.finished().map(({ id }) => id)).toEqual(['more']);
});

test('increments of a chat answer extend one message, and nothing is added after its end', () => {
  const run = start();
  const delta = { isDelta: true, isInProcess: true };
  say(run, 'a', { content: 'Hel', thinking: 'so', ...delta });
  say(run, 'a', { content: 'lo', ...delta });
  expect(run.messages()).toEqual([expect.objectContaining({ id: 'a', content: 'Hello', thinking: 'so' })]);
  say(run, 'a', { content: 'Hello' });
  run.close([]);
  say(run, 'late');
  run.close(['"twice"\n']);
  expect(run.messages().map(({ id }) => id)).toEqual(['a']);
  expect(run.signal.aborted).toBe(true);
});
