// Tests cursors of lists, and attribute names in queries over several resource types.
import { describe, expect, test } from '@jest/globals';
import {
  listResponse,
  listResponseText,
  parseCursor,
  parseFilter,
  parseListQuery,
  parseSearchRequest,
  parseSort,
  spanningType,
  toCursor,
} from '../../../src/scim/index.ts';
import { ENTERPRISE, GROUP, groupType, refusal, rfc, USER, userType } from './sample.ts';

const limits = { defaultCount: 100, maxCount: 500 };
const QUERY = ['User', 'userName sw "a"'];

describe('cursors (RFC 9865 §2)', () => {
  const position = { type: 'User', after: 1234567890123, totalResults: 70 };
  const cursor = toCursor(position, QUERY);

  test('a cursor is URL-safe and is decoded to its position, with and without totalResults', () => {
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(parseCursor(cursor, QUERY)).toEqual(position);
    const uncounted = { ...position, totalResults: undefined };
    expect(parseCursor(toCursor(uncounted, ['Group']), ['Group'])).toEqual(uncounted);
  });

  test('a cursor does not contain the filter', () => {
    expect(Buffer.from(cursor, 'base64url').toString()).not.toContain('userName');
  });

  test.each([[['User', 'userName sw "b"']], [['Group', 'userName sw "a"']], [['User']], [[]]])(
    'a cursor used with another query is refused: %j',
    (query) => {
      expect(refusal(() => parseCursor(cursor, query))).toBe('400 invalidCursor');
    },
  );

  const forged = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const bad: string[] = [
    'x',
    '%%%',
    cursor.slice(0, -4),
    `${cursor}=`,
    `${cursor} `,
    'A'.repeat(100_000),
    forged(null),
    forged({}),
    forged({ __proto__: { after: 1 } }),
    forged([]),
    forged(['User', -1, 0, 'x']),
    forged(['User', 1.5, 0, 'x']),
    forged(['User', '1', 0, 'x']),
    forged(['User', 1, 'many', 'x']),
    forged([7, 1, 0, 'x']),
    forged(['User', 1, 0]),
    forged(['User', 1, 0, 'x']),
  ];
  test.each(bad.map((text) => [text.slice(0, 60), text]))(
    'the cursor "%s" is 400 invalidCursor',
    (_shown, text) => {
      expect(refusal(() => parseCursor(text, QUERY))).toBe('400 invalidCursor');
    },
  );
});

describe('cursor parameters (RFC 9865 §2, §2.1)', () => {
  const accepted: [string, object][] = [
    ['cursor=', { startIndex: 1, count: 100, cursor: '' }],
    ['cursor=&count=7', { startIndex: 1, count: 7, cursor: '' }],
    ['cursor=abc&count=9999', { startIndex: 1, count: 500, cursor: 'abc' }],
    ['cursor=abc&startIndex=', { startIndex: 1, count: 100, cursor: 'abc' }],
  ];
  test.each(accepted)('the list parameters %s are read as the query %j', (query, expected) => {
    expect(parseListQuery(new URLSearchParams(query), limits)).toEqual(expected);
  });

  const refused: [string, string][] = [
    ['cursor=&count=0', '400 invalidCount'],
    ['cursor=&count=-1', '400 invalidCount'],
    ['cursor=&count=ten', '400 invalidCount'],
    ['cursor=&startIndex=1', '400 invalidValue'],
    ['cursor=abc&startIndex=5', '400 invalidValue'],
    ['count=ten', '400 invalidValue'],
  ];
  test.each(refused)('the list parameters %s answer %s', (query, expected) => {
    expect(refusal(() => parseListQuery(new URLSearchParams(query), limits))).toBe(expected);
  });

  test('cursor and count in a .search body are read as in a URL', () => {
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
    expect(parseSearchRequest({ schemas, cursor: '', count: 2 }, limits, rfc)).toEqual({
      startIndex: 1,
      count: 2,
      cursor: '',
    });
    expect(parseSearchRequest({ schemas, cursor: null }, limits, rfc)).toEqual({ startIndex: 1, count: 100 });
    for (const cursor of [7, {}, [], true]) {
      expect(refusal(() => parseSearchRequest({ schemas, cursor }, limits, rfc))).toBe('400 invalidCursor');
    }
  });

  test('a list answer of cursor paging has nextCursor and no startIndex, and its streamed text parses to the same object', () => {
    const position = { totalResults: 3, nextCursor: 'abc' };
    const answer = listResponse([{ id: '1' }], position);
    expect(answer).toMatchObject({ totalResults: 3, itemsPerPage: 1, nextCursor: 'abc' });
    expect(answer).not.toHaveProperty('startIndex');
    expect(JSON.parse(listResponseText(['{"id":"1"}'], position))).toEqual(answer);
  });
});

describe('names in a query over several types (RFC 7644 §3.4.2.1)', () => {
  const users = spanningType(userType, [groupType]);
  const groups = spanningType(groupType, [userType]);

  test.each([
    'userName eq "a" or members pr',
    'displayName sw "a"',
    `${USER}:userName pr`,
    `${GROUP}:displayName pr`,
    `${ENTERPRISE}:manager.value eq "x"`,
    'emails[type eq "work"]',
    'meta.resourceType eq "User"',
  ])('the attributes of the filter %s are known in a query over users and groups', (filter) => {
    for (const type of [users, groups])
      expect(refusal(() => parseFilter(type, filter, rfc))).toBe('accepted');
  });

  test.each(['nosuch pr', `${USER}:members pr`, `${GROUP}:userName pr`, 'members.nosuch pr'])(
    'an attribute of the filter %s is unknown in a query over users and groups',
    (filter) => {
      for (const type of [users, groups])
        expect(refusal(() => parseFilter(type, filter, rfc))).toBe('400 invalidFilter');
    },
  );

  test('users and groups are sorted together → an attribute that only the other type has counts as absent', () => {
    const named = { displayName: 'a', userName: 'a' };
    const key = (type: typeof users, sortBy: string) => parseSort(type, sortBy, rfc).keyOf(named);
    expect([key(users, 'displayName'), key(users, `${USER}:displayName`)]).toEqual(['a', 'a']);
    expect(key(users, `${GROUP}:displayName`)).toBeUndefined();
    expect(key(users, 'members')).toBeUndefined();
  });

  test('a filter of users by `members`, or of groups by `userName`, is 400 invalidFilter, although a query over both types allows it', () => {
    expect(refusal(() => parseFilter(userType, 'members pr', rfc))).toBe('400 invalidFilter');
    expect(refusal(() => parseFilter(groupType, 'userName pr', rfc))).toBe('400 invalidFilter');
  });
});
