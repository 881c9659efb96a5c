// Tests that every key family of keys.ts is either part of a backup or rebuilt by a restore.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { archiveRuleOf } from '../../../src/directory/archive/archive-families.ts';

const table = readFileSync(new URL('../../../src/directory/keys.ts', import.meta.url), 'utf8');
/** Returns example keys from the first column, without those whose base is given in the last column. */
const keys = [...table.matchAll(/^ \* \| ([^|]+) \| [^|]+ \| ([^|]+)/gm)]
  .filter(([, names = '', content = '']) => !/^(family|---)/.test(names) && !/\bbase\b/.test(content))
  .flatMap(([, names = '', content = '']) => [
    ...names.split(', '),
    ...[...content.matchAll(/`(\w+:<t>)` has the reverse links/g)].map(([, key = '']) => key),
  ])
  .map((key) => key.replace('<t>', 'main').replace('<kind>', 'delete').replace('<ref>', 'User:abc').replace(/<.*>/, 'abc')); // prettier-ignore

test('the table of key families in keys.ts has more than 40 entries, so the tests below have data', () => {
  expect(keys.length).toBeGreaterThan(40);
});

test.each(keys)('the key family %s is either part of a backup or rebuilt after a restore', (key) => {
  expect(archiveRuleOf(key)).not.toBe('unknown');
});

test('a Redis key of a family that is not in keys.ts has the archive rule `unknown`', () => {
  expect(archiveRuleOf('somethingElse:main')).toBe('unknown');
});
