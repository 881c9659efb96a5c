// Tests sorting in a GET and in .search (RFC 7644 §3.4.2.3).
import {
  CUSTOM,
  ENTERPRISE,
  SEARCH,
  startApi,
  startProfiles,
  userBody,
  type Client,
  type Json,
} from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
/** Users in the order of creation. */
const PEOPLE: [name: string, extra: object][] = [
  ['delta', { title: 'b', externalId: 'b', emails: [{ value: 'z@x' }, { value: 'a@x', primary: true }] }],
  ['Alpha', { title: 'B', externalId: 'B', emails: [{ value: 'c@x' }, { value: 'b@x' }] }],
  ['charlie', { externalId: 'a', emails: [], active: false, [CUSTOM]: { level: 9 } }],
  ['Bravo', { title: 'a', externalId: 'A', emails: [{ value: 'B@x2' }], [CUSTOM]: { level: 10 } }],
  [
    'echo',
    { title: 'a', externalId: 'c', emails: [{ value: 'd@x' }], [ENTERPRISE]: { employeeNumber: '7' } },
  ],
];
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
  for (const [name, extra] of PEOPLE) {
    const answer = await scim.post('/Users', userBody(name, { name: { givenName: name }, ...extra }));
    expect(answer.status).toBe(201);
  }
  for (const name of ['Zeta', 'eta', 'Theta']) await scim.group(name);
});
afterAll(() => bridge.stop());

const initials = (resources: Json[]): string =>
  resources.map(({ userName, displayName }) => String(userName ?? displayName)[0]?.toLowerCase()).join('');

// Text is compared without case unless the attribute is caseExact (externalId). A list is sorted by its primary or
// first value. Resources without a value come last, or first when descending. Equal values keep the order of creation
// in both directions.
describe('the order of sorted lists', () => {
  test.each([
    ['userName', 'abcde', 'edcba'],
    ['USERNAME', 'abcde', 'edcba'],
    ['name.givenName', 'abcde', 'edcba'],
    ['externalId', 'bacde', 'edcab'],
    ['emails', 'dbaec', 'ceabd'],
    ['emails.value', 'dbaec', 'ceabd'],
    ['title', 'bedac', 'cdabe'],
    ['active', 'cdabe', 'dabec'],
    ['meta.created', 'dacbe', ''],
    [`${CUSTOM}:level`, 'cbdae', 'daebc'],
    [`${ENTERPRISE}:employeeNumber`, 'edacb', 'dacbe'],
  ])(
    'sortBy=%s lists the users a to e in the order %s, and descending in the order %s',
    async (sortBy, ascending, descending) => {
      for (const [order, expected] of [
        ['', ascending],
        ['&sortOrder=ascending', ascending],
        ['&sortOrder=descending', descending],
      ] as const) {
        const { status, body } = await scim.get(`/Users?sortBy=${sortBy}${order}`);
        expect([status, body.totalResults, body.Resources.length]).toEqual([200, 5, 5]);
        if (expected) expect(initials(body.Resources)).toBe(expected);
      }
    },
  );

  test('groups can be sorted by displayName and by members.value, and users by groups.display', async () => {
    expect(initials((await scim.get('/Groups?sortBy=displayName')).body.Resources)).toBe('etz');
    const [first] = await scim.find('/Users', 'userName eq "charlie"');
    const group = await scim.group('members-of-it', [first.id]);
    expect((await scim.get('/Groups?sortBy=members.value')).body.Resources[0].id).toBe(group.id);
    expect(initials((await scim.get('/Users?sortBy=groups.display')).body.Resources)[0]).toBe('c');
    await scim.delete(`/Groups/${group.id}`);
  });
});

describe('pages of sorted lists', () => {
  test('pages of a sorted and filtered list together have every match in order, with the selected attributes only', async () => {
    const filter = encodeURIComponent('userName pr and not (userName eq "echo")');
    const seen: Json[] = [];
    for (const startIndex of [1, 3, 5]) {
      const { body } = await scim.get(
        `/Users?sortBy=userName&sortOrder=descending&filter=${filter}&attributes=userName&count=2&startIndex=${startIndex}`,
      );
      expect(body).toMatchObject({ totalResults: 4, startIndex, itemsPerPage: body.Resources.length });
      seen.push(...body.Resources);
    }
    expect(initials(seen)).toBe('dcba');
    expect(Object.keys(seen[0]).sort()).toEqual(['id', 'schemas', 'userName']);
  });

  test('a list with sortBy and count=0 has totalResults and no resources', async () => {
    expect((await scim.get('/Users?sortBy=userName&count=0')).body).toMatchObject({
      totalResults: 5,
      Resources: [],
    });
  });

  test('POST /Users/.search returns the same sorted page as GET /Users', async () => {
    const search = { schemas: [SEARCH], sortBy: 'title', sortOrder: 'descending', startIndex: 2, count: 3 };
    const get = await scim.get('/Users?sortBy=title&sortOrder=descending&startIndex=2&count=3');
    expect(await scim.post('/Users/.search', search)).toMatchObject({ status: 200, body: get.body });
  });
});

describe('refused sort parameters', () => {
  test.each(['sortBy=name', 'sortBy=a%20b', 'sortBy=userName&sortOrder=up'])(
    'a list with %s answers 400 invalidValue',
    async (query) => {
      expect(await scim.get(`/Users?${query}`)).toMatchObject({
        status: 400,
        body: { scimType: 'invalidValue' },
      });
    },
  );

  test('sortBy of an unknown attribute answers 400 under the profile rfc, and is ignored under the default profile', async () => {
    expect(initials((await scim.get('/Users?sortBy=nosuch')).body.Resources)).toBe('dacbe');
    const { bridge: shared, on } = await startProfiles();
    expect(await on.rfc.get('/Users?sortBy=nosuch')).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    });
    expect((await on.rfc.get('/Users?sortBy=userName')).status).toBe(200);
    await shared.stop();
  });
});

test('ServiceProviderConfig announces sorting as supported', async () => {
  expect((await scim.get('/ServiceProviderConfig')).body.sort).toEqual({ supported: true });
});
