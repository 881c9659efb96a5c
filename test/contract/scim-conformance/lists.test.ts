// Tests lists, pages, filters, projections and .search (RFC 7644 §3.4).
import { CUSTOM, ENTERPRISE, LIST, SEARCH, startApi, userBody, type Client, type Json } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
const ids: string[] = [];
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
  for (let n = 1; n <= 25; n++) {
    const user = await scim.post(
      '/Users',
      userBody(`u${n}@x.example`, {
        title: n % 2 ? 'Odd' : 'even "one"',
        active: n % 5 !== 0,
        [ENTERPRISE]: { employeeNumber: String(n), manager: { value: ids[0] ?? 'nobody' } },
        [CUSTOM]: { level: n, region: n < 13 ? 'eu' : 'us' },
      }),
    );
    ids.push(user.body.id);
  }
  await scim.group('all', ids);
});
afterAll(() => bridge.stop());

const numbers = (resources: Json[]): number[] =>
  resources.map(({ userName }) => Number(/^u(\d+)@/.exec(userName)?.[1]));

describe('pages (RFC 7644 §3.4.2.4)', () => {
  test.each([
    ['', 1, 25],
    ['?startIndex=1&count=10', 1, 10],
    ['?startIndex=21&count=10', 21, 5],
    ['?startIndex=25&count=1', 25, 1],
    ['?startIndex=26&count=10', 26, 0],
    ['?startIndex=1000000', 1000000, 0],
    ['?startIndex=0&count=3', 1, 3],
    ['?startIndex=-7&count=3', 1, 3],
    ['?count=0', 1, 0],
    ['?count=-1', 1, 0],
    ['?count=100000', 1, 25],
    ['?startIndex=&count=', 1, 25],
    ['?unknown=1&count=2&aadOptscim062020', 1, 2],
    ['?startIndex=%2B2&count=2', 2, 2],
  ])('the list /Users%s starts at %d and has %d of 25 users', async (query, startIndex, count) => {
    const answer = await scim.get(`/Users${query}`);
    expect(answer).toMatchObject({
      status: 200,
      body: { schemas: [LIST], totalResults: 25, startIndex, itemsPerPage: count },
    });
    expect(numbers(answer.body.Resources)).toEqual(Array.from({ length: count }, (_, n) => startIndex + n));
  });

  test.each(['?count=ten', '?startIndex=1.5', '?count=1e2', '?startIndex=one'])(
    'GET /Users%s answers 400 invalidValue',
    async (query) => {
      expect(await scim.get(`/Users${query}`)).toMatchObject({
        status: 400,
        body: { scimType: 'invalidValue' },
      });
    },
  );

  test('pages of a filtered list have all matches in totalResults, and together list each match once in a stable order', async () => {
    const filter = encodeURIComponent(`${CUSTOM}:region eq "us"`);
    const seen: number[] = [];
    for (let startIndex = 1; startIndex <= 13; startIndex += 4) {
      const { body } = await scim.get(`/Users?filter=${filter}&startIndex=${startIndex}&count=4`);
      expect(body).toMatchObject({ totalResults: 13, startIndex, itemsPerPage: body.Resources.length });
      seen.push(...numbers(body.Resources));
    }
    expect(seen).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
    const none = await scim.get(`/Users?filter=${filter}&count=0`);
    expect(none.body).toMatchObject({ totalResults: 13, itemsPerPage: 0, Resources: [] });
    expect((await scim.get(`/Users?filter=${filter}&startIndex=99`)).body).toMatchObject({
      totalResults: 13,
      itemsPerPage: 0,
    });
  });

  test('a changed user keeps its place in the list', async () => {
    const before = numbers((await scim.get('/Users')).body.Resources);
    await scim.patch(`/Users/${ids[3]}`, { op: 'replace', path: 'nickName', value: `n${Date.now()}` });
    expect(numbers((await scim.get('/Users')).body.Resources)).toEqual(before);
  });
});

describe('filters (RFC 7644 §3.4.2.2)', () => {
  test.each<[string, number[]]>([
    ['userName eq "U3@X.EXAMPLE"', [3]],
    ['userName eq "u3@x.example" and title eq "even"', []],
    ['userName sw "u2" and userName co "5@"', [25]],
    ['userName ew "1@x.example"', [1, 11, 21]],
    ['title eq "even \\"one\\"" and userName sw "u4"', [4]],
    [`${CUSTOM}:level gt 22 or ${CUSTOM}:level le 2`, [1, 2, 23, 24, 25]],
    [`${CUSTOM}:level ge 24 and not (active eq false)`, [24]],
    ['active eq false', [5, 10, 15, 20, 25]],
    ['active ne true and userName sw "u1"', [10, 15]],
    ['title eq "odd" and userName sw "u1" or userName eq "u2@x.example"', [1, 2, 11, 13, 15, 17, 19]],
    ['title eq "odd" and (userName sw "u11" or userName eq "u2@x.example")', [11]],
    ['emails[type eq "work" and value eq "u7@x.example"]', [7]],
    ['emails[type eq "home" and value eq "u7@x.example"]', []],
    ['emails.value eq "U7@x.example"', [7]],
    ['emails eq "u7@x.example"', [7]],
    ['emails[type eq "work"].value eq "u7@x.example"', [7]],
    ['externalId eq "ext-u7@x.example"', [7]],
    ['externalId eq "EXT-u7@x.example"', []],
    [`${ENTERPRISE}:employeeNumber eq "8"`, [8]],
    [`urn:ietf:params:scim:schemas:core:2.0:User:userName eq "u9@x.example"`, [9]],
    ['name.familyName eq "DOE" and userName eq "u9@x.example"', [9]],
    ['nickName pr and not (userName pr)', []],
    ['meta.created gt "2999-01-01T00:00:00Z"', []],
    ['groups.display eq "all" and userName eq "u9@x.example"', [9]],
    ['USERNAME EQ "u9@x.example" AND Active Eq True', [9]],
  ])('the filter %s finds the users with the numbers %j', async (filter, expected) => {
    expect(numbers(await scim.find('/Users', filter)).sort((a, b) => a - b)).toEqual(expected);
  });

  test.each([
    'userName',
    'userName eq',
    'userName xx "a"',
    'eq "a"',
    'userName eq "a',
    'userName eq "a" and',
    'userName eq "a" userName eq "b"',
    '(userName eq "a"',
    'userName eq "a")',
    'emails[type eq "work"',
    'nosuch eq "a"',
    'active gt true',
    'meta.created gt "yesterday"',
    'not userName eq "a"',
    'userName eq "\\q"',
    '[]',
    '""',
    'and',
  ])('the filter %s answers 400 invalidFilter', async (filter) => {
    expect(await scim.get(`/Users?filter=${encodeURIComponent(filter)}`)).toMatchObject({
      status: 400,
      body: { scimType: 'invalidFilter' },
    });
    expect((await scim.post('/Users/.search', { schemas: [SEARCH], filter })).status).toBe(400);
  });

  test('filter values in single quotes find their user (RFC 7644 §3.7.1), and a quote inside a value is an ordinary character', async () => {
    const { id } = await scim.user("d'ken@x.example", { nickName: "Ann O'Dee" });
    for (const filter of [
      "userName eq 'd'ken@x.example'",
      "(nickName eq 'Ann O'Dee') and active eq true",
      "emails[value sw 'd'ken']",
      "userName eq d'ken@x.example",
    ])
      expect((await scim.find('/Users', filter)).map((user) => user.id)).toEqual([id]);
    await scim.delete(`/Users/${id}`);
  });

  test('names of query parameters such as filter and count are compared without letter case', async () => {
    const filter = 'userName eq "u3@x.example"';
    const inUrl = await scim.get(`/Users?FILTER=${encodeURIComponent(filter)}&Attributes=userName`);
    expect(numbers(inUrl.body.Resources)).toEqual([3]);
    expect(Object.keys(inUrl.body.Resources[0]).sort()).toEqual(['id', 'schemas', 'userName']);
    const inBody = await scim.post('/Users/.search', { schemas: [SEARCH], Filter: filter });
    expect(numbers(inBody.body.Resources)).toEqual([3]);
    expect((await scim.get('/Users?STARTINDEX=25&Count=5')).body).toMatchObject({
      startIndex: 25,
      itemsPerPage: 1,
    });
    const [{ id }] = inUrl.body.Resources as [Json];
    for (const query of ['ATTRIBUTES=userName', '%61ttributeS=userName'])
      expect(Object.keys((await scim.get(`/Users/${id}?${query}`)).body).sort()).toEqual([
        'id',
        'schemas',
        'userName',
      ]);
  });

  test('a filter on members.value finds the group of a user, and the group with a member value that no user has yet', async () => {
    expect(await scim.find('/Groups', `members eq "${ids[4]}"`)).toHaveLength(1);
    expect(await scim.find('/Groups', `members.value eq "${ids[4]}" and displayName eq "ALL"`)).toHaveLength(
      1,
    );
    expect(await scim.find('/Groups', 'members eq "nobody"')).toEqual([]);
    const waiting = await scim.group('waiting', ['not-there-yet']);
    expect(waiting.members).toEqual([{ value: 'not-there-yet' }]);
    expect(
      await scim.find('/Groups', 'displayName eq "waiting" and members eq "not-there-yet"'),
    ).toHaveLength(1);
    expect((await scim.find('/Groups', 'members eq "not-there-yet"')).map(({ id }) => id)).toEqual([
      waiting.id,
    ]);
  });
});

describe('projections (RFC 7644 §3.9)', () => {
  test('the parameter attributes selects the named attributes, id and schemas on GET, list, .search, POST, PUT and PATCH', async () => {
    const check = (body: Json): void => {
      expect(Object.keys(body).sort()).toEqual(['id', 'schemas', 'userName']);
    };
    const query = '?attributes=USERNAME';
    check((await scim.get(`/Users/${ids[0]}${query}`)).body);
    check((await scim.get(`/Users${query}&count=1`)).body.Resources[0]);
    check(
      (await scim.post('/Users/.search', { schemas: [SEARCH], attributes: ['userName'], count: 1 })).body
        .Resources[0],
    );
    const created = await scim.post(`/Users${query}`, userBody('projected@x.example'));
    check(created.body);
    expect(created.headers.location).toBe(`${scim.root}/Users/${created.body.id}`);
    check(
      (await scim.put(`/Users/${created.body.id}${query}`, userBody('projected@x.example', { title: 'T' })))
        .body,
    );
    const patched = await scim.patch(`/Users/${created.body.id}${query}`, { op: 'remove', path: 'title' });
    expect(patched.status).toBe(200);
    check(patched.body);
    await scim.delete(`/Users/${created.body.id}`);
  });

  test('attributes or excludedAttributes sent twice counts like one parameter with names separated by commas', async () => {
    const query = '?attributes=userName&attributes=externalId';
    const both = ['externalId', 'id', 'schemas', 'userName'];
    expect(Object.keys((await scim.get(`/Users/${ids[0]}${query}`)).body).sort()).toEqual(both);
    const [first] = (await scim.get(`/Users${query}&count=1`)).body.Resources;
    expect(Object.keys(first).sort()).toEqual(both);
    const without = await scim.get(`/Users/${ids[0]}?excludedAttributes=title&excludedAttributes=emails`);
    for (const name of ['title', 'emails']) expect(without.body).not.toHaveProperty(name);
  });

  test.each([
    ['?attributes=name.givenName', { name: { givenName: 'Jo' } }],
    ['?attributes=emails.value', { emails: [{ value: 'u1@x.example' }] }],
    [`?attributes=${ENTERPRISE}:employeeNumber`, { [ENTERPRISE]: { employeeNumber: '1' } }],
    [`?attributes=${CUSTOM}`, { [CUSTOM]: { level: 1, region: 'eu' } }],
    ['?attributes=nosuch', {}],
  ])('the projection %s returns id, schemas and only %j', async (query, expected) => {
    const { id: _id, schemas: _schemas, ...rest } = (await scim.get(`/Users/${ids[0]}${query}`)).body;
    expect(rest).toEqual(expected);
  });

  test('excludedAttributes removes the named attributes, but never id', async () => {
    const { body } = await scim.get(
      `/Users/${ids[0]}?excludedAttributes=id,userName,name.givenName,emails,groups,${ENTERPRISE}`,
    );
    expect(body).toMatchObject({ id: ids[0], name: { familyName: 'Doe' } });
    for (const name of ['userName', 'emails', 'groups', ENTERPRISE]) expect(body).not.toHaveProperty([name]);
    expect(body.name).not.toHaveProperty('givenName');
  });
});

describe('.search (RFC 7644 §3.4.3)', () => {
  test('POST /Users/.search returns the same page as GET /Users with the same parameters', async () => {
    const filter = 'userName sw "u1"';
    const search = await scim.post('/Users/.search', {
      schemas: [SEARCH],
      filter,
      startIndex: 2,
      count: 3,
      excludedAttributes: ['groups'],
    });
    const get = await scim.get(
      `/Users?filter=${encodeURIComponent(filter)}&startIndex=2&count=3&excludedAttributes=groups`,
    );
    expect(search).toMatchObject({ status: 200, body: get.body });
    expect(
      (await scim.post('/Groups/.search', { schemas: [SEARCH], filter: 'displayName eq "all"' })).body
        .totalResults,
    ).toBe(1);
  });

  test.each([{ count: 'ten' }, { startIndex: {} }, { filter: 7 }, { attributes: [7] }, { filter: [] }])(
    'POST /Users/.search with %j answers 400',
    async (extra) => {
      expect((await scim.post('/Users/.search', { schemas: [SEARCH], ...extra })).status).toBe(400);
    },
  );
});
