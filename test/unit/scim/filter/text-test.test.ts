import fc from 'fast-check';
import {
  evaluateFilter,
  foldCase,
  parseFilter,
  parseResource,
  profileOf,
  sureTest,
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
])('%s needs the parsed resource', (filter) => {
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

test('a resource that matches the filter always passes the test of its text', () => {
  const judge = (title: string, value: string, operator: string): void => {
    const filter = parseFilter(type, `title ${operator} ${JSON.stringify(value)}`, profile);
    const text = textOf(title);
    const mayMatch = textTest(filter);
    if (mayMatch && !mayMatch(text)) expect(evaluateFilter(filter, JSON.parse(text))).toBe(false);
  };
  fc.assert(fc.property(words, words, fc.constantFrom('eq', 'co', 'sw', 'ew'), judge), { numRuns: 2000 });
});

describe('resources that certainly match', () => {
  const open = userResourceType({ userAttributes: [{ name: 'title', type: 'string' }] });
  const sureOf = (filter: string) => sureTest(open, parseFilter(open, filter, profile));
  const ATTRIBUTES = 'urn:cube:params:1.0:UserAttribute';

  test.each([
    ['title eq "Boss"', { title: 'bOSS' }, true],
    ['title eq "Boss"', { title: 'Bosses' }, false],
    ['title sw "bo" and active eq true', { title: 'Boss', active: true }, true],
    ['title sw "bo" and active eq true', { title: 'Boss', active: false }, false],
    ['title eq "x" or userType eq "y"', { userType: 'Y' }, true],
    ['externalId eq "AbC"', { externalId: 'abc' }, false],
    ['title eq "Boss"', { [ATTRIBUTES]: { title: 'Boss' } }, false],
    ['title eq "Boss"', { nickName: 'a","title":"Boss' }, false],
    ['title co "001f"', { title: 'a\u001fb' }, false],
    ['title co "cafe"', { title: 'cafe\u0301' }, false],
  ])('%s: %j %s', (filter, values, expected) => {
    const body = { schemas: [USER_URN], userName: 'u', ...values };
    const text = JSON.stringify(parseResource(open, body, { operation: 'create', profile }));
    expect(sureOf(filter)?.(text)).toBe(expected);
  });

  test.each([
    'emails.value eq "x"',
    'not (title eq "x")',
    'title ne "x"',
    'title pr',
    'title gt "x"',
    'id eq "x"',
    'meta.created eq "2020-01-01T00:00:00Z"',
    'title eq "x" and name.givenName eq "y"',
    `${ATTRIBUTES}:title eq "x"`,
  ])('%s is never sure', (filter) => {
    expect(sureOf(filter)).toBeUndefined();
  });

  test('does match', () => {
    const judge = (title: string, other: string, value: string, operator: string): void => {
      const filter = parseFilter(open, `title ${operator} ${JSON.stringify(value)}`, profile);
      const body = {
        schemas: [USER_URN],
        userName: 'u',
        title,
        nickName: other,
        [ATTRIBUTES]: { title: other },
      };
      const text = JSON.stringify(parseResource(open, body, { operation: 'create', profile }));
      if (sureTest(open, filter)?.(text)) expect(evaluateFilter(filter, JSON.parse(text))).toBe(true);
    };
    const operators = fc.constantFrom('eq', 'co', 'sw', 'ew');
    fc.assert(fc.property(words, words, words, operators, judge), { numRuns: 2000 });
  });
});
