// Tests the filter parser: refused filters, lenient forms, and equalities that an index can answer.
import { describe, expect, test } from '@jest/globals';
import {
  equalityOf,
  parseFilter,
  profileOf,
  ScimError,
  type DeviationName,
} from '../../../../src/scim/index.ts';
import { ATTRIBUTES, auto, ENTERPRISE, groupType, refusal, rfc, USER, userType } from '../sample.ts';

describe('refused filters (400 invalidFilter)', () => {
  const bad = [
    '',
    '   ',
    'userName',
    'userName eq',
    'userName eq "x',
    'userName eq "x\\"',
    'userName eq "\\q"',
    'userName is "x"',
    'userName eq "x" "y"',
    'userName eq "x" and',
    'userName eq "x" xor title pr',
    'and userName pr',
    '(userName pr',
    'userName pr)',
    'not userName pr',
    '"userName" eq "x"',
    'eq "x"',
    'foo eq "x"',
    'userName.foo eq "x"',
    'name eq "x"',
    'addresses co "x"',
    'name.foo pr',
    'password pr',
    'password eq "x"',
    '__proto__ pr',
    'constructor.name eq "x"',
    'emails[type eq "work"',
    'emails[]',
    'emails[userName eq "x"]',
    'emails[emails[type eq "x"]]',
    'userName[value eq "x"]',
    'emails.value[type eq "x"]',
    'emails[type eq "work"].foo eq "x"',
    'active co true',
    'active gt false',
    'active eq "maybe"',
    'userName gt null',
    `${ATTRIBUTES}:clearance eq "high"`,
    `${ATTRIBUTES}:clearance co 3`,
    `${ATTRIBUTES}:__proto__ eq "x"`,
    'meta.created gt "yesterday"',
    'x509Certificates gt "AA"',
    'urn:other:attr eq "x"',
    `${USER} pr`,
  ];
  test.each(bad)('the filter %s is 400 invalidFilter', (text) => {
    expect(refusal(() => parseFilter(userType, text, auto))).toBe('400 invalidFilter');
  });

  test('the error for an invalid filter names the position in the filter', () => {
    expect(() => parseFilter(userType, 'userName eq "a" and foo pr', auto)).toThrow('position 20');
    expect(() => parseFilter(userType, 'userName zz "a"', auto)).toThrow('position 9');
  });

  test('a filter longer than 4096 characters, or deeper than 32 brackets, is refused', () => {
    const deep = (depth: number) => `${'('.repeat(depth)}title pr${')'.repeat(depth)}`;
    expect(refusal(() => parseFilter(userType, `userName eq "${'x'.repeat(5000)}"`, auto))).toBe(
      '400 invalidFilter',
    );
    expect(refusal(() => parseFilter(userType, deep(33), auto))).toBe('400 invalidFilter');
    expect(refusal(() => parseFilter(userType, deep(1000), auto))).toBe('400 invalidFilter');
    expect(refusal(() => parseFilter(userType, deep(32), auto))).toBe('accepted');
    expect(refusal(() => parseFilter(userType, Array(200).fill('title pr').join(' and '), auto))).toBe(
      'accepted',
    );
  });
});

describe('filters that only lenient profiles take', () => {
  const lenient = [
    'userName eq jdoe@corp.example',
    'externalId eq 4045ea11-0000-1111',
    'employeeNumber eq 77',
    'active eq "True"',
    'emails[type eq "work"].value eq "x"',
    'manager eq "7"',
  ];
  test.each(lenient)('only lenient profiles accept the filter %s', (text) => {
    expect(refusal(() => parseFilter(userType, text, auto))).toBe('accepted');
    expect(refusal(() => parseFilter(userType, text, rfc))).toBe('400 invalidFilter');
  });
});

describe('the equality of a filter that an index can answer', () => {
  const equalities: [string, { attribute: string; value: string } | undefined][] = [
    ['userName eq "Jo@X.example"', { attribute: 'username', value: 'Jo@X.example' }],
    ['userName eq "5f1c0c4e-random"', { attribute: 'username', value: '5f1c0c4e-random' }],
    [`${USER}:userName Eq "a"`, { attribute: 'username', value: 'a' }],
    ['externalId eq "4045ea11"', { attribute: 'externalid', value: '4045ea11' }],
    ['emails eq "a"', { attribute: 'emails.value', value: 'a' }],
    ['emails.value eq "a"', { attribute: 'emails.value', value: 'a' }],
    ['emails[type eq "work" and value eq "a"]', { attribute: 'emails.value', value: 'a' }],
    ['emails[type eq "work"].value eq "a"', { attribute: 'emails.value', value: 'a' }],
    ['id eq "9" and manager eq "7"', { attribute: 'id', value: '9' }],
    ['title eq "x" and userName eq "a"', { attribute: 'username', value: 'a' }],
    ['active eq true and (externalId eq "1" and title pr)', { attribute: 'externalid', value: '1' }],
    ['userName eq "a" or userName eq "b"', undefined],
    ['not (userName eq "a")', undefined],
    ['userName co "a"', undefined],
    ['userName pr', undefined],
    ['active eq true', undefined],
  ];
  test.each(equalities)('the equality by which an index can answer the filter %s is %j', (text, expected) => {
    expect(equalityOf(parseFilter(userType, text, auto))).toEqual(expected);
  });

  test('the Entra reference check `id eq "1" and members eq "9"` is parsed for groups', () => {
    expect(equalityOf(parseFilter(groupType, 'id eq "1" and members eq "9"', auto))).toEqual({
      attribute: 'id',
      value: '1',
    });
    expect(equalityOf(parseFilter(groupType, 'members eq "9"', auto))).toEqual({
      attribute: 'members.value',
      value: '9',
    });
  });
});

describe('a filter whose parsed form is cached', () => {
  test('a filter with a deviation is parsed twice → the deviation is counted each time', () => {
    const seen: DeviationName[] = [];
    const profile = profileOf('auto', (kind) => seen.push(kind));
    const first = parseFilter(userType, 'manager eq boss', profile);
    expect(parseFilter(userType, 'manager eq boss', profile)).toEqual(first);
    expect(seen).toEqual(Array(2).fill(['unqualified-extension', 'unquoted-filter-value']).flat());
  });

  test('a filter that one profile has accepted is refused under a profile that does not allow its deviation', () => {
    parseFilter(userType, 'userName eq lent', auto);
    expect(refusal(() => parseFilter(userType, 'userName eq lent', rfc))).toBe('400 invalidFilter');
  });
});

test('enterprise attributes in a filter may have their URN in any letter case', () => {
  const filter = parseFilter(userType, `${ENTERPRISE.toUpperCase()}:MANAGER.VALUE eq "7"`, rfc);
  expect(equalityOf(filter)?.attribute).toBe(`${ENTERPRISE}:manager.value`.toLowerCase());
  expect(() => parseFilter(userType, 'emails[', auto)).toThrow(ScimError);
});
