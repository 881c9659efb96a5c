// Tests the requests of Okta: catalogue apps, which send PATCH, and wizard apps, which send PUT (docs/idp/okta.md).
// `gh:o/r#n` is an issue of a public repository.
import {
  CUSTOM,
  GROUP,
  LIST,
  startProfiles,
  USER,
  type Answer,
  type Client,
  type ProfileName,
  type Json,
} from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

const HEADERS = {
  'user-agent': 'Okta SCIM Client 1.0.0',
  'content-type': 'application/scim+json; charset=utf-8',
  accept: 'application/scim+json',
};
const EMPTY = { schemas: [LIST], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] };
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
const filter = (text: string): string => `?filter=${encodeURIComponent(text)}&startIndex=1&count=100`;

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

describe.each(['auto', 'okta', 'lenient'] as const)('Okta, profile %s', (profile) => {
  let scim: Client;
  let user: string;
  let group: string;
  const send = (method: string, path: string, body?: object): Promise<Answer> =>
    scim.send(method, path, body, HEADERS);
  const patch = (path: string, ...Operations: object[]): Promise<Answer> =>
    send('PATCH', path, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });
  const profileOf = (extra: object): object => ({
    schemas: [USER],
    userName: 'jo@x.example',
    name: { givenName: 'Jo', familyName: 'X' },
    emails: [{ primary: true, value: 'jo@x.example', type: 'work' }],
    displayName: 'Jo X',
    locale: 'en-US',
    externalId: '00u1abcd',
    groups: [],
    password: 'random-Secret-1',
    active: true,
    ...extra,
  });
  const members = async (): Promise<string[]> =>
    (await scim.get(`/Groups/${group}`)).body.members.map(({ value }: Json) => value);
  beforeAll(() => {
    scim = on[profile];
  });

  test("the lists of Okta's connector test, without filter and attributes, answer 200 and an empty list", async () => {
    expect(await send('GET', '/Users?startIndex=1&count=2')).toMatchObject({ status: 200, body: EMPTY });
    expect(await send('GET', '/Groups?startIndex=1&count=100')).toMatchObject({ status: 200, body: EMPTY });
  });

  test('POST /Users as Okta sends it answers 201 with an id and without the password, and a repeated POST answers 409', async () => {
    expect((await send('GET', `/Users${filter('userName eq "jo@x.example"')}`)).body).toEqual(EMPTY);
    const answer = await send(
      'POST',
      '/Users',
      profileOf({ [CUSTOM]: { region: 'eu', level: 3, tags: ['a', 'b'] } }),
    );
    expect(answer.status).toBe(201);
    user = answer.body.id;
    expect(answer.body).toMatchObject({
      userName: 'jo@x.example',
      externalId: '00u1abcd',
      active: true,
      locale: 'en-US',
    });
    expect(answer.body[CUSTOM]).toEqual({ region: 'eu', level: 3, tags: ['a', 'b'] });
    expect(answer.text).not.toContain('password');
    expect(answer.text).not.toContain('random-Secret-1');
    const again = await send('POST', '/Users', profileOf({}));
    expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness', status: '409' } });
    expect((await send('GET', `/Users${filter('userName eq "JO@X.EXAMPLE"')}`)).body.totalResults).toBe(1);
  });

  test('an Okta import in pages of 3 returns each of the 7 users once, with an exact itemsPerPage', async () => {
    for (let n = 0; n < 6; n++) await scim.user(`import${n}@x.example`);
    const ids: string[] = [];
    for (let startIndex = 1; ; startIndex += 3) {
      const { body } = await send('GET', `/Users?startIndex=${startIndex}&count=3`);
      expect(body).toMatchObject({ totalResults: 7, startIndex, itemsPerPage: body.Resources.length });
      ids.push(...body.Resources.map(({ id }: Json) => id));
      if (ids.length >= body.totalResults || body.Resources.length === 0) break;
    }
    expect(new Set(ids).size).toBe(7);
  });

  test('a PATCH without a path, as an Okta OIN app sends it, deactivates and reactivates the user (gh:getsentry/sentry#27199)', async () => {
    const state = async (active: boolean): Promise<void> => {
      const answer = await patch(`/Users/${user}`, { op: 'replace', value: { active } });
      expect([200, 204]).toContain(answer.status);
      expect((await send('GET', `/Users/${user}`)).body.active).toBe(active);
    };
    await state(false);
    expect(
      (await send('GET', `/Users${filter('userName eq "jo@x.example"')}`)).body.Resources[0].active,
    ).toBe(false);
    await state(true);
    expect(
      (await patch(`/Users/${user}`, { op: 'replace', value: { password: 'another' } })).status,
    ).toBeLessThan(300);
  });

  test('a PUT of the whole profile, as the Okta app wizard sends it, updates the user and sets active to false and true', async () => {
    expect((await send('GET', `/Users/${user}`)).status).toBe(200);
    const changed = profileOf({
      id: user,
      displayName: 'Jo Y',
      meta: { version: 'W/"x"', resourceType: 'Nonsense' },
    });
    const put = await send('PUT', `/Users/${user}`, changed);
    expect(put).toMatchObject({ status: 200, body: { id: user, displayName: 'Jo Y', active: true } });
    expect(put.body.meta.resourceType).toBe('User');
    for (const active of [false, true]) {
      expect((await send('PUT', `/Users/${user}`, profileOf({ active }))).body.active).toBe(active);
      expect((await send('GET', `/Users/${user}`)).body.active).toBe(active);
    }
    const { version } = (await send('GET', `/Users/${user}`)).body.meta;
    expect((await send('PUT', `/Users/${user}`, profileOf({}))).body.meta.version).toBe(version);
  });

  test('a POST of a deactivated Okta user reactivates it under its id; with a new userName and its externalId only under the profile okta', async () => {
    await patch(`/Users/${user}`, { op: 'replace', value: { active: false } });
    const answer = await send('POST', '/Users', profileOf({ displayName: 'Jo again' }));
    expect(answer).toMatchObject({ status: 201, body: { id: user, active: true, displayName: 'Jo again' } });
    expect(answer.headers.location).toBe(`${scim.root}/Users/${user}`);
    await patch(`/Users/${user}`, { op: 'replace', value: { active: false } });
    const renamed = await send('POST', '/Users', profileOf({ userName: 'jo.new@x.example' }));
    expect(renamed).toMatchObject({ status: 201, body: { userName: 'jo.new@x.example', active: true } });
    const isSame = renamed.body.id === user;
    // Only under `okta` does an externalId identify a user; under other profiles another userName is another user.
    expect(isSame).toBe(profile === 'okta');
    if (isSame) return expect(await scim.find('/Users', 'userName eq "jo@x.example"')).toEqual([]);
    expect((await send('DELETE', `/Users/${renamed.body.id}`)).status).toBe(204);
    await patch(`/Users/${user}`, { op: 'replace', value: { active: true, userName: 'jo.new@x.example' } });
  });

  test('Okta group push creates an empty group, and its PATCH operations leave exactly the pushed members in the group', async () => {
    expect((await send('GET', `/Groups${filter('displayName eq "Finance"')}`)).body).toEqual(EMPTY);
    const created = await send('POST', '/Groups', { schemas: [GROUP], displayName: 'Finance', members: [] });
    expect(created).toMatchObject({ status: 201, body: { displayName: 'Finance', members: [] } });
    group = created.body.id;
    const path = `/Groups/${group}`;
    const named = await patch(path, { op: 'replace', value: { id: group, displayName: 'Finance' } });
    expect([200, 204]).toContain(named.status);
    const other = (await scim.find('/Users', 'userName eq "import0@x.example"'))[0].id as string;
    const add = {
      op: 'add',
      path: 'members',
      value: [
        { value: user, display: 'jo@x.example' },
        { value: other, display: 'old name' },
      ],
    };
    expect((await patch(path, add)).status).toBeLessThan(300);
    expect((await members()).sort()).toEqual([user, other].sort());
    const both = await patch(
      path,
      { op: 'remove', path: `members[value eq "${user}"]` },
      { op: 'add', path: 'members', value: [{ value: other, display: 'new name' }] },
    );
    expect(both.status).toBeLessThan(300);
    expect(await members()).toEqual([other]);
    expect(
      (await patch(path, { op: 'replace', path: 'members', value: [{ value: user }] })).status,
    ).toBeLessThan(300);
    expect(await members()).toEqual([user]);
    expect((await patch(path, { op: 'replace', path: 'members', value: [] })).status).toBeLessThan(300);
    expect(await members()).toEqual([]);
  });

  test('an Okta PUT of a group with `members` replaces the members, and without `members` keeps them (gh:ory/polis#3136)', async () => {
    const put = await send('PUT', `/Groups/${group}`, {
      schemas: [GROUP],
      id: group,
      displayName: 'Money',
      members: [{ value: user, display: 'x' }],
    });
    expect(put).toMatchObject({ status: 200, body: { displayName: 'Money', members: [{ value: user }] } });
    await send('PUT', `/Groups/${group}`, { schemas: [GROUP], displayName: 'Money 2' });
    expect(await members()).toEqual([user]);
    await send('PUT', `/Groups/${group}`, { schemas: [GROUP], displayName: 'Money 2', members: [] });
    expect(await members()).toEqual([]);
    expect((await send('DELETE', `/Groups/${group}`)).status).toBe(204);
  });

  test("the requests of Okta's SPEC test get the expected statuses: 404 for an unknown id, 409 for a repeated POST, 401 without a token", async () => {
    expect(await send('GET', '/Users/010101001010101011001010101011')).toMatchObject({
      status: 404,
      body: { status: '404' },
    });
    const bare = await scim.get('/Users?count=1', { authorization: `token-of-${profile}-0123456789` });
    expect(bare.status).toBe(200);
    expect(await scim.get('/Users', { authorization: undefined })).toMatchObject({
      status: 401,
      body: { schemas: [ERROR], status: '401', detail: expect.any(String) },
    });
    const twice = profileOf({ userName: 'spec@x.example', externalId: '00u1spec' });
    expect((await send('POST', '/Users', twice)).status).toBe(201);
    expect(await send('POST', '/Users', twice)).toMatchObject({
      status: 409,
      body: { schemas: [ERROR], status: '409', scimType: 'uniqueness' },
    });
    const [first] = (await send('GET', '/Users?count=1&startIndex=1')).body.Resources;
    expect(first).toMatchObject({
      id: expect.any(String),
      userName: expect.any(String),
      name: {},
      emails: [{}],
      active: expect.any(Boolean),
    });
  });
});
