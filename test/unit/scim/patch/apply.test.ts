// Tests the resource that results from PATCH operations.
import { describe, expect, test } from '@jest/globals';
import type { Resource } from '../../../../src/scim/index.ts';
import {
  applyPatch,
  ATTRIBUTES,
  auto,
  ENTERPRISE,
  expectShows,
  parsePatch,
  patched,
  patchOp,
  refusal,
  rfc,
  user,
  USER,
  userType,
} from '../sample.ts';

const WORK = { value: 'w@x', type: 'work', primary: true };
const HOME = { value: 'h@x', type: 'home' };
const start = user({
  title: 'Dr',
  name: { familyName: 'Doe', givenName: 'Jo' },
  emails: [WORK, HOME],
  [ENTERPRISE]: { department: 'R&D', costCenter: '1' },
  [ATTRIBUTES]: { region: 'eu', regions: ['eu', 'us'], levels: [1, 2], free: ['a', 'b'], note: 'n' },
});
const one = (operation: object): Resource => patched(start, [operation]);
type Situation = [name: string, operation: object, expected: object];

describe('add (RFC 7644 §3.5.2.1)', () => {
  const situations: Situation[] = [
    ['a single value replaces', { op: 'add', path: 'title', value: 'Prof' }, { title: 'Prof' }],
    ['complex value is merged', { op: 'add', path: 'name', value: { middleName: 'M' } }, { name: { familyName: 'Doe', givenName: 'Jo', middleName: 'M' } }],
    ['value is appended to a list', { op: 'add', path: 'emails', value: [{ value: 'n@x' }] }, { emails: [WORK, HOME, { value: 'n@x' }] }],
    ['a single object appends', { op: 'add', path: 'emails', value: { value: 'n@x' } }, { emails: [WORK, HOME, { value: 'n@x' }] }],
    ['an element with equal value and type is replaced', { op: 'add', path: 'emails', value: [{ value: 'H@x', type: 'HOME' }, WORK] }, { emails: [WORK, { value: 'H@x', type: 'HOME' }] }],
    ['an element with equal value and another type is appended', { op: 'add', path: 'emails', value: [{ value: 'h@x', type: 'other' }] }, { emails: [WORK, HOME, { value: 'h@x', type: 'other' }] }],
    ['newest primary wins', { op: 'add', path: 'emails', value: [{ value: 'n@x', primary: true }] }, { emails: [{ ...WORK, primary: false }, HOME, { value: 'n@x', primary: true }] }],
    ['primary by value path', { op: 'add', path: 'emails[type eq "home"].primary', value: 'True' }, { emails: [{ ...WORK, primary: false }, { ...HOME, primary: true }] }],
    ['two conditions, no match: both copied in (scim-patch: noTarget)', { op: 'add', path: 'emails[type eq "other" and primary eq false].value', value: 'o@x' }, { emails: [WORK, HOME, { value: 'o@x', type: 'other', primary: false }] }],
    ['value path without sub-attribute merges', { op: 'add', path: 'emails[type eq "home"]', value: { display: 'H' } }, { emails: [WORK, { value: 'h@x', display: 'H', type: 'home' }] }],
    ['value path without sub-attribute, no match', { op: 'add', path: 'emails[type eq "other"]', value: { value: 'o@x' } }, { emails: [WORK, HOME, { value: 'o@x', type: 'other' }] }],
    ['null adds nothing to a list', { op: 'add', path: 'emails', value: null }, { emails: [WORK, HOME] }],
    ['an absent attribute is created', { op: 'add', path: 'phoneNumbers', value: [{ value: '1' }] }, { phoneNumbers: [{ value: '1' }] }],
    ['sub-attribute of an absent extension value', { op: 'add', path: `${ENTERPRISE}:division`, value: 'D' }, { [ENTERPRISE]: { costCenter: '1', division: 'D', department: 'R&D' } }],
    ['extension root', { op: 'add', path: ENTERPRISE, value: { division: 'D' } }, { [ENTERPRISE]: { costCenter: '1', division: 'D', department: 'R&D' } }],
    ['core URN root', { op: 'add', path: USER, value: { title: 'X' } }, { title: 'X' }],
    ['pathless value path key', { op: 'add', value: { 'emails[type eq "home"].value': 'n@x' } }, { emails: [WORK, { value: 'n@x', type: 'home' }] }],
    ['list of simple values', { op: 'add', path: `${ATTRIBUTES}:regions`, value: ['us', 'asia'] }, { [ATTRIBUTES]: { regions: ['eu', 'us', 'asia'] } }],
    ['undeclared list', { op: 'add', path: `${ATTRIBUTES}:free`, value: ['b', 'c'] }, { [ATTRIBUTES]: { free: ['a', 'b', 'c'] } }],
    ['undeclared list, one value', { op: 'add', path: `${ATTRIBUTES}:free`, value: 'c' }, { [ATTRIBUTES]: { free: ['a', 'b', 'c'] } }],
  ]; // prettier-ignore
  test.each(situations)('PATCH add, %s: %j leaves %j', (_name, operation, expected) => {
    expectShows(one(operation), expected);
  });
});

describe('replace (RFC 7644 §3.5.2.3)', () => {
  const situations: Situation[] = [
    ['complex value keeps the sub-attributes that are absent in it', { op: 'replace', path: 'name', value: { givenName: 'X' } }, { name: { familyName: 'Doe', givenName: 'X' } }],
    ['null sub-attribute unsets', { op: 'replace', path: 'name', value: { givenName: null } }, { name: { familyName: 'Doe' } }],
    ['null sub-attribute by path unsets', { op: 'replace', path: 'name.givenName', value: null }, { name: { familyName: 'Doe' } }],
    ['null removes', { op: 'replace', path: 'title', value: null }, { title: undefined }],
    ['list sets the whole list', { op: 'replace', path: 'emails', value: [HOME] }, { emails: [HOME] }],
    ['empty list removes', { op: 'replace', path: 'emails', value: [] }, { emails: undefined }],
    ['pathless list', { op: 'replace', value: { emails: [HOME] } }, { emails: [HOME] }],
    ['value path sets one', { op: 'replace', path: 'emails[type eq "home"].value', value: 'n@x' }, { emails: [WORK, { value: 'n@x', type: 'home' }] }],
    ['value path sets every match', { op: 'replace', path: 'emails[value ew "@x"].display', value: 'D' }, { emails: [{ ...WORK, display: 'D' }, { ...HOME, display: 'D' }] }],
    ['whole element by value path: the condition stays true', { op: 'replace', path: 'emails[type eq "work"]', value: { value: 'n@x' } }, { emails: [{ value: 'n@x', type: 'work' }, HOME] }],
    ['null for a selected element removes it', { op: 'replace', path: 'emails[type eq "work"]', value: null }, { emails: [HOME] }],
    ['every element by a sub-attribute path', { op: 'replace', path: 'emails.display', value: 'D' }, { emails: [{ ...WORK, display: 'D' }, { ...HOME, display: 'D' }] }],
    ['dots, colons, brackets and "and" inside quotes', { op: 'replace', path: 'emails[value eq "a.b:c and [d]@x"].display', value: 'D' }, { emails: [WORK, HOME, { value: 'a.b:c and [d]@x', display: 'D' }] }],
    ['extension root merges', { op: 'replace', path: ENTERPRISE, value: { department: 'Ops' } }, { [ENTERPRISE]: { costCenter: '1', department: 'Ops' } }],
    ['extension root with null member', { op: 'replace', value: { [ENTERPRISE]: { department: null } } }, { [ENTERPRISE]: { costCenter: '1' } }],
    ['whole extension null', { op: 'replace', value: { [ENTERPRISE]: null } }, { [ENTERPRISE]: undefined }],
    ['list of numbers', { op: 'replace', path: `${ATTRIBUTES}:levels`, value: ['7'] }, { [ATTRIBUTES]: { levels: [7] } }],
    ['undeclared value changes its type', { op: 'replace', path: `${ATTRIBUTES}:free`, value: 1 }, { [ATTRIBUTES]: { free: 1 } }],
  ]; // prettier-ignore
  test.each(situations)('PATCH replace, %s: %j leaves %j', (_name, operation, expected) => {
    expectShows(one(operation), expected);
  });

  test('replacing an extension with null removes its URN from schemas', () => {
    expect(one({ op: 'replace', value: { [ENTERPRISE]: null } }).schemas).toEqual([USER, ATTRIBUTES]);
  });

  test('PATCH replace without a match answers noTarget under the profile rfc, and adds the element under other profiles', () => {
    const operation = { op: 'replace', path: 'phoneNumbers[type eq "work"].value', value: '1' };
    expect(refusal(() => patched(start, [operation], 'rfc'))).toBe('400 noTarget');
    for (const name of ['auto', 'entra', 'okta', 'lenient'] as const) {
      expect(patched(start, [operation], name).phoneNumbers).toEqual([{ value: '1', type: 'work' }]);
    }
  });

  test("PATCH add with an unmatched filter adds an element made of the filter's equalities, or answers noTarget if these do not satisfy the filter", () => {
    const operation = { op: 'add', path: 'emails[type ne "work" and type ne "home"].value', value: '1' };
    expect(one(operation).emails).toEqual([WORK, HOME, { value: '1' }]);
    const either = { op: 'add', path: 'emails[type eq "a" or type eq "b"].value', value: '1' };
    expect(refusal(() => one(either))).toBe('400 noTarget');
  });
});

describe('remove (RFC 7644 §3.5.2.2)', () => {
  const situations: Situation[] = [
    ['simple attribute', { op: 'remove', path: 'title' }, { title: undefined }],
    ['absent attribute', { op: 'remove', path: 'nickName' }, { title: 'Dr' }],
    ['sub-attribute', { op: 'remove', path: 'name.givenName' }, { name: { familyName: 'Doe' } }],
    ['complex attribute', { op: 'remove', path: 'name' }, { name: undefined }],
    ['list', { op: 'remove', path: 'emails' }, { emails: undefined }],
    ['by filter', { op: 'remove', path: 'emails[type eq "home"]' }, { emails: [WORK] }],
    ['by filter with two conditions', { op: 'remove', path: 'emails[type eq "work" and primary eq true]' }, { emails: [HOME] }],
    ['by a filter with several matches', { op: 'remove', path: 'emails[value pr]' }, { emails: undefined }],
    ['by a filter without match', { op: 'remove', path: 'emails[type eq "other"]' }, { emails: [WORK, HOME] }],
    ['sub-attribute by filter', { op: 'remove', path: 'emails[type eq "work"].primary' }, { emails: [{ value: 'w@x', type: 'work' }, HOME] }],
    ['listed values only', { op: 'remove', path: 'emails', value: [{ value: 'H@X' }] }, { emails: [WORK] }],
    ['listed with another type: nothing', { op: 'remove', path: 'emails', value: [{ value: 'h@x', type: 'work' }] }, { emails: [WORK, HOME] }],
    ['empty list of values: nothing', { op: 'remove', path: 'emails', value: [] }, { emails: [WORK, HOME] }],
    ['simple with another value: nothing', { op: 'remove', path: 'title', value: 'Prof' }, { title: 'Dr' }],
    ['simple with its value, without case', { op: 'remove', path: 'title', value: 'DR' }, { title: undefined }],
    ['simple with empty text: removed', { op: 'remove', path: 'active', value: '' }, { active: undefined }],
    ['listed simple values', { op: 'remove', path: `${ATTRIBUTES}:regions`, value: ['eu', 'zz'] }, { [ATTRIBUTES]: { regions: ['us'] } }],
    ['simple values by filter', { op: 'remove', path: `${ATTRIBUTES}:regions[value eq "eu"]` }, { [ATTRIBUTES]: { regions: ['us'] } }],
    ['undeclared', { op: 'remove', path: `${ATTRIBUTES}:note` }, { [ATTRIBUTES]: { note: undefined } }],
    ['listed values of an undeclared list', { op: 'remove', path: `${ATTRIBUTES}:free`, value: ['a'] }, { [ATTRIBUTES]: { free: ['b'] } }],
    ['extension attribute', { op: 'remove', path: `${ENTERPRISE}:department` }, { [ENTERPRISE]: { costCenter: '1' } }],
    ['extension root', { op: 'remove', path: ENTERPRISE }, { [ENTERPRISE]: undefined }],
  ]; // prettier-ignore
  test.each(situations)('PATCH remove, %s: %j leaves %j', (_name, operation, expected) => {
    expectShows(one(operation), expected);
  });
});

describe('refused PATCH operations', () => {
  const bad: [string, object, string][] = [
    ['required attribute removed', { op: 'remove', path: 'userName' }, '400 mutability'],
    ['required attribute nulled', { op: 'replace', path: 'userName', value: null }, '400 mutability'],
    ['required attribute blank', { op: 'replace', value: { userName: ' ' } }, '400 invalidValue'],
    [
      'text other than true and false for a boolean',
      { op: 'replace', path: 'active', value: 'yes' },
      '400 invalidValue',
    ],
    ['object for text', { op: 'replace', path: 'title', value: {} }, '400 invalidValue'],
    [
      'list of two for a single value',
      { op: 'replace', path: 'manager', value: ['1', '2'] },
      '400 invalidValue',
    ],
    ['text for a number', { op: 'add', path: `${ATTRIBUTES}:levels`, value: ['x'] }, '400 invalidValue'],
    [
      'object for an undeclared attribute',
      { op: 'add', path: `${ATTRIBUTES}:x`, value: {} },
      '400 invalidValue',
    ],
    ['extension root with text', { op: 'replace', path: ENTERPRISE, value: 'x' }, '400 invalidValue'],
  ];
  test.each(bad)('PATCH is refused, %s: %j answers %s', (_name, operation, expected) => {
    expect(refusal(() => one(operation))).toBe(expected);
  });

  test('a PATCH with one valid and one invalid operation leaves the whole resource unchanged', () => {
    const before = JSON.stringify(start);
    const operations = [
      { op: 'replace', path: 'title', value: 'X' },
      { op: 'replace', path: 'active', value: 'yes' },
    ];
    expect(refusal(() => patched(start, operations))).toBe('400 invalidValue');
    expect(JSON.stringify(start)).toBe(before);
  });
});

test('PATCH adds 1,000 values, adds these again without effect, and removes 999 within two seconds', () => {
  const roles = Array.from({ length: 1000 }, (_, index) => ({ value: `r${index}` }));
  const many = patched(start, [{ op: 'add', path: 'roles', value: roles }]);
  const again = patched(many, [{ op: 'add', path: 'roles', value: roles }]);
  expect(JSON.stringify(again)).toBe(JSON.stringify(many));
  const left = patched(again, [{ op: 'remove', path: 'roles', value: roles.slice(1) }]);
  expect(left.roles).toEqual([{ value: 'r0' }]);
}, 2000);

test('each PATCH operation sees the result of the earlier ones', () => {
  const operations = [
    { op: 'replace', path: 'userName', value: 'new' },
    { op: 'add', path: 'emails[type eq "other"].value', value: 'o@x' },
    { op: 'replace', path: 'emails[type eq "other"].display', value: 'O' },
    { op: 'remove', path: 'emails[type eq "home"]' },
  ];
  expect(patched(start, operations)).toMatchObject({
    userName: 'new',
    emails: [WORK, { value: 'o@x', display: 'O', type: 'other' }],
  });
});

test('PATCH of title leaves id, meta and externalId of the stored resource unchanged', () => {
  const stored = {
    ...start,
    id: '1',
    externalId: 'e',
    meta: { resourceType: 'User', version: 'W/"1"' },
  } as Resource;
  const operations = parsePatch(userType, patchOp({ op: 'replace', path: 'title', value: 'X' }), rfc);
  const result = applyPatch(userType, stored, operations, rfc);
  expect(result).toMatchObject({ id: '1', externalId: 'e', meta: stored.meta, title: 'X' });
  expect(Object.keys(result).slice(0, 4)).toEqual(['schemas', 'id', 'externalId', 'userName']);
  expect(Object.keys(result).at(-1)).toBe('meta');
});

test('a PATCH that makes an existing element primary clears primary of all other elements', () => {
  const primaryLast = user({ emails: [{ value: 'a' }, { value: 'b', primary: true }] });
  const result = patched(primaryLast, [
    { op: 'add', path: 'emails', value: [{ value: 'a', primary: true }] },
  ]);
  expect(result.emails).toEqual([
    { value: 'a', primary: true },
    { value: 'b', primary: false },
  ]);
});

test('PATCH remove of the value of an element removes the whole element', () => {
  const named = user({ emails: [{ value: 'a', type: 'work', display: 'A' }, HOME] });
  expect(patched(named, [{ op: 'Remove', path: 'emails[type eq "work"].value' }]).emails).toEqual([HOME]);
});

test('a PATCH that changes nothing leaves the canonical text unchanged', () => {
  const operations = [
    { op: 'Add', path: 'emails', value: [{ type: 'work', value: 'w@x', primary: 'True' }] },
    { op: 'replace', path: 'name', value: { givenName: 'Jo' } },
    { op: 'Remove', path: 'nickName' },
    { op: 'replace', value: { [ATTRIBUTES]: { region: 'eu' } } },
  ];
  expect(JSON.stringify(patched(start, operations))).toBe(JSON.stringify(start));
  expect(JSON.stringify(applyPatch(userType, start, [], auto))).toBe(JSON.stringify(start));
});
