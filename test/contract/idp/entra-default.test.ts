// Tests the requests of Microsoft Entra ID with default settings, in their order (docs/idp/entra.md).
import {
  CUSTOM,
  ENTERPRISE,
  GROUP,
  LIST,
  PATCH_OP,
  startProfiles,
  USER,
  type Client,
  type ProfileName,
  type Json,
} from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

const AD_GROUP = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';
const EMPTY = { schemas: [LIST], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] };

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

describe.each(['auto', 'entra', 'lenient'] as const)('Entra, default shape, profile %s', (profile) => {
  let scim: Client;
  let user: string;
  let boss: string;
  let group: string;
  beforeAll(() => {
    scim = on[profile];
  });

  test.each([
    '/Users?filter=userName+eq+"5f1c0c4e-1111-4222-8333-444455556666"',
    '/Users?filter=externalId+eq+"5f1c0c4e-1111-4222-8333-444455556666"',
    '/Users?filter=emails[type eq "work"].value eq "5f1c0c4e-1111-4222-8333-444455556666"',
    '/Users?filter=userName eq 5f1c0c4e-1111-4222-8333-444455556666',
    '/Groups?filter=displayName+eq+"5f1c0c4e-1111-4222-8333-444455556666"',
    '/Groups?excludedAttributes=members&filter=displayName+eq+"5f1c0c4e"',
  ])('the Entra connection test request %s answers 200 and an empty list', async (path) => {
    const answer = await scim.get(path.replaceAll(' ', '%20'));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(EMPTY);
  });

  test('the Entra connection test with a wrong token answers 401 with a Bearer challenge', async () => {
    const answer = await scim.get('/Users?filter=userName+eq+"x"', { authorization: 'Bearer wrong' });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  test('POST /Users as Entra sends it, with null and empty attributes and an undeclared custom schema, answers 201 without the empty attributes', async () => {
    const answer = await scim.post('/Users', {
      schemas: [USER, ENTERPRISE],
      externalId: 'jdoe',
      userName: 'jdoe@corp.example',
      active: true,
      displayName: 'Jo Doe',
      emails: [{ primary: true, type: 'work', value: 'jdoe@corp.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Jo' },
      roles: [],
      title: null,
      [ENTERPRISE]: { department: 'R&D', employeeNumber: '77' },
      [CUSTOM]: { region: 'eu' },
    });
    expect(answer.status).toBe(201);
    user = answer.body.id;
    expect(answer.headers.location).toBe(`${scim.root}/Users/${user}`);
    expect(answer.body).toMatchObject({
      id: user,
      externalId: 'jdoe',
      userName: 'jdoe@corp.example',
      active: true,
      name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Jo' },
      [ENTERPRISE]: { department: 'R&D', employeeNumber: '77' },
      [CUSTOM]: { region: 'eu' },
      meta: { resourceType: 'User', location: `${scim.root}/Users/${user}` },
    });
    expect(answer.body).not.toHaveProperty('title');
    expect(answer.body).not.toHaveProperty('roles');
    expect(answer.body.schemas).toEqual([USER, ENTERPRISE, CUSTOM]);
    expect((await scim.get(`/Users/${user}`)).body).toEqual(answer.body);
    boss = (await scim.user('boss@corp.example')).id;
  });

  test.each(['externalId eq "jdoe"', 'userName eq "JDOE@corp.example"', 'externalId eq jdoe'])(
    'the filter %s, with which Entra looks for an existing user, finds exactly the created user',
    async (filter) => {
      const found = await scim.find('/Users', filter);
      expect(found.map(({ id }) => id)).toEqual([user]);
    },
  );

  test('a second POST of the same Entra user answers 409 with scimType uniqueness', async () => {
    const answer = await scim.post('/Users', {
      schemas: [USER],
      userName: 'jdoe@corp.example',
      externalId: 'x',
    });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ status: '409', scimType: 'uniqueness' });
  });

  test('a PATCH with capitalised operations such as Replace and Add, one for each attribute, updates the user as Entra expects', async () => {
    const answer = await scim.patch(
      `/Users/${user}`,
      { op: 'Replace', path: 'active', value: 'False' },
      { op: 'Add', path: 'name.givenName', value: 'Joan' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'j@corp.example' },
      { op: 'Replace', path: 'emails[type eq "home"].value', value: 'home@corp.example' },
      { op: 'Add', path: 'addresses[type eq "work"].country', value: 'PT' },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Ops' },
      { op: 'Add', path: `${ENTERPRISE}:manager`, value: boss },
      { op: 'Add', path: 'roles', value: [{ value: '{"id":"18d1","value":"admin","displayName":"Admin"}' }] },
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'admin' },
      { op: 'Add', path: `${CUSTOM}:region`, value: 'us' },
    );
    expect([200, 204]).toContain(answer.status);
    const { body } = await scim.get(`/Users/${user}`);
    expect(body).toMatchObject({
      active: false,
      name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Joan' },
      emails: [
        { value: 'j@corp.example', type: 'work', primary: true },
        { value: 'home@corp.example', type: 'home' },
      ],
      addresses: [{ type: 'work', country: 'PT' }],
      roles: [
        { value: '{"id":"18d1","value":"admin","displayName":"Admin"}' },
        { value: 'admin', primary: true },
      ],
      [ENTERPRISE]: { department: 'Ops', employeeNumber: '77', manager: { value: boss } },
      [CUSTOM]: { region: 'us' },
    });
    expect(body.emails).toHaveLength(2);
  });

  test('a manager that Entra adds as a list under the path manager is stored, and a Remove by its URN deletes it', async () => {
    const set = await scim.patch(`/Users/${user}`, {
      op: 'Add',
      path: 'manager',
      value: [{ $ref: 'http://h/scim/Users/9', value: '9' }],
    });
    expect([200, 204]).toContain(set.status);
    expect((await scim.get(`/Users/${user}`)).body[ENTERPRISE].manager.value).toBe('9');
    expect(
      (await scim.patch(`/Users/${user}`, { op: 'Remove', path: `${ENTERPRISE}:manager` })).status,
    ).toBeLessThan(300);
    expect((await scim.get(`/Users/${user}`)).body[ENTERPRISE]).not.toHaveProperty('manager');
    const back = { op: 'Add', path: `${ENTERPRISE}:manager`, value: boss };
    expect((await scim.patch(`/Users/${user}`, back)).status).toBeLessThan(300);
  });

  test('POST /Groups as Entra sends it, with a schema of Active Directory and without members, answers 201 with an empty member list', async () => {
    const answer = await scim.post('/Groups', {
      schemas: [GROUP, AD_GROUP],
      externalId: '8aa1',
      displayName: 'Finance',
      meta: { resourceType: 'Group' },
    });
    expect(answer.status).toBe(201);
    group = answer.body.id;
    expect(answer.body).toMatchObject({
      schemas: [GROUP],
      displayName: 'Finance',
      externalId: '8aa1',
      members: [],
    });
    const found = await scim.get(
      '/Groups?excludedAttributes=members&filter=displayName%20eq%20%22Finance%22',
    );
    expect(found.body.Resources).toHaveLength(1);
    expect(found.body.Resources[0]).toMatchObject({ id: group, displayName: 'Finance' });
    expect(found.body.Resources[0]).not.toHaveProperty('members');
  });

  test('Entra adds and removes members whose $ref is null, and the other members of the group stay', async () => {
    const path = `/Groups/${group}`;
    const add = (...values: string[]) =>
      scim.patch(path, { op: 'Add', path: 'members', value: values.map((value) => ({ $ref: null, value })) });
    const remove = (value: string) =>
      scim.patch(path, { op: 'Remove', path: 'members', value: [{ $ref: null, value }] });
    const members = async () => (await scim.get(path)).body.members.map(({ value }: Json) => value).sort();
    expect((await add(user, boss)).status).toBe(204);
    expect(await members()).toEqual([user, boss].sort());
    expect((await add(user)).status).toBe(204);
    expect((await remove(user)).status).toBe(204);
    expect(await members()).toEqual([boss]);
    expect((await remove(user)).status).toBe(204);
    expect(await members()).toEqual([boss]);
    expect((await add(user)).status).toBe(204);
  });

  test('a filter by id together with manager or members, as Entra sends it, finds the resource only if it has that reference', async () => {
    const check = async (endpoint: string, filter: string) =>
      (await scim.get(`${endpoint}?filter=${encodeURIComponent(filter)}&attributes=id`)).body;
    const hit = await check('/Users', `id eq "${user}" and manager eq "${boss}"`);
    expect(hit).toMatchObject({ totalResults: 1, Resources: [{ id: user }] });
    expect(hit.Resources[0]).not.toHaveProperty('userName');
    expect(await check('/Users', `id eq "${user}" and manager eq "7"`)).toEqual(EMPTY);
    expect(await check('/Groups', `id eq "${group}" and members eq "${user}"`)).toMatchObject({
      totalResults: 1,
    });
    expect(await check('/Groups', `id eq "${group}" and members eq "7"`)).toEqual(EMPTY);
    expect(await check('/Groups', `id eq ${group} and members eq ${user}`)).toMatchObject({
      totalResults: 1,
    });
  });

  test("a user deactivated by Entra's PATCH stays in GET and in its groups, and another PATCH reactivates it", async () => {
    await scim.patch(`/Users/${user}`, { op: 'Replace', path: 'active', value: 'False' });
    expect((await scim.find('/Users', 'externalId eq "jdoe"'))[0]).toMatchObject({ id: user, active: false });
    expect((await scim.get(`/Users/${user}`)).body.active).toBe(false);
    await scim.patch(`/Users/${user}`, { op: 'Replace', path: 'active', value: 'True' });
    const { body } = await scim.get(`/Users/${user}`);
    expect(body.active).toBe(true);
    expect(body.groups).toEqual([
      { value: group, $ref: `${scim.root}/Groups/${group}`, display: 'Finance', type: 'direct' },
    ]);
  });

  test('20 parallel PATCHes that each add a member to one group lose no member (gh:scimmyjs/scimmy#79)', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => (await scim.user(`par${n}@corp.example`)).id),
    );
    const answers = await Promise.all(
      ids.map((value) =>
        scim.patch(`/Groups/${group}`, { op: 'Add', path: 'members', value: [{ $ref: null, value }] }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 204));
    const members = (await scim.get(`/Groups/${group}`)).body.members.map(({ value }: Json) => value);
    expect(members).toHaveLength(22);
    expect(members).toEqual(expect.arrayContaining(ids));
  });

  test('a group that Entra adds as a member of another group is listed once among its members', async () => {
    const nested = (await scim.group('Nested')).id;
    const add = { op: 'Add', path: 'members', value: [{ $ref: null, value: nested }] };
    expect((await scim.patch(`/Groups/${group}`, add)).status).toBe(204);
    const { members } = (await scim.get(`/Groups/${group}`)).body;
    expect(members.filter(({ value }: Json) => value === nested)).toHaveLength(1);
  });

  test('a PATCH of displayName renames the group, and a deleted user is no longer among its members', async () => {
    await scim.patch(`/Groups/${group}`, {
      op: 'Replace',
      path: 'displayName',
      value: 'Finance and Control',
    });
    expect((await scim.get(`/Groups/${group}`)).body.displayName).toBe('Finance and Control');
    expect(await scim.find('/Groups', 'displayName eq "Finance"')).toEqual([]);
    expect((await scim.delete(`/Users/${user}`)).status).toBe(204);
    expect((await scim.delete(`/Users/${user}`)).status).toBe(404);
    const { members } = (await scim.get(`/Groups/${group}`)).body;
    expect(members.map(({ value }: Json) => value)).not.toContain(user);
  });
});

describe.each(['auto', 'entra', 'lenient'] as const)('Entra SCIM validator, profile %s', (profile) => {
  let scim: Client;
  beforeAll(() => {
    scim = on[profile];
  });

  test("the POST of Entra's SCIM validator with capitalised attribute names and active as text answers 201", async () => {
    const answer = await scim.post('/Users', {
      schemas: [USER],
      UserName: 'Validator',
      Active: 'True',
      DisplayName: 'lennay',
      Emails: [
        { Primary: 'True', type: 'work', value: 'a@x.example' },
        { type: 'work', value: 'b@x.example' },
      ],
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      userName: 'Validator',
      active: true,
      displayName: 'lennay',
      emails: [
        { value: 'a@x.example', primary: true },
        { value: 'b@x.example', type: 'work' },
      ],
    });
    expect(answer.body).not.toHaveProperty('UserName');
  });

  test('attributes=emails[type eq "work"] returns every e-mail and no other attribute, as attributes=emails does', async () => {
    const { id } = (
      await scim.post('/Users', {
        schemas: [USER],
        userName: 'two.mails@x.example',
        displayName: 'Two Mails',
        emails: [
          { type: 'work', value: 'work@x.example' },
          { type: 'home', value: 'home@x.example' },
        ],
      })
    ).body;
    const withAttributes = (attributes: string) =>
      scim.get(`/Users/${id}?attributes=${encodeURIComponent(attributes)}`);
    const answer = await withAttributes('emails[type eq "work"]');
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['emails', 'id', 'schemas']);
    expect(answer.body.emails.map(({ value }: { value: string }) => value)).toEqual([
      'work@x.example',
      'home@x.example',
    ]);
    expect(answer.body).toEqual((await withAttributes('emails')).body);
  });

  test("a PATCH with an unneeded id and name, as Entra's validator sends it, is applied; one without operations keeps the version", async () => {
    const [{ id, meta }] = await scim.find('/Users', 'userName eq Validator');
    const stray = {
      schemas: [PATCH_OP],
      id,
      Operations: [{ op: 'add', name: 'addMember', path: 'title', value: 'Dr' }],
    };
    expect((await scim.send('PATCH', `/Users/${id}`, stray)).status).toBeLessThan(300);
    expect((await scim.get(`/Users/${id}`)).body.title).toBe('Dr');
    const version = (await scim.get(`/Users/${id}`)).body.meta.version;
    expect(version).not.toBe(meta.version);
    expect((await scim.patch(`/Users/${id}`)).status).toBeLessThan(300);
    expect((await scim.get(`/Users/${id}`)).body.meta.version).toBe(version);
  });

  test('a member added as bare text, in a list of texts, or with displayName in place of display is in the group once', async () => {
    const [{ id }] = await scim.find('/Users', 'userName eq Validator');
    const group = (await scim.group('Bare')).id;
    const bare = { op: 'Add', path: 'members', value: id };
    expect((await scim.patch(`/Groups/${group}`, bare)).status).toBe(204);
    expect((await scim.get(`/Groups/${group}`)).body.members).toHaveLength(1);
    const named = { op: 'Add', path: 'members', value: [{ value: id, displayName: 'VP' }] };
    expect((await scim.patch(`/Groups/${group}`, named)).status).toBe(204);
    const list = { op: 'Add', path: 'members', value: [id] };
    expect((await scim.patch(`/Groups/${group}`, list)).status).toBe(204);
    expect((await scim.get(`/Groups/${group}`)).body.members).toHaveLength(1);
  });

  test('PUT without userName and POST of broken JSON answer 400, and a PATCH of a misspelt attribute answers 2xx', async () => {
    const { id } = await scim.user('put@x.example');
    const without = await scim.put(`/Users/${id}`, { schemas: [USER], displayName: 'nobody' });
    expect(without).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    const misspelt = await scim.patch(`/Users/${id}`, { op: 'replace', path: 'displayNaem', value: 'x' });
    expect(misspelt.status).toBeLessThan(300);
    const junk = await scim.post('/Users', '{"schemas":["urn:ietf');
    expect(junk).toMatchObject({ status: 400, body: { scimType: 'invalidSyntax' } });
    expect((await scim.delete(`/Users/${id}`)).status).toBe(204);
    expect((await scim.delete(`/Users/${id}`)).status).toBe(404);
  });
});
