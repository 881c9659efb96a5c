// Tests POST /.search at the root, over users and groups (RFC 7644 §3.4.3 and §3.4.2.1).
import {
  GROUP,
  LIST,
  SEARCH,
  startApi,
  startProfiles,
  USER,
  type Answer,
  type Client,
  type Json,
} from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
let ada: Json;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
  ada = await scim.user('ada', { displayName: 'Ada', externalId: 'one' });
  await scim.group('Admins', [ada.id]);
  await scim.user('bob', { displayName: 'Bob' });
  await scim.group('Builders');
  await scim.user('cyd', { displayName: 'Cyd' });
});
afterAll(() => bridge.stop());

const search = (query: object = {}): Promise<Answer> =>
  scim.post('/.search', { schemas: [SEARCH], ...query });
const names = ({ body }: Answer): string[] => body.Resources.map((each: Json) => each.displayName);

test('POST /.search returns users and groups in one ListResponse, each as GET of its own address returns it', async () => {
  const answer = await search();
  expect(answer).toMatchObject({
    status: 200,
    body: { schemas: [LIST], totalResults: 5, startIndex: 1, itemsPerPage: 5 },
  });
  expect(names(answer)).toEqual(['Ada', 'Bob', 'Cyd', 'Admins', 'Builders']);
  for (const resource of answer.body.Resources) {
    expect((await scim.get(resource.meta.location)).body).toEqual(resource);
  }
});

test.each([
  [1, 2, ['Ada', 'Bob']],
  [3, 2, ['Cyd', 'Admins']],
  [4, 9, ['Admins', 'Builders']],
  [5, 1, ['Builders']],
  [6, 1, []],
  [1000000, 5, []],
  [1, 0, []],
])(
  'a root search with startIndex %d and count %d returns that page of users and groups',
  async (startIndex, count, expected) => {
    for (const filter of [undefined, 'id pr']) {
      const answer = await search({ startIndex, count, filter });
      expect(names(answer)).toEqual(expected);
      expect(answer.body).toMatchObject({ totalResults: 5, startIndex, itemsPerPage: expected.length });
    }
  },
);

test.each([
  ['meta.resourceType eq "User"', ['Ada', 'Bob', 'Cyd']],
  ['meta.resourceType eq "Group"', ['Admins', 'Builders']],
  [
    '(meta.resourceType eq "User") or (meta.resourceType eq "Group") and displayName sw "b"',
    ['Ada', 'Bob', 'Cyd', 'Builders'],
  ],
  ['displayName sw "a"', ['Ada', 'Admins']],
  ['userName eq "bob"', ['Bob']],
  ['userName eq "bob" or members pr', ['Bob', 'Admins']],
  ['userName pr and members pr', []],
  ['not (userName pr)', ['Admins', 'Builders']],
  ['emails.value eq "ada"', ['Ada']],
  ['externalId eq "one"', ['Ada']],
  [`${USER}:displayName sw "b"`, ['Bob']],
  [`${GROUP}:displayName sw "b"`, ['Builders']],
  ['groups.display eq "admins"', ['Ada']],
  ['displayName eq "admins"', ['Admins']],
] as const)('the root search with filter %s finds the users and groups %j', async (filter, expected) => {
  const answer = await search({ filter });
  expect([answer.status, names(answer), answer.body.totalResults]).toEqual([200, expected, expected.length]);
});

test('a root search finds a group by members.value, and a user by id', async () => {
  expect(names(await search({ filter: `members.value eq "${ada.id}"` }))).toEqual(['Admins']);
  expect(names(await search({ filter: `id eq "${ada.id}"` }))).toEqual(['Ada']);
});

test('a root search sorts users and groups together, and an attribute that groups lack counts as absent in groups', async () => {
  expect(names(await search({ sortBy: 'displayName' }))).toEqual(['Ada', 'Admins', 'Bob', 'Builders', 'Cyd']);
  const page = { sortBy: 'displayName', sortOrder: 'descending', startIndex: 2, count: 2 };
  expect(names(await search(page))).toEqual(['Builders', 'Bob']);
  expect(names(await search({ sortBy: 'userName', sortOrder: 'descending' }))).toEqual([
    'Admins',
    'Builders',
    'Cyd',
    'Bob',
    'Ada',
  ]);
});

test('attributes and excludedAttributes of a root search apply to users and to groups', async () => {
  const { body } = await search({ attributes: ['userName', 'members'] });
  expect(body.Resources.map((each: Json) => Object.keys(each).sort())).toEqual([
    ...Array.from({ length: 3 }, () => ['id', 'schemas', 'userName']),
    ...Array.from({ length: 2 }, () => ['id', 'members', 'schemas']),
  ]);
  const without = await search({ excludedAttributes: ['displayName', 'members'] });
  for (const resource of without.body.Resources) {
    expect(resource).not.toHaveProperty('displayName');
    expect(resource).not.toHaveProperty('members');
  }
});

test.each(['nosuch pr', 'userName', `${USER}:members pr`, 'active gt true'])(
  'a root search with the filter %s answers 400 invalidFilter',
  async (filter) => {
    expect(await search({ filter })).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
  },
);

test('/.search answers 405 to methods other than POST, 401 without a token and 400 to an invalid body', async () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await scim.send(
      method,
      '/.search',
      method === 'PUT' || method === 'PATCH' ? {} : undefined,
    );
    expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'POST']);
  }
  expect((await scim.get('/')).status).toBe(404);
  expect((await scim.post('/.search', {}, { authorization: undefined })).status).toBe(401);
  for (const body of [[], 'x', '7']) {
    expect(await scim.post('/.search', body)).toMatchObject({
      status: 400,
      body: { scimType: 'invalidSyntax' },
    });
  }
  const { bridge: shared, on } = await startProfiles();
  expect((await on.rfc.post('/.search', { count: 1 })).status).toBe(400);
  expect((await on.rfc.post('/.search', { schemas: [SEARCH], count: 1 })).status).toBe(200);
  await shared.stop();
});
