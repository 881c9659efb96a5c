// Tests the lint rule about the first words of comments and test names.
import { join } from 'node:path';
import { Linter, type Rule } from 'eslint';

const { default: rule } = (await import(join(import.meta.dirname, '../../../.ci/plain-words.mjs'))) as {
  default: Rule.RuleModule;
};
const faultsOf = (code: string): string[] =>
  new Linter()
    .verify(code, [
      { plugins: { local: { rules: { 'plain-words': rule } } }, rules: { 'local/plain-words': 'error' } },
    ])
    .map(({ message }) => message);

test.each([
  ['a comment that begins with a pronoun', '// Who asks gets one.'],
  ['a second sentence that begins with a pronoun', '// Reads one row. What is left waits.'],
  ['a sentence that begins with a pronoun on the second line', '// Reads one row.\n// Nobody waits.'],
  ['a function comment that begins with a pronoun', '/**\n * Whatever is left.\n * @returns one\n */'],
  ['"those" without a noun', '// Those that wait are counted.'],
  ['the name of a test', "test('what is asked for is answered', f);"],
  ['the name of a table of tests', "it.each(rows)('nobody is told', f);"],
])('the lint rule reports %s', (_what, code) => {
  expect(faultsOf(code)).toEqual([expect.stringMatching(/^Name the subject/)]);
});

test('the lint rule reports "cannot" written as two words', () => {
  expect(faultsOf('f(); // This can not be')).toEqual(['Write "cannot".']);
});

test.each([
  ['"those" with its noun', '// Those rows are counted. Such a row is one.'],
  ['a pronoun inside of a sentence', '// Tells the caller\n// what is left, and who asked.'],
  ['a value', "call('what is left');"],
  ['a tag', '/** Reads. @returns what is left */'],
])('the lint rule about first words accepts %s', (_what, code) => {
  expect(faultsOf(code)).toEqual([]);
});
