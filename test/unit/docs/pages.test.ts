// Checks every page: short cells in tables, and files of the program that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const below = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.includes('node_modules'))
    .map((path) => join(folder, path));

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'helm', 'bench'].flatMap(below).filter((path) => path.endsWith('.md')),
];
/** Written by `npm run coverage-table` from the names of tests. */
const GENERATED = 'docs/platform-coverage.md';
const MOST_CHARACTERS = 120;
/** Largest length of the README in lines: one screen and a half. */
const MOST_LINES = 120;

test('README has at most 120 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
});

test.each(pages.filter((page) => page !== GENERATED))(
  '%s has no table cell of over 120 characters',
  (page) => {
    const rows = read(page)
      .split('\n')
      .filter((line) => /^\|.*\|$/.test(line) && !/^\|[\s|:-]+$/.test(line));
    const cells = rows.flatMap((row) => row.split(/(?<!\\)\|/)).map((cell) => cell.trim());
    expect(cells.filter((cell) => cell.length > MOST_CHARACTERS)).toEqual([]);
  },
);

const files = ['src', 'test', 'bench', '.ci', 'config', 'helm'].flatMap(below).map((path) => `/${path}`);

test.each(pages.filter((page) => page !== 'CHANGELOG.md'))('every file that %s names exists', (page) => {
  const named = [...read(page).matchAll(/`([\w./-]+\.(?:ts|lua|mjs|cjs))`/g)].map(([, path = '']) => path);
  expect(
    named.filter((path) => !existsSync(join(root, path)) && !files.some((file) => file.endsWith(`/${path}`))),
  ).toEqual([]);
});
