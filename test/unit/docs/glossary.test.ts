// Tests the glossary: few words, each short, sorted, and used in more than one folder of src.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const entries = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, word = '', meaning = '']) => ({ word, meaning }));

/** Contents of src by file. */
const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(?:ts|lua|js)$/.test(path))
  .map((path) => ({ folder: path.split('/')[0], text: readFileSync(join(ROOT, 'src', path), 'utf8') }));

/** Returns the folders of src with a file that uses the word: alone, in the plural, or as part of a name in camelCase. */
function foldersWith(word: string): Set<string | undefined> {
  const pattern = new RegExp(word.split(' ').join('[ _]?'), 'i');
  return new Set(files.filter(({ text }) => pattern.test(text)).map(({ folder }) => folder));
}

test('the glossary has at most 60 entries, sorted by letter', () => {
  const words = entries.map(({ word }) => word);
  expect(words.length).toBeGreaterThan(40);
  expect(words.length).toBeLessThanOrEqual(60);
  expect(words).toEqual([...words].sort((a, b) => a.localeCompare(b, 'en')));
});

test('each meaning in the glossary has at most 100 characters, without the address of its link', () => {
  const shown = entries.map(({ meaning }) => meaning.replace(/\]\([^)]*\)/g, ']'));
  expect(shown.filter((meaning) => meaning.length > 100)).toEqual([]);
});

test('each word of the glossary is used in more than one folder of src', () => {
  const words = entries.flatMap(({ word }) => word.split(', '));
  expect(words.filter((word) => foldersWith(word).size < 2)).toEqual([]);
});
