import fc from 'fast-check';
import {
  evaluateFilter,
  foldCase,
  parseFilter,
  parseResource,
  profileOf,
  textTest,
  userResourceType,
  USER_URN,
} from '../../../../src/scim/index.ts';

const type = userResourceType({ userAttributes: [] });
const profile = profileOf('auto');
const testOf = (filter: string) => textTest(parseFilter(type, filter, profile));
const textOf = (title: string): string =>
  JSON.stringify(
    parseResource(type, { schemas: [USER_URN], userName: 'u', title }, { operation: 'create', profile }),
  );

test.each([
  ['title eq "Boss"', 'the boss', true],
  ['title eq "Boss"', 'clerk', false],
  ['title co "a.b"', 'aXb', false],
  ['title sw "[^a]-"', 'x[^A]-', true],
  ['title eq "boss" or title ew "rk"', 'clerk', true],
  ['title eq "boss" or title ew "rk"', 'cleaner', false],
  ['title eq "boss" and active eq true', 'clerk', false],
  ['addresses[locality eq "Lyon" and primary eq true]', 'lyon', true],
  ['addresses[locality eq "Lyon" and primary eq true]', 'paris', false],
])('%s in a text with %s: %s', (filter, title, expected) => {
  expect(testOf(filter)?.(textOf(title))).toBe(expected);
});

test.each([
  'title ne "x"',
  'not (title eq "x")',
  'title pr',
  'title gt "x"',
  'title eq null',
  'active eq true',
  'title eq "x" or active eq true',
  'title eq "é"',
  'title eq "a\\"b"',
  'title eq "a\\\\b"',
  'id eq "x"',
  'groups.display eq "x"',
  'groups[display eq "x"]',
  'meta.resourceType eq "x"',
  'meta.created eq "2020-01-01T00:00:00Z"',
])('%s can not be told from the text', (filter) => {
  expect(testOf(filter)).toBeUndefined();
});

test('no character but the known ones becomes ASCII when it is folded', () => {
  const found: string[] = [];
  for (let code = 0x80; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (/[\0-\x7f]/.test(foldCase(character))) found.push(character);
  }
  expect(found.sort()).toEqual(['\u0130', '\u037e', '\u1fef', '\u212a']);
});

const CHARACTERS = [...'ikKI;`aE."\\-', '\u0130', '\u212a', '\u037e', '\u1fef', '\u0301', '\u00e9'];
const words = fc
  .array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 6 })
  .map((some) => some.join(''));

test('what matches is never turned away', () => {
  const judge = (title: string, value: string, operator: string): void => {
    const filter = parseFilter(type, `title ${operator} ${JSON.stringify(value)}`, profile);
    const text = textOf(title);
    const mayMatch = textTest(filter);
    if (mayMatch && !mayMatch(text)) expect(evaluateFilter(filter, JSON.parse(text))).toBe(false);
  };
  fc.assert(fc.property(words, words, fc.constantFrom('eq', 'co', 'sw', 'ew'), judge), { numRuns: 2000 });
});
