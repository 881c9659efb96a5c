// Tests the sort keys of resources and their order.
import { describe, expect, test } from '@jest/globals';
import { compareKeys, parseSort, type SortKey } from '../../../src/scim/index.ts';
import { ATTRIBUTES, auto, ENTERPRISE, refusal, rfc, USER, user, userType } from './sample.ts';

const keyOf = (sortBy: string, resource: unknown): SortKey =>
  parseSort(userType, sortBy, auto).keyOf(resource);

describe('compared values (RFC 7644 §3.4.2.3)', () => {
  const jo = user({
    userName: 'Jo@X.example',
    externalId: 'Ext-1',
    name: { familyName: 'Müller' },
    emails: [
      { value: 'B@x', type: 'home' },
      { value: 'A@x', type: 'work', primary: true },
    ],
    phoneNumbers: [{ value: '22' }, { value: '11' }],
    active: false,
    [ENTERPRISE]: { employeeNumber: 'E7' },
    [ATTRIBUTES]: { region: 'EU', clearance: 3, levels: [9, 1], free: 'Text' },
  });
  const cases: [string, SortKey][] = [
    ['userName', 'jo@x.example'],
    ['USERNAME', 'jo@x.example'],
    [`${USER}:userName`, 'jo@x.example'],
    ['externalId', 'Ext-1'],
    ['name.familyName', 'müller'],
    ['name.givenName', undefined],
    ['nickName', undefined],
    ['emails', 'a@x'],
    ['emails.value', 'a@x'],
    ['emails.type', 'work'],
    ['phoneNumbers', '22'],
    ['active', false],
    [`${ENTERPRISE}:employeeNumber`, 'e7'],
    [`${ATTRIBUTES}:clearance`, 3],
    [`${ATTRIBUTES}:levels`, 9],
    [`${ATTRIBUTES}:free`, 'Text'],
    [`${ATTRIBUTES}:none`, undefined],
  ];
  test.each(cases)('sortBy %s gives the sort key %p', (sortBy, expected) => {
    expect(keyOf(sortBy, jo)).toBe(expected);
  });

  test('sortBy on a date treats equal points in time as equal, and an invalid date as absent', () => {
    const at = (created: string): SortKey => keyOf('meta.created', { meta: { created } });
    expect(at('2026-01-01T01:00:00+01:00')).toBe(at('2026-01-01T00:00:00.000Z'));
    expect(at('yesterday')).toBeUndefined();
  });

  test('sortBy treats empty text, null and values of another type as absent', () => {
    for (const userName of ['', null, {}, [], [[]]]) expect(keyOf('userName', { userName })).toBeUndefined();
    for (const resource of [undefined, null, 7, 'text', []])
      expect(keyOf('emails.value', resource)).toBeUndefined();
  });
});

describe('sortBy that names nothing to compare', () => {
  test.each(['name', 'meta', 'addresses', USER, ENTERPRISE, 'emails[type eq "work"].value', 'a b', '.', ''])(
    'sortBy "%s" is 400 invalidValue also under the profile auto',
    (sortBy) => {
      expect(refusal(() => parseSort(userType, sortBy, auto))).toBe('400 invalidValue');
    },
  );

  test.each(['nosuch', 'name.nosuch', 'urn:x:y:z', 'password', '__proto__', 'constructor'])(
    'sortBy "%s" is ignored under profiles that ignore unknown attributes, and answers 400 invalidValue under all others',
    (sortBy) => {
      expect(keyOf(sortBy, { userName: 'jo', password: 'secret' })).toBeUndefined();
      expect(refusal(() => parseSort(userType, sortBy, rfc))).toBe('400 invalidValue');
    },
  );
});

describe('order of keys', () => {
  test('sort keys are ordered as numbers, texts, booleans and absent ones, and in reverse when descending', () => {
    const keys: SortKey[] = [undefined, true, 'b', 10, false, 'a', undefined, 9, 'B', 'ä'];
    const sorted = [9, 10, 'B', 'a', 'b', 'ä', false, true, undefined, undefined];
    // Array.sort itself puts undefined last, so the values are wrapped to test the comparison.
    const order = (sign: number): SortKey[] =>
      keys
        .map((key) => ({ key }))
        .sort((a, b) => sign * compareKeys(a.key, b.key))
        .map(({ key }) => key);
    expect(order(1)).toEqual(sorted);
    expect(order(-1)).toEqual([...sorted].reverse());
  });

  test('equal sort keys compare as equal', () => {
    for (const key of [undefined, '', 0, false]) expect(compareKeys(key, key)).toBe(0);
  });
});
