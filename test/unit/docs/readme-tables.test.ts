import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
const MOST_CHARACTERS = 200;
/** Cells that are still longer. The number only ever goes down. */
const STILL_LONGER = 9;

test('README gets no more table cells of over 200 characters', () => {
  const rows = README.split('\n').filter((line) => /^\|.*\|$/.test(line) && !/^\|[\s|:-]+$/.test(line));
  const cells = rows.flatMap((row) => row.split(/(?<!\\)\|/)).map((cell) => cell.trim());
  expect(cells.filter((cell) => cell.length > MOST_CHARACTERS).length).toBeLessThanOrEqual(STILL_LONGER);
});
