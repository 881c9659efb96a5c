// Covers Microsoft's published SCIM request collections and validator with checks of our own, with their odd
// spellings: lower-case paths, capitalised keys, bare filter values. The checks run under `entra` and `auto`. Only `entra`
// is checked for users that share an externalId, and for PATCH answers without a body.
import { randomUUID } from 'node:crypto';
import {
  ENTERPRISE,
  GROUP,
  LIST,
  PATCH_OP,
  startProfiles,
  USER,
  type Client,
  type Json,
  type ProfileName,
} from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

describe.each(['entra', 'auto'] as const)('profile %s', (profile) => {
  let scim: Client;
  beforeAll(() => {
    scim = on[profile];
  });
  const q = encodeURIComponent;
  const patch = (path: string, operation: object, extra: object = {}) =>
    scim.send('PATCH', path, { schemas: [PATCH_OP], Operations: [operation], ...extra });

  describe('discovery documents', () => {
    test('ResourceTypes, Schemas and ServiceProviderConfig have the values that the request collection of Microsoft checks', async () => {
      const types = await scim.get('/ResourceTypes');
      expect(types.body).toMatchObject({
        totalResults: 2,
        Resources: [{ endpoint: '/Users' }, { endpoint: '/Groups' }],
      });
      const schemas = await scim.get('/Schemas');
      expect(schemas.text).toContain('User Account');
      const config = await scim.get('/ServiceProviderConfig');
      expect(config.body).toMatchObject({ patch: { supported: true }, filter: { supported: true } });
    });
  });

  describe('requests for users', () => {
    const suffix = randomUUID().slice(0, 8);
    let minimal: Json;
    let employee: Json;

    test('POST with "active" as text and null sub-attributes answers 201 with active as a boolean', async () => {
      const { status, body } = await scim.post('/Users', {
        schemas: [USER],
        userName: `UserName123${suffix}`,
        externalId: `ext-${suffix}`,
        active: 'True',
        displayName: 'BobIsAmazing',
        emails: [{ Primary: true, type: 'work', value: `testing${suffix}@bobs.example` }],
        addresses: [
          {
            formatted: null,
            streetAddress: null,
            locality: 'Berlin',
            region: null,
            postalCode: null,
            country: null,
          },
        ],
        meta: { resourceType: 'User' },
        name: { formatted: 'Ryan Leenay', familyName: 'Leenay', givenName: 'Ryan' },
        roles: [],
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        active: true,
        emails: [{ primary: true }],
        addresses: [{ locality: 'Berlin' }],
      });
      minimal = body;
    });

    test('POST of an enterprise user with capitalised keys answers 201 with the values under the names of the schema', async () => {
      const { status, body } = await scim.post('/users', {
        schemas: [USER, ENTERPRISE],
        UserName: `emp1${suffix}`,
        Active: true,
        DisplayName: `lennay${suffix}`,
        Emails: [{ type: 'work', Primary: true, value: `emp1${suffix}@example.com` }],
        name: { familyName: 'Employee', givenName: 'Ryan' },
        [ENTERPRISE]: { Department: 'bob', Manager: { Value: 'SuzzyQ' } },
      });
      expect(status).toBe(201);
      expect(body[ENTERPRISE]).toMatchObject({ department: 'bob', manager: { value: 'SuzzyQ' } });
      employee = body;
    });

    test.each([
      ['without userName', { schemas: [USER], displayName: 'nobody' }],
      ['that is not JSON', '{ "schemas": [ dsafdasf'],
      ['that is a list', '[]'],
      ['that is empty', '{}'],
    ])('POST and PUT with a body %s answer 400', async (_, body) => {
      expect((await scim.post('/Users', body)).status).toBe(400);
      expect((await scim.put(`/Users/${minimal.id}`, body)).status).toBe(400);
    });

    test('a second POST of the same user answers 409', async () => {
      const { status } = await scim.post('/Users', { schemas: [USER], userName: minimal.userName });
      expect(status).toBe(409);
    });

    test.each([
      ['/users', 'lower-case path'],
      ['/Users/', 'slash at the end'],
      ['/Users?startIndex=1&count=2', 'page'],
      ['/Users?attributes=userName,emails', 'chosen attributes'],
      [
        '/Users?attributes=emails[type eq "work"]'.replaceAll(' ', '+').replaceAll('"', '%22'),
        'value filter as attribute',
      ],
      ['/Users?excludedAttributes=emails', 'excluded attributes'],
    ])('GET %s (%s) answers a list of users', async (path) => {
      const { status, body } = await scim.get(path);
      expect(status).toBe(200);
      expect(body.schemas).toEqual([LIST]);
      expect(body.Resources.length).toBeGreaterThan(0);
      expect(body.itemsPerPage).toBe(body.Resources.length);
    });

    test('GET of a user with attributes=userName,emails returns these, id and schemas only', async () => {
      const { body } = await scim.get(`/Users/${employee.id}?attributes=userName,emails`);
      expect(Object.keys(body).sort()).toEqual(['emails', 'id', 'schemas', 'userName']);
    });

    test("each filter in the spelling of Microsoft's request collection finds exactly the expected user, or no user", async () => {
      const none = ['userName eq "1 or 2"', 'userName eq "5d48a0a8e9f04aa38008"', 'userName sw "nobody"'];
      const found = [
        `DisplayName eq "lennay${suffix}"`,
        `UserName eq "EMP1${suffix.toUpperCase()}"`,
        `userName eq emp1${suffix}`,
        `name.FamilyName eq Employee and userName eq "emp1${suffix}"`,
        `name.FamilyName eq Employee and (emails.Value co example.com or emails.Value co example.org)`,
        `userName eq "emp1${suffix}" and meta.Created gt 2015-10-10T14:38:21.8617979-07:00`,
        `emails[type eq "work"].value eq "emp1${suffix}@example.com"`,
        `emails[type eq "work" and value co "${suffix}@example.com"]`,
        `${ENTERPRISE}:department eq "bob" and userName sw emp1`,
        `userName sw emp1${suffix} and not (active eq false)`,
      ];
      for (const filter of none) expect(await scim.find('/Users', filter)).toEqual([]);
      for (const filter of found) {
        const ids = (await scim.find('/Users/', filter)).map(({ id }) => id);
        expect({ filter, ids }).toEqual({ filter, ids: [employee.id] });
      }
    });

    test('PATCH replace of userName answers 204, or 200 with the user when attributes are requested', async () => {
      const path = `/Users/${minimal.id}`;
      const renamed = (name: string) => ({ op: 'replace', path: 'userName', value: `${name}${suffix}` });
      const { status, body } = await patch(path, renamed('ryan3'));
      expect([status, body?.userName]).toEqual(
        profile === 'entra' ? [204, undefined] : [200, `ryan3${suffix}`],
      );
      expect((await scim.get(path)).body.userName).toBe(`ryan3${suffix}`);
      const asked = await patch(`${path}?attributes=userName`, renamed('ryan4'));
      expect([asked.status, asked.body.userName]).toEqual([200, `ryan4${suffix}`]);
    });

    test('PATCH with "active" as text deactivates and reactivates a user', async () => {
      for (const [value, active] of [
        ['False', false],
        ['True', true],
      ]) {
        await patch(`/Users/${minimal.id}`, { op: 'Replace', path: 'active', value });
        expect((await scim.get(`/Users/${minimal.id}`)).body.active).toBe(active);
      }
    });

    test("Entra's Replace, Add and Remove operations on attributes of a user answer 2xx and change exactly these attributes", async () => {
      const path = `/Users/${employee.id}`;
      const { body: before } = await scim.get(path);
      const operations = [
        { op: 'Replace', path: 'displayName', value: 'Bob' },
        { op: 'Add', path: 'emails[type eq "work"].value', value: `new${suffix}@example.com` },
        { op: 'Add', path: 'addresses[type eq "work"].country', value: 'Jamaica' },
        { op: 'Replace', path: 'name.familyName', value: 'Unreal' },
        { op: 'Add', path: `${ENTERPRISE}.manager`, value: 'Suzzy' },
        { op: 'Remove', path: `${ENTERPRISE}:department` },
      ];
      for (const operation of operations) expect((await patch(path, operation)).status).toBeLessThan(300);
      const { meta, ...body } = (await scim.get(path)).body;
      expect({ ...body, meta: before.meta }).toEqual({
        ...before,
        displayName: 'Bob',
        name: { ...before.name, familyName: 'Unreal' },
        emails: [{ ...before.emails[0], value: `new${suffix}@example.com` }],
        addresses: [{ type: 'work', country: 'Jamaica' }],
        [ENTERPRISE]: { manager: { value: 'Suzzy' } },
      });
      expect(meta.lastModified >= before.meta.lastModified).toBe(true);
    });

    test('PUT with a misspelt attribute answers 200 and ignores the attribute', async () => {
      const { status, body } = await scim.put(`/Users/${employee.id}`, {
        schemas: [USER],
        userName: employee.userName,
        dispalyName: 'misspelt',
        active: true,
      });
      expect(status).toBe(200);
      expect(body.dispalyName).toBeUndefined();
      expect(body.userName).toBe(employee.userName);
    });

    test.each([
      ['GET', undefined],
      ['DELETE', undefined],
      ['PUT', { schemas: [USER], userName: 'nobody' }],
      ['PATCH', { schemas: [PATCH_OP], Operations: [{ op: 'replace', path: 'active', value: false }] }],
    ])('%s of an unknown user answers 404', async (method, body) => {
      expect((await scim.send(method, `/Users/${randomUUID()}`, body)).status).toBe(404);
    });
  });

  describe('requests for groups', () => {
    const suffix = randomUUID().slice(0, 8);
    let group: Json;
    let users: Json[];
    beforeAll(async () => {
      users = [await scim.user(`one${suffix}`), await scim.user(`two${suffix}`)];
    });
    const members = async (): Promise<string[]> =>
      ((await scim.get(`/Groups/${group.id}`)).body.members ?? []).map(({ value }: Json) => value);

    test('POST creates a group without members, and a group whose member has a display name', async () => {
      const empty = await scim.post('/Groups', {
        schemas: [GROUP],
        externalId: `group-${suffix}`,
        displayName: `Group1${suffix}`,
        members: [],
      });
      expect(empty.status).toBe(201);
      expect(empty.body.externalId).toBe(`group-${suffix}`);
      group = empty.body;
      const full = await scim.post('/Groups', {
        schemas: [GROUP],
        displayName: `Group2${suffix}`,
        members: [{ value: users[0].id, display: 'VP' }],
      });
      expect(full.status).toBe(201);
      expect(full.body.members).toMatchObject([{ value: users[0].id }]);
    });

    test('a filter on displayName with excludedAttributes=members finds the group without its members', async () => {
      const { body } = await scim.get(
        `/Groups?excludedAttributes=members&filter=${q(`displayName eq "Group2${suffix}"`)}`,
      );
      expect(body.Resources).toHaveLength(1);
      expect(body.Resources[0].members).toBeUndefined();
    });

    test('PATCH whose operation and value have unknown keys answers 204 and adds the member', async () => {
      const operation = {
        name: 'addMember',
        op: 'add',
        path: 'members',
        value: [{ displayName: 'new User', value: users[0].id }],
      };
      expect((await patch(`/Groups/${group.id}`, operation)).status).toBe(204);
      expect(await members()).toEqual([users[0].id]);
    });

    test('PATCH adds a member given as bare text, and an id in the PATCH message is ignored', async () => {
      const operation = { name: 'addMember', op: 'add', path: 'members', value: users[1].id };
      expect((await patch(`/Groups/${group.id}`, operation, { id: group.id })).status).toBe(204);
      expect((await members()).sort()).toEqual(users.map(({ id }) => id).sort());
    });

    test('PATCH removes one member by a value filter, and without a filter all members', async () => {
      await patch(`/Groups/${group.id}`, { op: 'remove', path: `members[value eq "${users[0].id}"]` });
      expect(await members()).toEqual([users[1].id]);
      expect((await patch(`/Groups/${group.id}`, { op: 'remove', path: 'members' })).status).toBe(204);
      expect(await members()).toEqual([]);
    });

    test('PATCH renames a group, and PUT without externalId clears externalId', async () => {
      await patch(`/Groups/${group.id}`, { op: 'Replace', path: 'displayName', value: `1879db${suffix}` });
      const { status, body } = await scim.put(`/Groups/${group.id}`, {
        schemas: [GROUP],
        displayName: `putName${suffix}`,
        members: [{ value: users[1].id }],
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ displayName: `putName${suffix}`, members: [{ value: users[1].id }] });
      expect(body.externalId).toBeUndefined();
    });

    test('after DELETE of every user and group, the lists of users and groups are empty', async () => {
      for (const endpoint of ['/Users', '/Groups']) {
        for (const { id } of (await scim.get(endpoint)).body.Resources) {
          expect((await scim.delete(`${endpoint}/${id}`)).status).toBe(204);
        }
        const { body } = await scim.get(endpoint);
        expect(body).toMatchObject({ totalResults: 0, Resources: [] });
      }
    });
  });
});
