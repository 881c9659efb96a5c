// Tests pagination by cursor (RFC 9865).
import { CUSTOM, SEARCH, startApi, userBody, type Client, type Json } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
const ids: string[] = [];
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
  for (let n = 1; n <= 25; n++) {
    const level = { [CUSTOM]: { region: n % 2 ? 'eu' : 'us' } };
    ids.push((await scim.user(`u${n}@x.example`, level)).id);
  }
  await scim.group('all', ids);
});
afterAll(() => bridge.stop());

const EU = `${CUSTOM}:region eq "eu"`;
const idsOf = (resources: Json[]): string[] => resources.map(({ id }) => String(id));

/** Reads all pages; `between` runs after each page. */
async function crawl(
  ask: (cursor: string) => Promise<Json>,
  between: (page: number) => Promise<void> = () => Promise.resolve(),
): Promise<Json[]> {
  const pages: Json[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page: Json = await ask(cursor);
    expect(page).not.toHaveProperty('startIndex');
    expect(page.itemsPerPage).toBe(page.Resources.length);
    pages.push(page);
    await between(pages.length);
    cursor = page.nextCursor;
  }
  return pages;
}

const byGet =
  (count: number, filter?: string) =>
  async (cursor: string): Promise<Json> => {
    const filtered = filter === undefined ? '' : `&filter=${encodeURIComponent(filter)}`;
    const answer = await scim.get(`/Users?count=${count}&cursor=${cursor}${filtered}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };
const bySearch =
  (path: string, count: number, filter?: string) =>
  async (cursor: string): Promise<Json> => {
    const answer = await scim.post(path, { schemas: [SEARCH], cursor, count, filter });
    expect(answer.status).toBe(200);
    return answer.body;
  };

describe('reading all pages by cursor', () => {
  test.each([1, 7, 25, 26])(
    'cursor pages of %d users sorted by userName keep the requested order',
    async (count) => {
      const pages = await crawl(async (cursor) => {
        const { body } = await scim.get(
          `/Users?sortBy=userName&sortOrder=descending&count=${count}&cursor=${cursor}`,
        );
        return body;
      });
      const names = pages.flatMap(({ Resources }) =>
        (Resources as Json[]).map((each) => String(each.userName)),
      );
      expect(names).toEqual([...names].sort().reverse());
      expect(new Set(names).size).toBe(25);
      expect(pages).toHaveLength(Math.ceil(25 / count));
    },
  );

  test.each([1, 7, 24, 25, 26, 1000])(
    'cursor pages of %d users together list every user once',
    async (count) => {
      const pages = await crawl(byGet(count));
      expect(pages.flatMap(({ Resources }) => idsOf(Resources))).toEqual(ids);
      expect(pages).toHaveLength(Math.ceil(25 / count));
      for (const page of pages) expect(page.totalResults).toBe(25);
    },
  );

  test.each([byGet(4, EU), bySearch('/Users/.search', 4, EU)])(
    'cursor pages of a filtered list together have every match, by GET and by .search',
    async (ask) => {
      const pages = await crawl(ask);
      expect(pages.flatMap(({ Resources }) => idsOf(Resources))).toEqual(
        ids.filter((_, index) => index % 2 === 0),
      );
      expect(pages.map(({ totalResults, itemsPerPage }) => [totalResults, itemsPerPage])).toEqual([
        [13, 4],
        [13, 4],
        [13, 4],
        [13, 1],
      ]);
    },
  );

  test('cursor pages with a filter on groups.value list exactly the users of the group', async () => {
    const [group] = await scim.find('/Groups', 'displayName eq "all"');
    const pages = await crawl(byGet(10, `groups.value eq "${group.id}"`));
    expect(pages.flatMap(({ Resources }) => idsOf(Resources))).toEqual(ids);
  });

  test('a cursor list with a filter on userName has one user or none', async () => {
    expect(await crawl(byGet(1, 'userName eq "u3@x.example"'))).toMatchObject([
      { totalResults: 1, Resources: [{ id: ids[2] }] },
    ]);
    expect(await crawl(byGet(1, 'userName eq "nobody"'))).toMatchObject([{ totalResults: 0, Resources: [] }]);
  });

  test('a cursor continues after the last listed user, also with another count and other attributes', async () => {
    const { nextCursor } = (await scim.get('/Users?cursor=&count=3')).body;
    const { body } = await scim.get(`/Users?cursor=${nextCursor}&count=2&attributes=userName`);
    expect(idsOf(body.Resources)).toEqual(ids.slice(3, 5));
    expect(body.Resources[0]).not.toHaveProperty('emails');
  });

  test('a cursor that is used twice returns the same page each time', async () => {
    const { nextCursor } = (await scim.get('/Users?cursor=&count=3')).body;
    const [first, second] = [await byGet(3)(nextCursor), await byGet(3)(nextCursor)];
    expect(first).toEqual(second);
  });

  test('cursor pages of POST /.search list users and then groups', async () => {
    const pages = await crawl(bySearch('/.search', 10));
    expect(pages.map(({ totalResults, itemsPerPage }) => [totalResults, itemsPerPage])).toEqual([
      [26, 10],
      [26, 10],
      [26, 6],
    ]);
    expect(pages.at(-1).Resources.at(-1).displayName).toBe('all');
    const named = await crawl(bySearch('/.search', 1, 'displayName eq "all" or userName eq "u1@x.example"'));
    expect(named.flatMap(({ Resources }) => Resources.map((each: Json) => each.meta.resourceType))).toEqual([
      'User',
      'Group',
    ]);
  });
});

test.each([undefined, 'userName sw "moving"'])(
  'while users are created and deleted between cursor pages, every new and every remaining user is listed once (filter %s)',
  async (filter) => {
    const stays: string[] = [];
    const leaves: string[] = [];
    for (let n = 0; n < 20; n++) {
      const { id } = await scim.user(`moving${n}@x.example`);
      (n % 2 ? leaves : stays).push(id);
    }
    const late: string[] = [];
    const pages = await crawl(byGet(5, filter), async (page) => {
      // One of them is the last resource of the page that was just read.
      for (const id of leaves.splice(0, 3)) await scim.delete(`/Users/${id}`);
      if (page < 4) late.push((await scim.user(`moving-late${page}@x.example`)).id);
    });
    const met = pages.flatMap(({ Resources }) => idsOf(Resources));
    expect(new Set(met).size).toBe(met.length);
    expect(met).toEqual(expect.arrayContaining([...stays, ...late]));
    for (const id of [...stays, ...late, ...leaves]) await scim.delete(`/Users/${id}`);
  },
);

describe('refusals (RFC 9865 §2.1)', () => {
  const refused = async (query: string, scimType: string) =>
    expect(await scim.get(`/Users?${query}`)).toMatchObject({ status: 400, body: { scimType } });

  test.each(['nonsense', '%00', '__proto__', 'W10', 'bnVsbA', 'e30', 'x'.repeat(5000)])(
    'a cursor that the bridge did not issue answers 400 invalidCursor: %j',
    async (cursor) => {
      await refused(`cursor=${cursor}`, 'invalidCursor');
      await refused(`cursor=${cursor}&filter=userName%20pr`, 'invalidCursor');
    },
  );

  test('a cursor that is used with another filter or endpoint answers 400 invalidCursor', async () => {
    const { nextCursor } = (await scim.get('/Users?cursor=&count=3')).body;
    await refused(`cursor=${nextCursor}&filter=userName%20pr`, 'invalidCursor');
    expect((await scim.get(`/Groups?cursor=${nextCursor}`)).body.scimType).toBe('invalidCursor');
    const everywhere = await scim.post('/.search', { schemas: [SEARCH], cursor: nextCursor });
    expect(everywhere.body.scimType).toBe('invalidCursor');
  });

  test('a cursor request with a count of 0, -1 or text answers 400 invalidCount', async () => {
    for (const count of ['0', '-1', 'ten']) await refused(`cursor=&count=${count}`, 'invalidCount');
  });

  test('startIndex together with a cursor answers 400 invalidValue', () =>
    refused('cursor=&startIndex=1', 'invalidValue'));

  test('a cursor that is used with another sort order answers 400 invalidCursor', async () => {
    const { nextCursor } = (await scim.get('/Users?cursor=&count=3&sortBy=userName')).body;
    await refused(`cursor=${nextCursor}`, 'invalidCursor');
    await refused(`cursor=${nextCursor}&sortBy=userName&sortOrder=descending`, 'invalidCursor');
    const unsorted = (await scim.get('/Users?cursor=&count=3')).body.nextCursor;
    await refused(`cursor=${unsorted}&sortBy=userName`, 'invalidCursor');
  });

  test('an invalid filter together with a cursor answers 400 invalidFilter', () =>
    refused('cursor=&filter=nosuch%20pr', 'invalidFilter'));
});

test('a list without a cursor is paged by startIndex, and ServiceProviderConfig announces cursor and index (RFC 9865 §4)', async () => {
  const { body } = await scim.get('/Users?count=2');
  expect(body).toMatchObject({ startIndex: 1, itemsPerPage: 2 });
  expect(body).not.toHaveProperty('nextCursor');
  const { pagination } = (await scim.get('/ServiceProviderConfig')).body;
  expect(pagination).toEqual({
    cursor: true,
    index: true,
    defaultPaginationMethod: 'index',
    defaultPageSize: 100,
    maxPageSize: 1000,
  });
  for (let n = 0; n < 80; n++) await scim.post('/Users', userBody(`more${n}@x.example`));
  expect((await scim.get('/Users?cursor=')).body.itemsPerPage).toBe(pagination.defaultPageSize);
});
