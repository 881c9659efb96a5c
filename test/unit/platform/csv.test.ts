// Tests the parser of streamed CSV.
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { csvRows } from '../../../src/platform/csv.ts';

/** Yields pieces of `length` characters; a decoder of UTF-8 never splits a surrogate pair either. */
async function* pieces(text: string, length: number): AsyncGenerator<string> {
  await Promise.resolve();
  const characters = [...text];
  for (let start = 0; start < characters.length; start += length)
    yield characters.slice(start, start + length).join('');
}

async function read(text: string, length = 7): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const row of csvRows(pieces(text, length), (reason) => new Error(reason))) rows.push(row);
  return rows;
}

test('quoted cells may contain commas, quotes and line ends (RFC 4180 §2)', async () => {
  expect(await read('a,b\r\n"x, ""y""\r\nz",2\r\n')).toEqual([
    ['a', 'b'],
    ['x, "y"\r\nz', '2'],
  ]);
});

test.each([
  [
    'a,b\nc,d',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'a,b\r\nc,d\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'a,\r\n,""\r\n',
    [
      ['a', ''],
      ['', ''],
    ],
  ],
  ['one', [['one']]],
  ['', []],
])('the CSV text %j is read as the rows %j', async (text, rows) => {
  for (const length of [1, 2, 100]) expect(await read(text, length)).toEqual(rows);
});

test('a CSV row above the size limit is refused', async () => {
  await expect(read(`a\r\n${'x'.repeat(9_000_000)}\r\n`, 65_536)).rejects.toThrow('too long');
});

test('a text that ends inside a quoted cell throws', async () => {
  await expect(read('a,b\r\n"c,d\r\n')).rejects.toThrow('inside a cell');
});

test('quoted CSV values are read unchanged wherever the stream is split into chunks', async () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', 'ü', '😀') });
  const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(table, fc.integer({ min: 1, max: 9 }), async (rows, length) => {
      const text = stringify(rows, { record_delimiter: '\r\n', quoted: true });
      expect(await read(text, length)).toEqual(rows);
    }),
    { numRuns: 300 },
  );
});
