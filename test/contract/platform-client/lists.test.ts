// Tests lists over all pages: the result is complete, or the call fails.
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  IncompleteList,
  PlatformAborted,
  PlatformDecode,
  PlatformResponse,
} from '../../../src/platform/errors.ts';
import {
  answerJson,
  startFakePlatform,
  thrownBy,
  type Asked,
  type FakePlatform,
  type Script,
} from './fake-platform.ts';

let platform: FakePlatform;
const start = async (script: Script, options = {}): Promise<FakePlatform> =>
  (platform = await startFakePlatform(script, options));
afterEach(() => platform.stop());

interface Page {
  totalResults: number;
  Resources: { id: string | number; userName: string }[];
}
const usersOf = (from: number, to: number): Page['Resources'] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i, userName: `user${from + i}` }));

/** Serves a correct list of `total` users with a page cap; `bend` may change a page. */
const directory =
  (total: number, cap = 1000, bend: (page: Page, startIndex: number) => Page = (page) => page): Script =>
  ({ url }, response) => {
    const startIndex = Number(url.searchParams.get('startIndex'));
    const count = Math.min(cap, Number(url.searchParams.get('count') ?? 20));
    const Resources = usersOf(startIndex, Math.min(startIndex + count, total + 1));
    // itemsPerPage is wrong on purpose (contract 2.5).
    const page = bend({ totalResults: total, Resources }, startIndex);
    answerJson(response, { ...page, startIndex, itemsPerPage: 20 });
  };

async function walk(options: {
  count: number;
  inFlight?: number;
  signal?: AbortSignal;
}): Promise<string[][]> {
  const pages: string[][] = [];
  for await (const page of platform.client.users.pages(options))
    pages.push(page.resources.map(({ id }) => id));
  return pages;
}
const starts = (asked: Asked[]): number[] =>
  asked.map(({ url }) => Number(url.searchParams.get('startIndex')));

describe('startIndex lists', () => {
  test.each([
    [0, 3, 1, [1]],
    [3, 3, 1, [1]],
    [7, 3, 1, [1, 4, 7]],
    [7, 3, 4, [1, 4, 7]],
  ])(
    'a list of %i users read in pages of %i with %i concurrent requests is complete',
    async (total, count, inFlight, expected) => {
      await start(directory(total));
      const ids = await walk({ count, inFlight });
      expect(ids.flat()).toEqual(usersOf(1, total + 1).map(({ id }) => String(id)));
      expect(starts(platform.asked).sort((a, b) => a - b)).toEqual(expected);
    },
  );

  test('when the platform returns pages of two instead of the requested 100, a list of seven users is read to its end', async () => {
    await start(directory(7, 2));
    expect((await walk({ count: 100 })).map((ids) => ids.length)).toEqual([2, 2, 2, 1]);
  });

  test.each<[string, (page: Page, startIndex: number) => Page]>([
    ['an empty page before the end', (page, at) => (at === 4 ? { ...page, Resources: [] } : page)],
    ['an empty first page', (page) => ({ ...page, Resources: [] })],
    [
      'a short page before the end',
      (page, at) => (at === 4 ? { ...page, Resources: page.Resources.slice(1) } : page),
    ],
    ['a short last page', (page, at) => (at === 7 ? { ...page, Resources: page.Resources.slice(1) } : page)],
    ['an id twice', (page, at) => (at === 4 ? { ...page, Resources: usersOf(3, 6) } : page)],
    ['the first page for every startIndex', (page) => ({ ...page, Resources: usersOf(1, 4) })],
    ['a total that grows', (page, at) => (at === 7 ? { ...page, totalResults: 9 } : page)],
    ['a total that shrinks', (page, at) => (at === 4 ? { ...page, totalResults: 6 } : page)],
    [
      'more resources than the total',
      (page, at) => (at === 7 ? { ...page, Resources: usersOf(7, 12) } : page),
    ],
  ])('the client throws IncompleteList for a SCIM list with %s', async (_, bend) => {
    await start(directory(8, 1000, bend));
    for (const inFlight of [1, 3]) {
      const fault = await thrownBy(walk({ count: 3, inFlight }));
      expect(fault).toBeInstanceOf(IncompleteList);
      expect(fault).toBeInstanceOf(PlatformDecode);
      expect((fault as IncompleteList).expected).toBe(8);
    }
  });

  test('a SCIM list answer without totalResults throws PlatformDecode', async () => {
    await start((_, response) => answerJson(response, { Resources: [] }));
    expect(await thrownBy(walk({ count: 3 }))).toBeInstanceOf(PlatformDecode);
  });

  test('a page answered with 500 ends the list with PlatformResponse', async () => {
    const good = directory(30);
    await start((asked, response) =>
      asked.url.searchParams.get('startIndex') === '4'
        ? answerJson(response, {}, 500)
        : good(asked, response),
    );
    expect(await thrownBy(walk({ count: 3, inFlight: 4 }))).toBeInstanceOf(PlatformResponse);
  });

  test('a caller that leaves a list after its first page causes no further request', async () => {
    await start(directory(30));
    for await (const page of platform.client.users.pages({ count: 3 })) {
      expect(page).toMatchObject({ startIndex: 1, totalResults: 30 });
      break;
    }
    expect(platform.asked).toHaveLength(1);
  });

  test('an abort between two pages of a list throws PlatformAborted with the reason of the abort', async () => {
    await start(directory(30));
    const controller = new AbortController();
    const pages = platform.client.users.pages({ count: 3, signal: controller.signal });
    const aborted = (async () => {
      for await (const _page of pages) controller.abort(new Error('stopping'));
    })();
    const fault = await thrownBy(aborted);
    expect(fault).toBeInstanceOf(PlatformAborted);
    expect(((fault as Error).cause as Error).message).toBe('stopping');
  });

  test('with `members: false` groups are listed without members', async () => {
    await start((_, response) =>
      answerJson(response, { totalResults: 1, Resources: [{ id: 1, displayName: 'Finance' }] }),
    );
    for await (const page of platform.client.groups.pages({ count: 9, members: false })) {
      expect(page.resources).toEqual([{ id: '1', displayName: 'Finance' }]);
    }
    expect(platform.asked[0]?.url.searchParams.get('excludedAttributes')).toBe('members');
  });
});

const attribute = (id: number): object => ({ id, name: `a${id}`, type: 'string', displayName: null });
const names = async (): Promise<string[]> =>
  (await platform.client.attributes.list()).map(({ name }) => name);

describe('cursor and offset lists', () => {
  test('an attribute list with pageInfo is read to its end by cursor', async () => {
    await start(({ url }, response) => {
      const at = Number(url.searchParams.get('after') ?? 0);
      const pageInfo = { hasNextPage: at < 2, hasPreviousPage: false, endCursor: String(at + 1) };
      answerJson(response, { items: [attribute(at)], pageInfo, data: [], count: 3 });
    });
    expect(await names()).toEqual(['a0', 'a1', 'a2']);
    expect(platform.asked.map(({ url }) => url.search)).toEqual([
      '?first=100',
      '?first=100&after=1',
      '?first=100&after=2',
    ]);
  });

  test('an attribute list whose answer has `data` in place of `items` is read to its end by offset', async () => {
    await start(({ url }, response) => {
      const offset = Number(url.searchParams.get('offset') ?? 0);
      const data = [0, 1, 2, 3, 4].slice(offset, offset + 2).map(attribute);
      answerJson(response, { data, count: 5 });
    });
    expect(await names()).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    expect(platform.asked.map(({ url }) => url.search)).toEqual([
      '?first=100',
      '?offset=0&limit=100',
      '?offset=2&limit=100',
      '?offset=4&limit=100',
    ]);
  });

  test('an attribute list without pageInfo is complete if its number of items equals its count', async () => {
    await start((_, response) => answerJson(response, { items: [attribute(1)], pageInfo: null, count: 1 }));
    expect(await names()).toEqual(['a1']);
  });

  test.each<[string, object]>([
    ['no pageInfo and a larger count', { items: [attribute(1)], count: 2 }],
    ['no pageInfo and a full page', { items: Array.from({ length: 100 }, (_, i) => attribute(i)) }],
    ['a next page without cursor', { items: [attribute(1)], pageInfo: { hasNextPage: true } }],
    ['an empty page before the end', { items: [], pageInfo: { hasNextPage: true, endCursor: 'x' } }],
    ['the same page again', { items: [attribute(1)], pageInfo: { hasNextPage: true, endCursor: 'x' } }],
  ])('the client throws IncompleteList for an attribute list by cursor with %s', async (_, answer) => {
    await start((_asked, response) => answerJson(response, answer));
    expect(await thrownBy(names())).toBeInstanceOf(IncompleteList);
  });

  test('an attribute list with neither items nor a count throws PlatformDecode', async () => {
    await start((_, response) => answerJson(response, { data: [] }));
    expect(await thrownBy(names())).toBeInstanceOf(PlatformDecode);
  });

  test('a created attribute definition is returned with its id as text', async () => {
    await start((asked, response) => answerJson(response, { ...(asked.body as object), id: 4 }));
    const made = await platform.client.attributes.create({ name: 'country', type: 'string' });
    expect(made).toEqual({ id: '4', name: 'country', type: 'string' });
  });

  test('account search follows the cursor to the end, and throws IncompleteList after 20 pages', async () => {
    let endless = false;
    await start(({ url }, response) => {
      const at = Number(url.searchParams.get('after') ?? 0);
      const items = [{ id: at, username: `u${at}`, email: null }];
      answerJson(response, {
        items,
        pageInfo: { hasNextPage: endless || at < 1, endCursor: String(at + 1) },
      });
    });
    expect(await platform.client.accounts.search('a b')).toEqual([
      { id: '0', username: 'u0', email: '' },
      { id: '1', username: 'u1', email: '' },
    ]);
    expect(platform.asked[0]?.target).toBe('/api/v1/users?search=a%20b&first=50');
    endless = true;
    expect(await thrownBy(platform.client.accounts.search('a'))).toBeInstanceOf(IncompleteList);
    expect(platform.asked).toHaveLength(22);
  });
});
