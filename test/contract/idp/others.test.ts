// Tests the requests of OneLogin, JumpCloud, Ping, authentik and Pocket ID, in their order (docs/idp/others.md).
import { randomUUID } from 'node:crypto';
import {
  CUSTOM,
  ENTERPRISE,
  GROUP,
  LIST,
  startProfiles,
  USER,
  type Client,
  type ProfileName,
  type Json,
} from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

describe.each(['auto', 'lenient'] as const)('profile %s', (profile) => {
  let scim: Client;
  beforeAll(() => {
    scim = on[profile];
  });

  test('OneLogin users with SCIM 1.0 URNs, active as text and managerId are stored in SCIM 2.0 form (gh:goauthentik/authentik#11249)', async () => {
    const agent = { 'user-agent': '' };
    const search = await scim.get('/Users?filter=userName+eq+"one@x.example"&', agent);
    expect(search).toMatchObject({ status: 200, body: { schemas: [LIST], totalResults: 0 } });
    const body = {
      schemas: [
        'urn:scim:schemas:core:1.0',
        'urn:scim:schemas:core:2.0',
        'urn:scim:schemas:extension:enterprise:2.0',
      ],
      id: null,
      userName: 'one@x.example',
      externalId: 4711,
      active: 'true',
      name: { givenName: 'One', familyName: 'Login' },
      emails: [{ value: 'one@x.example', type: 'work', primary: 'true' }],
      [ENTERPRISE]: { department: 'R&D', manager: { managerId: '26118915-6090-4610-87e4-49d8ca9f808d' } },
      [CUSTOM]: { region: 'eu' },
    };
    const created = await scim.post('/Users?', body, agent);
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toMatchObject({
      schemas: [USER, ENTERPRISE, CUSTOM],
      externalId: '4711',
      active: true,
      emails: [{ value: 'one@x.example', primary: true }],
      [ENTERPRISE]: { manager: { value: '26118915-6090-4610-87e4-49d8ca9f808d' } },
    });
    const put = await scim.put(
      `/Users/${id}?`,
      { ...body, active: 'false', [ENTERPRISE]: { manager: { value: '9' } } },
      agent,
    );
    expect(put).toMatchObject({
      status: 200,
      body: { id, active: false, [ENTERPRISE]: { manager: { value: '9' } } },
    });
    const { id: group } = await scim.group('OneLogin');
    const patch = await scim.patch(`/Groups/${group}?`, {
      op: 'add',
      path: 'members',
      value: [{ value: id }],
    });
    expect(patch.status).toBe(204);
    expect((await scim.get(`/Groups/${group}?`)).body.members).toEqual([
      expect.objectContaining({ value: id }),
    ]);
    expect((await scim.delete(`/Users/${id}?`)).status).toBe(204);
  });

  test.each([
    'urn:scim:schemas:extension:enterprise:1.0',
    'urn:scim:schemas:extension:enterprise:2.0',
    'urn:scim:schemas:extension:enterprise:1.0:User',
    'URN:ietf:params:scim:schemas:extension:enterprise:1.0:User',
  ])(
    'OneLogin users may have the enterprise extension under the URN %s in POST and PATCH, and it is stored under the URN of SCIM 2.0',
    async (urn) => {
      const userName = `${randomUUID()}@x.example`;
      const created = await scim.post('/Users', {
        schemas: ['urn:scim:schemas:core:1.0', urn],
        userName,
        [urn]: { department: 'R&D', manager: { managerId: '7' }, unheardOf: 1 },
      });
      expect(created.status).toBe(201);
      expect(created.body.schemas).toEqual([USER, ENTERPRISE]);
      expect(created.body[ENTERPRISE]).toMatchObject({ department: 'R&D', manager: { value: '7' } });
      const { body } = await scim.patch(
        `/Users/${created.body.id}`,
        { op: 'replace', path: `${urn}:department`, value: 'Sales' },
        { op: 'add', value: { [urn]: { costCenter: '9' } } },
        { op: 'remove', path: `${urn}:manager` },
      );
      expect(body[ENTERPRISE]).toEqual({ department: 'Sales', costCenter: '9' });
      const list = await scim.find(
        '/Users',
        `userName eq "${userName}" and ${ENTERPRISE}:department eq "Sales"`,
      );
      expect(list).toHaveLength(1);
    },
  );

  test('a OneLogin user with empty text in custom and optional attributes is created, and a PUT with an empty active answers 400', async () => {
    const body = {
      schemas: [USER],
      userName: 'empty@x.example',
      externalId: '',
      title: '',
      emails: [{ value: 'empty@x.example', type: 'work', primary: '' }],
      [CUSTOM]: { region: '' },
    };
    const created = await scim.post('/Users', body);
    expect(created).toMatchObject({ status: 201, body: { title: '', [CUSTOM]: { region: '' } } });
    expect(created.body).not.toHaveProperty('externalId');
    expect(created.body.emails).toEqual([{ value: 'empty@x.example', type: 'work' }]);
    // An empty `active` neither activates a user nor keeps one active.
    const put = await scim.put(`/Users/${created.body.id}`, { ...body, active: '' });
    expect(put).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  });

  test('a user and a group that JumpCloud deletes and creates again under the same names get new ids each time', async () => {
    let last: { user: string; group: string } | undefined;
    for (let round = 0; round < 3; round++) {
      const user = await scim.user('jumpcloud-test@x.example', { externalId: 'jc-1' });
      const group = (
        await scim.post('/Groups', { schemas: [GROUP], displayName: 'jumpcloud-test', externalId: 'jc-g' })
      ).body;
      const add = { op: 'Add', path: 'members', value: [{ value: user.id }] };
      expect((await scim.patch(`/Groups/${group.id}`, add)).status).toBe(204);
      expect((await scim.get(`/Groups/${group.id}`)).body.members).toHaveLength(1);
      expect(user.id).not.toBe(last?.user);
      expect(group.id).not.toBe(last?.group);
      last = { user: user.id, group: group.id };
      expect((await scim.delete(`/Users/${user.id}`)).status).toBe(204);
      expect((await scim.get(`/Groups/${group.id}`)).body.members).toEqual([]);
      expect((await scim.delete(`/Groups/${group.id}`)).status).toBe(204);
      expect(await scim.find('/Users', 'externalId eq "jc-1"')).toEqual([]);
      expect(await scim.find('/Groups', 'displayName eq "jumpcloud-test"')).toEqual([]);
    }
  });

  test('Ping filters with capitalised operators, unquoted values or `emails eq` find the user, whatever the Accept header', async () => {
    const { id } = await scim.user('ping@x.example', { emails: [{ value: 'ping.mail@x.example' }] });
    for (const filter of [
      'userName Eq "ping@x.example"',
      'userName EQ "PING@x.example"',
      'emails Co "ping.mail"',
      'emails Sw "ping.m" And active Eq true',
      'emails eq ping.mail@x.example',
      'email Co "ping.mail@x.example"',
      'userName eq ping@x.example',
      'Not (userName Pr) Or emails.value Ew "mail@x.example"',
    ]) {
      for (const accept of [
        'application/json',
        '*/*',
        'text/html',
        'application/xml',
        'application/json;q=0.9, text/plain',
      ]) {
        const answer = await scim.get(`/Users?filter=${encodeURIComponent(filter)}`, { accept });
        expect([filter, answer.status, answer.body.Resources.map((each: Json) => each.id)]).toEqual([
          filter,
          200,
          [id],
        ]);
      }
    }
    const created = await scim.post(
      '/Groups',
      { displayName: 'Ping', members: [{ value: id }] },
      { accept: 'application/json', 'content-type': 'application/json' },
    );
    expect(created.status).toBe(201);
    const overwritten = await scim.put(
      `/Groups/${created.body.id}`,
      { displayName: 'Ping', members: [] },
      { 'content-type': 'application/json; charset=UTF-8' },
    );
    expect(overwritten).toMatchObject({ status: 200, body: { members: [] } });
  });

  test("when authentik's POST of an existing user answers 409, a filter by userName finds the user for its PUT and DELETE", async () => {
    const config = await scim.get('/ServiceProviderConfig');
    expect(config).toMatchObject({
      status: 200,
      body: { patch: { supported: true }, filter: { supported: true } },
    });
    const body = {
      schemas: [USER],
      userName: 'ak',
      externalId: 'ak-1',
      active: true,
      name: { formatted: 'A K', familyName: ' ', givenName: 'A K' },
      displayName: 'A K',
      photos: [],
      emails: [{ value: 'ak@x.example', type: 'other', primary: true }],
    };
    const created = await scim.post('/Users', body);
    expect(created).toMatchObject({ status: 201, body: { externalId: 'ak-1', id: expect.any(String) } });
    expect(await scim.post('/Users', body)).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    const [adopted] = await scim.find('/Users', 'userName eq "ak"');
    expect(adopted.id).toBe(created.body.id);
    const put = await scim.put(`/Users/${adopted.id}`, { ...body, id: adopted.id, displayName: 'A. K.' });
    expect(put).toMatchObject({ status: 200, body: { displayName: 'A. K.', id: adopted.id } });
    expect((await scim.delete(`/Users/${adopted.id}`)).status).toBe(204);
  });

  test('a group that authentik creates empty and fills by PATCHes of maxOperations members has all 1,500 members', async () => {
    const config = (await scim.get('/ServiceProviderConfig')).body;
    const group = (await scim.post('/Groups', { schemas: [GROUP], externalId: 'ak-g', displayName: 'ak' }))
      .body;
    expect(group.members).toEqual([]);
    const replace = {
      op: 'replace',
      value: { schemas: [GROUP], id: group.id, externalId: 'ak-g', displayName: 'ak 2' },
    };
    // authentik omits `schemas` in the message.
    expect((await scim.send('PATCH', `/Groups/${group.id}`, { Operations: [replace] })).status).toBeLessThan(
      300,
    );
    const values = Array.from({ length: 1500 }, (_, n) => `ak-member-${n}`);
    // authentik providers/scim/clients/groups.py _patch_chunked sends all members in one request if maxOperations is
    // below 1.
    const size = config.bulk.maxOperations < 1 ? values.length : (config.bulk.maxOperations as number);
    for (let at = 0; at < values.length; at += size) {
      const operations = values
        .slice(at, at + size)
        .map((value) => ({ op: 'add', path: 'members', value: [{ value }] }));
      const answer = await scim.patch(`/Groups/${group.id}`, ...operations);
      expect([at, answer.status]).toEqual([at, 204]);
    }
    const read = (await scim.get(`/Groups/${group.id}`)).body;
    expect(read).toMatchObject({ displayName: 'ak 2', externalId: 'ak-g' });
    expect(read.members).toHaveLength(1500);
    const remove = { op: 'remove', path: 'members', value: [{ value: 'ak-member-7' }] };
    expect((await scim.patch(`/Groups/${group.id}`, remove)).status).toBe(204);
    expect((await scim.get(`/Groups/${group.id}`)).body.members).toHaveLength(1499);
  });

  test('a client such as authentik that reads pages of groups until totalResults gets each group once', async () => {
    for (let n = 0; n < 5; n++) await scim.group(`paged ${n}`);
    const total = (await scim.get('/Groups?count=1000&startIndex=1')).body.totalResults;
    const seen: string[] = [];
    for (let startIndex = 1; seen.length < total;) {
      const { body } = await scim.get(`/Groups?startIndex=${startIndex}&count=2`);
      expect(body.Resources.length).toBeGreaterThan(0);
      for (const { id, members } of body.Resources) {
        expect(Array.isArray(members)).toBe(true);
        seen.push(id);
      }
      startIndex += body.itemsPerPage as number;
    }
    expect(new Set(seen).size).toBe(total);
    expect((await scim.get('/Users?count=1000&startIndex=1')).status).toBe(200);
  });
});
