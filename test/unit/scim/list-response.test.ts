// Tests the parameters of lists and of .search, and the text of a ListResponse.
import { describe, expect, test } from '@jest/globals';
import {
  listResponse,
  listResponseText,
  parseListQuery,
  parseSearchRequest,
  profileOf,
} from '../../../src/scim/index.ts';
import { auto, refusal } from './sample.ts';

const limits = { defaultCount: 100, maxCount: 500 };
const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

describe('list parameters (RFC 7644 §3.4.2.4)', () => {
  const queries: [string, object][] = [
    ['', { startIndex: 1, count: 100 }],
    ['startIndex=1&count=2', { startIndex: 1, count: 2 }],
    ['startIndex=0', { startIndex: 1, count: 100 }],
    ['startIndex=-5&count=-1', { startIndex: 1, count: 0 }],
    ['count=0', { startIndex: 1, count: 0 }],
    ['count=100000', { startIndex: 1, count: 500 }],
    ['count=', { startIndex: 1, count: 100 }],
    ['filter=userName+eq+"jo@x.example"&', { startIndex: 1, count: 100, filterText: 'userName eq "jo@x.example"' }],
    ['aadOptscim062020&filter=id%20pr', { startIndex: 1, count: 100, filterText: 'id pr' }],
    ['attributes=id&excludedAttributes=members', { startIndex: 1, count: 100, attributes: 'id', excludedAttributes: 'members' }],
    ['sortBy=userName&sortOrder=Descending', { startIndex: 1, count: 100, sortBy: 'userName', sortOrder: 'descending' }],
  ]; // prettier-ignore
  test.each(queries)('the list parameters "%s" are read as the query %j', (query, expected) => {
    expect(parseListQuery(new URLSearchParams(query), limits)).toEqual(expected);
  });

  test.each(['filter=', 'filter=%20', 'Filter='])(
    'a list request with %s answers 400 invalidFilter instead of a list of every user',
    (query) => {
      expect(refusal(() => parseListQuery(new URLSearchParams(query), limits))).toBe('400 invalidFilter');
    },
  );

  test.each(['count=ten', 'startIndex=1.5', 'count=1e3', 'count=99999999999999999999', 'sortOrder=up'])(
    'the list parameter %s answers 400 invalidValue',
    (query) => {
      expect(refusal(() => parseListQuery(new URLSearchParams(query), limits))).toBe('400 invalidValue');
    },
  );
});

describe('POST /.search (RFC 7644 §3.4.3)', () => {
  test('.search gives the same query as a GET', () => {
    const body = {
      schemas: [SEARCH],
      attributes: ['displayName', 'userName'],
      filter: 'displayName sw "smith"',
      startIndex: 1,
      count: 10,
    };
    expect(parseSearchRequest(body, limits, auto)).toEqual({
      startIndex: 1,
      count: 10,
      attributes: 'displayName,userName',
      filterText: 'displayName sw "smith"',
    });
  });

  const bad: [unknown, string][] = [
    [[], '400 invalidSyntax'],
    ['x', '400 invalidSyntax'],
    [{ filter: 1 }, '400 invalidValue'],
    [{ count: 'x' }, '400 invalidValue'],
    [{ attributes: [1] }, '400 invalidValue'],
    [{ attributes: {} }, '400 invalidValue'],
  ];
  test.each(bad)('.search with the body %j answers %s', (body, expected) => {
    expect(refusal(() => parseSearchRequest(body, limits, auto))).toBe(expected);
  });

  test('only the profile rfc requires the message schema in .search', () => {
    expect(refusal(() => parseSearchRequest({}, limits, auto))).toBe('accepted');
    expect(refusal(() => parseSearchRequest({}, limits, profileOf('rfc')))).toBe('400 invalidSyntax');
  });
});

describe('ListResponse (RFC 7644 §3.4.2)', () => {
  test('a list without matches is answered 200 with totalResults 0 and empty Resources', () => {
    expect(listResponse([], { totalResults: 0, startIndex: 1 })).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: 0,
      startIndex: 1,
      itemsPerPage: 0,
      Resources: [],
    });
  });

  test.each([[[]], [[{ id: '1' }]], [[{ id: '1' }, { id: '"itemsPerPage":0' }]]])(
    'the streamed text of a ListResponse parses to its object: %j',
    (page) => {
      const position = { totalResults: 70, startIndex: 11 };
      const text = listResponseText(
        page.map((item) => JSON.stringify(item)),
        position,
      );
      expect(JSON.parse(text)).toEqual(listResponse(page, position));
    },
  );
});
