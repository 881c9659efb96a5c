import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
const MOST_CHARACTERS = 200;
/** One screen and a half. */
const MOST_LINES = 120;

test('README has at most 120 lines', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(MOST_LINES);
});

test('README has no table cell of over 200 characters', () => {
  const rows = README.split('\n').filter((line) => /^\|.*\|$/.test(line) && !/^\|[\s|:-]+$/.test(line));
  const cells = rows.flatMap((row) => row.split(/(?<!\\)\|/)).map((cell) => cell.trim());
  expect(cells.filter((cell) => cell.length > MOST_CHARACTERS)).toEqual([]);
});
