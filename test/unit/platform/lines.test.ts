// Tests how lines of JSON are read from text that arrives in pieces.
import { jsonLines } from '../../../src/platform/lines.ts';
import type { OpenAnswer } from '../../../src/platform/streams.ts';

function* inPieces(text: string, size: number): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function valuesOf(text: string, size: number): Promise<unknown[]> {
  const refuse = (reason: string): Error => new Error(reason);
  const answer = { text: inPieces(text, size), refuse } as unknown as OpenAnswer;
  const values: unknown[] = [];
  for await (const value of jsonLines(answer)) values.push(value);
  return values;
}

test.each([1, 2, 3, 5, 100])(
  'lines in pieces of %d characters are read whole, empty lines are left out, and the last line needs no line end',
  async (size) => {
    expect(await valuesOf('{"a":1}\n\n[2,\t3]\r\n"four"', size)).toEqual([{ a: 1 }, [2, 3], 'four']);
    expect(await valuesOf('1\n2\n', size)).toEqual([1, 2]);
  },
);

test('a line of 4 MB in small pieces is read in time in proportion to its length', async () => {
  const text = 'x'.repeat(4 * 1024 * 1024);
  const startedAt = performance.now();
  expect(await valuesOf(`${JSON.stringify(text)}\n1\n`, 512)).toEqual([text, 1]);
  expect(performance.now() - startedAt).toBeLessThan(5000);
}, 120_000);

test('a line of more than 8 MB is refused', async () => {
  await expect(valuesOf('x'.repeat(9 * 1024 * 1024), 65_536)).rejects.toThrow('a line that is too long');
});
