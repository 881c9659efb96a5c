// Tests SCIM lists, filters and pages (contract 2.5).
import { GROUPS, startRig, USERS, type Rig } from './rig.ts';

let rig: Rig;
const list = async (query: string, path = USERS) => (await rig.call('GET', `${path}?${query}`)).body;
const filter = (text: string, path = USERS) => list(`filter=${encodeURIComponent(text)}`, path);
const names = (page: { Resources: { userName: string }[] }) => page.Resources.map((user) => user.userName);

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

/** Creates 42 users beside the three of the seed. */
async function fillTo45() {
  for (let number = 1; number <= 42; number += 1) await rig.user(`user${number}@acme.example`);
}

test('SCIM-01 pages of GET Users by startIndex and count together list every user once', async () => {
  await fillTo45();
  const pages = [
    await list('count=20&startIndex=1'),
    await list('count=20&startIndex=21'),
    await list('count=20&startIndex=41'),
  ];
  expect(pages.map((page) => page.Resources.length)).toEqual([20, 20, 5]);
  expect(new Set(pages.flatMap(names)).size).toBe(45);
});

test('SCIM-02 a page of GET Users has the total of all users and its startIndex', async () => {
  const { totalResults, startIndex, schemas } = await list('count=1&startIndex=2');
  expect([totalResults, startIndex]).toEqual([3, 2]);
  expect(schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:ListResponse']);
});

test('SCIM-03 a list with count 0 has totalResults and no resources', async () => {
  expect(await list('count=0')).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] });
});

test('SCIM-04 a list with startIndex below 1 begins at 1', async () => {
  for (const start of [0, -5])
    expect(await list(`startIndex=${start}`)).toMatchObject({ startIndex: 1, itemsPerPage: 3 });
});

test('SCIM-05 a list without count has 20 users', async () => {
  await fillTo45();
  expect((await list('')).Resources).toHaveLength(20);
});

test('SCIM-06 GET Groups returns a ListResponse', async () => {
  await rig.group('analysts');
  expect(await list('', GROUPS)).toMatchObject({ totalResults: 1, Resources: [{ displayName: 'analysts' }] });
});

test('SCIM-07 the filter userName eq finds the user with this name', async () => {
  expect(names(await filter('userName eq "viewer@acme.example"'))).toEqual(['viewer@acme.example']);
});

test('SCIM-08 a filter with `and` finds users that match both clauses, and id, displayName and emails.value can be filtered', async () => {
  const user = await rig.user('a@acme.example', { externalId: 'x1', displayName: 'Ann', active: false });
  await rig.user('b@acme.example', { externalId: 'x1' });
  expect(names(await filter('externalId eq "x1" and active eq false'))).toEqual(['a@acme.example']);
  expect(names(await filter('active eq true and externalId eq "X1"'))).toEqual(['b@acme.example']);
  expect(names(await filter(`id eq "${user.id}"`))).toEqual(['a@acme.example']);
  expect(names(await filter('displayName eq "ann"'))).toEqual(['a@acme.example']);
  expect(names(await filter('emails.value eq "b@acme.example"'))).toEqual(['b@acme.example']);
  const group = await rig.group('analysts');
  expect(await filter('displayName eq "ANALYSTS"', GROUPS)).toMatchObject({ Resources: [{ id: group.id }] });
});

test('SCIM-09 a filter on userName ignores letter case', async () => {
  expect(names(await filter('username EQ "VIEWER@ACME.EXAMPLE"'))).toEqual(['viewer@acme.example']);
});

test('SCIM-10 a filter without a match returns totalResults 0', async () => {
  expect(await filter('userName eq "nobody"')).toMatchObject({ totalResults: 0, Resources: [] });
});

test('SCIM-11 an unsupported or malformed filter answers 400 invalidFilter', async () => {
  const bad = [
    'userName sw "a"',
    'title eq "x"',
    'userName eq',
    'userName eq "a" or id eq "b"',
    'active eq "true"',
    '',
  ];
  for (const text of [...bad, 'userName eq true', 'constructor eq "x"', 'userName eq "a" and']) {
    expect(await filter(text)).toMatchObject({ status: '400', scimType: 'invalidFilter' });
  }
});

test('SCIM-12 a filter value with quotes and backslashes, escaped as in JSON, finds its user', async () => {
  const userName = 'a"b\\c and userName eq "x"';
  await rig.user(userName);
  expect(names(await filter(`userName eq ${JSON.stringify(userName)}`))).toEqual([userName]);
});

test('SCIM-13 excludedAttributes=members removes members from the list of groups and from a group', async () => {
  const group = await rig.group('analysts', [await rig.user('a@acme.example')]);
  expect(Object.keys((await list('excludedAttributes=members', GROUPS)).Resources[0])).not.toContain(
    'members',
  );
  const { body } = await rig.call('GET', `${GROUPS}/${group.id}?excludedAttributes=members,id,schemas`);
  expect(Object.keys(body).sort()).toEqual(['displayName', 'id', 'meta', 'schemas']);
});

test('SCIM-14 a list with a count above the page cap has as many users as the cap', async () => {
  await rig.control('PATCH', '/settings', { pageCap: 2 });
  expect(await list('count=5000')).toMatchObject({ totalResults: 3, itemsPerPage: 2 });
});

test('SCIM-15 itemsPerPage is the number of resources on the page', async () => {
  expect(await list('startIndex=3&count=2')).toMatchObject({ itemsPerPage: 1 });
  expect(await list('startIndex=9')).toMatchObject({ itemsPerPage: 0, totalResults: 3, Resources: [] });
});

test('SCIM-16 users keep their order in the list while others are created and deleted', async () => {
  const first = names(await list('count=2'));
  await rig.user('aaa@acme.example');
  expect(names(await list('count=2'))).toEqual(first);
  const { body } = await rig.call('GET', `${USERS}?startIndex=2&count=1`);
  await rig.call('DELETE', `${USERS}/${body.Resources[0].id}`);
  expect(names(await list(''))).toEqual(['admin@acme.example', 'auditor@acme.example', 'aaa@acme.example']);
});

test('a SCIM list whose startIndex or count is no whole number answers 400 invalidValue', async () => {
  for (const query of ['startIndex=x', 'count=1.5'])
    expect(await list(query)).toMatchObject({ scimType: 'invalidValue' });
});
