// Covers the Go suite scim2/test-suite (Apache-2.0) with checks of our own: the requirements of RFC 7643 and 7644
// that it lists, in the same groups. The checks run under `rfc`, and under `auto`, the default of a connection.
import { randomUUID } from 'node:crypto';
import {
  ERROR,
  GROUP,
  LIST,
  PATCH_OP,
  SEARCH,
  startProfiles,
  USER,
  type Client,
  type Json,
  type ProfileName,
} from './client.ts';
import { discover, fill } from './schema-values.ts';
import type { Bridge } from '../../support/build-bridge.ts';

const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

describe.each(['rfc', 'auto'] as const)('profile %s', (profile) => {
  let scim: Client;
  beforeAll(() => {
    scim = on[profile];
  });
  const name = (): string => `scim-test-${randomUUID()}`;
  const post = (extra: object = {}) => scim.post('/Users', { schemas: [USER], userName: name(), ...extra });
  const made = async (extra: object = {}): Promise<Json> => (await post(extra)).body;
  const query = (filter: string) => scim.get(`/Users?filter=${encodeURIComponent(filter)}`);
  const email = (value: string, type: string, more: object = {}) => ({ value, type, ...more });

  describe('resources (RFC 7643 §2, §3)', () => {
    test.each(['User', 'Group'])(
      'POST of a generated %s answers 201, and its attribute names follow the grammar of RFC 7643',
      async (each) => {
        const type = (await discover(scim)).find((described) => described.name === each);
        if (!type) throw new Error('not discovered');
        const { status, body } = await scim.post(type.endpoint, await fill(scim, type, 'all'));
        expect(status).toBe(201);
        expect(body.schemas).toContain(type.schema);
        expect(new Set(body.schemas).size).toBe(body.schemas.length);
        for (const key of Object.keys(body)) expect(key).toMatch(/^([A-Za-z][\w-]*|urn:[\w.:-]+)$/);
      },
    );

    test('POST answers 201 with id, Location and meta, where created and lastModified are equal and have a time zone', async () => {
      const { status, body, headers } = await post();
      expect(status).toBe(201);
      expect(headers.location).toBe(body.meta.location);
      expect(body.meta.location).toBe(`${scim.root}/Users/${body.id}`);
      expect(body.meta.resourceType).toBe('User');
      expect(body.meta.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/);
      expect(body.meta.lastModified).toBe(body.meta.created);
      expect(body.id).not.toContain('bulkId');
    });

    test('each created user gets its own lasting id, and attributes that were not sent are not returned', async () => {
      const [a, b] = [await made(), await made()];
      expect(a.id).not.toBe(b.id);
      for (let time = 0; time < 2; time++) expect((await scim.get(`/Users/${a.id}`)).body.id).toBe(a.id);
      expect(a).not.toHaveProperty('externalId');
      expect(a).not.toHaveProperty('displayName');
    });

    test('id and meta of the client are ignored on POST and PUT (RFC 7643 §3.1, RFC 7644 §3.5.1)', async () => {
      const meta = { resourceType: 'Invalid', created: '1999-01-01T00:00:00Z' };
      const created = await made({ id: 'client-specified-id', meta });
      expect(created.id).not.toBe('client-specified-id');
      expect(created.meta.resourceType).toBe('User');
      const put = await scim.put(`/Users/${created.id}`, {
        schemas: [USER],
        userName: created.userName,
        id: 'other',
        meta,
      });
      expect(put).toMatchObject({ status: 200, body: { id: created.id, meta: { resourceType: 'User' } } });
    });

    test('a password is never returned', async () => {
      const created = await made({ password: 's3cret!' });
      expect(created).not.toHaveProperty('password');
      expect((await scim.get(`/Users/${created.id}`)).body).not.toHaveProperty('password');
    });

    test('values keep their letter case, and the attributes of a POST may come in any order', async () => {
      const userName = `ScIm-TeSt-${randomUUID()}`;
      const { status, body } = await scim.post('/Users', { displayName: 'CaSe', userName, schemas: [USER] });
      expect([status, body.displayName, body.userName]).toEqual([201, 'CaSe', userName]);
    });

    test('of two primary e-mails one stays primary, and of e-mails with equal type and value the last is kept (RFC 7643 §2.4)', async () => {
      const two = [
        email('a@x.example', 'work', { primary: true }),
        email('b@x.example', 'home', { primary: true }),
      ];
      const { emails } = await made({ emails: two });
      expect(emails.filter(({ primary }: Json) => primary)).toHaveLength(1);
      const twice = [
        email('dup@x.example', 'work'),
        email('dup@x.example', 'work'),
        email('dup@x.example', 'home'),
      ];
      expect((await made({ emails: twice })).emails).toEqual(twice.slice(1));
      const folded = [email('Dup@x.example', 'work'), email('dup@x.example', 'WORK', { display: 'd' })];
      expect((await made({ emails: folded })).emails).toEqual([
        email('dup@x.example', 'WORK', { display: 'd' }),
      ]);
    });

    test('country codes, certificates and e-mail addresses are returned as sent', async () => {
      const body = {
        addresses: [{ type: 'work', country: 'US' }],
        x509Certificates: [{ value: Buffer.from('der').toString('base64') }],
        emails: [email('TEST@EXAMPLE.COM', 'work')],
      };
      expect(await made(body)).toMatchObject(body);
    });

    test('PUT replaces a user, answers 404 to an unknown id and 400 without userName (RFC 7644 §3.5.1)', async () => {
      const { id, userName } = await made({ displayName: 'old' });
      const put = (path: string, extra: object) => scim.put(path, { schemas: [USER], ...extra });
      expect((await put(`/Users/${id}`, { userName, displayName: 'new' })).body.displayName).toBe('new');
      expect((await put(`/Users/nonexistent-${randomUUID()}`, { userName: name() })).status).toBe(404);
      expect((await put(`/Users/${id}`, { displayName: 'nobody' })).status).toBe(400);
    });

    test('DELETE answers 204, and then GET answers 404 and queries omit the user (RFC 7644 §3.6)', async () => {
      const { id, userName } = await made();
      expect((await scim.delete(`/Users/${id}`)).status).toBe(204);
      expect((await scim.get(`/Users/${id}`)).status).toBe(404);
      expect((await query(`userName eq "${userName}"`)).body.totalResults).toBe(0);
    });

    test('POST of a taken userName answers 409 uniqueness (RFC 7644 §3.3)', async () => {
      const { userName } = await made();
      expect(await post({ userName })).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    });

    test('the ETag is weak and equals meta.version, and If-Match with another version answers 412 (RFC 7644 §3.14)', async () => {
      const { id, userName, meta } = await made();
      expect(meta.version).toMatch(/^W\//);
      expect((await scim.get(`/Users/${id}`)).headers.etag).toBe(meta.version);
      const put = await scim.put(
        `/Users/${id}`,
        { schemas: [USER], userName },
        { 'if-match': 'W/"wrong-version"' },
      );
      expect(put.status).toBe(412);
    });
  });

  describe('groups (RFC 7643 §4.2)', () => {
    test('a member has the id of the user and a $ref to it, and the user lists the group', async () => {
      const { id } = await made();
      const group = (
        await scim.post('/Groups', {
          schemas: [GROUP],
          displayName: name(),
          members: [{ value: id, type: 'User' }],
        })
      ).body;
      expect(group.members).toEqual([{ value: id, type: 'User', $ref: `${scim.root}/Users/${id}` }]);
      expect((await scim.get(group.members[0].$ref)).body.id).toBe(id);
      expect((await scim.get(`/Users/${id}`)).body.groups).toMatchObject([{ value: group.id }]);
    });

    test('PATCH add of a member makes the user a member of the group', async () => {
      const { id } = await made();
      const group = await scim.group(name());
      const answer = await scim.patch(`/Groups/${group.id}`, {
        op: 'add',
        path: 'members',
        value: [{ value: id, type: 'User' }],
      });
      expect([200, 204]).toContain(answer.status);
      expect((await scim.get(`/Groups/${group.id}`)).body.members).toMatchObject([{ value: id }]);
    });
  });

  describe('queries (RFC 7644 §3.4)', () => {
    test.each([
      'active gt true',
      'userName regex "x"',
      '(((',
      'userName eq',
      'x509Certificates.value gt "a"',
    ])('the filter %s answers 400 invalidFilter', async (filter) => {
      expect(await query(filter)).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
    });

    test('eq ignores letter case, a filter without a match answers 200 with totalResults 0, and pr finds a sub-attribute', async () => {
      const { userName, id } = await made({ name: { givenName: 'Jo' } });
      for (const text of [userName, userName.toUpperCase()])
        expect((await query(`userName eq "${text}"`)).body).toMatchObject({
          schemas: [LIST],
          totalResults: 1,
        });
      expect(await query(`userName eq "${name()}"`)).toMatchObject({
        status: 200,
        body: { totalResults: 0 },
      });
      expect((await query(`name.givenName pr and id eq "${id}"`)).body.totalResults).toBe(1);
    });

    test('a page has at most count users, startIndex 0 counts as 1, and count is capped at maxResults', async () => {
      await Promise.all([made(), made(), made()]);
      expect((await scim.get('/Users?count=1')).body.Resources).toHaveLength(1);
      expect((await scim.get('/Users?startIndex=0')).body.startIndex).toBe(1);
      const { maxResults } = (await scim.get('/ServiceProviderConfig')).body.filter;
      expect((await scim.get(`/Users?count=${maxResults + 1}`)).body.Resources.length).toBeLessThanOrEqual(
        maxResults,
      );
    });

    test('sortBy sorts in ascending order by default and ignores case', async () => {
      const mark = randomUUID();
      for (const each of ['b', 'A', 'c']) await made({ userName: `${each}-${mark}` });
      const filter = encodeURIComponent(`userName ew "${mark}"`);
      const names = async (order: string): Promise<string[]> =>
        (await scim.get(`/Users?filter=${filter}&sortBy=userName${order}`)).body.Resources.map(
          ({ userName }: Json) => userName[0],
        );
      expect(await names('')).toEqual(['A', 'b', 'c']);
      expect(await names('&sortOrder=descending')).toEqual(['c', 'b', 'A']);
    });

    test('attributes and excludedAttributes never omit id and schemas (RFC 7644 §3.9)', async () => {
      const { id } = await made({ displayName: 'shown' });
      expect(Object.keys((await scim.get(`/Users/${id}?attributes=userName`)).body).sort()).toEqual([
        'id',
        'schemas',
        'userName',
      ]);
      const rest = (await scim.get(`/Users/${id}?excludedAttributes=displayName,id,schemas`)).body;
      expect([rest.id, rest.schemas, rest.displayName]).toEqual([id, [USER], undefined]);
      for (const each of (await scim.get('/Users?attributes=userName')).body.Resources)
        expect([each.id, typeof each.userName, each.displayName]).toEqual([each.id, 'string', undefined]);
    });

    test('POST /Users/.search answers a ListResponse (RFC 7644 §3.4.3)', async () => {
      expect(await scim.post('/Users/.search', { schemas: [SEARCH] })).toMatchObject({
        status: 200,
        body: { schemas: [LIST] },
      });
    });
  });

  describe('PATCH (RFC 7644 §3.5.2)', () => {
    const patch = async (extra: object, ...operations: object[]) =>
      scim.patch(`/Users/${(await made(extra)).id}`, ...operations);
    const at = (op: string, path: string, value?: unknown) => ({ op, path, value });

    test.each([
      ['add', { displayName: 'old' }, at('add', 'displayName', 'new'), { displayName: 'new' }],
      ['add to a complex attribute', { name: { familyName: 'F' } }, at('add', 'name', { givenName: 'G' }), { name: { familyName: 'F', givenName: 'G' } }],
      ['replace of an absent attribute', {}, at('replace', 'nickName', 'n'), { nickName: 'n' }],
      ['replace by value path', { emails: [email('w', 'work'), email('h', 'home')] }, at('replace', 'emails[type eq "work"].value', 'n'), { emails: [email('n', 'work'), email('h', 'home')] }],
      ['a new primary', { emails: [email('a', 'work', { primary: true })] }, at('add', 'emails', [email('b', 'home', { primary: true })]), { emails: [email('a', 'work', { primary: false }), email('b', 'home', { primary: true })] }],
    ])('PATCH of a user, %s: a user with %j that is patched by %j has %j', async (_what, before, operation, after) => {
      expect(await patch(before, operation)).toMatchObject({ status: 200, body: after });
    }); // prettier-ignore

    test('PATCH remove without a value deletes a single-valued attribute, and all values of a multi-valued one', async () => {
      expect((await patch({ displayName: 'x' }, at('remove', 'displayName'))).body).not.toHaveProperty(
        'displayName',
      );
      expect(
        (await patch({ emails: [email('a', 'work'), email('b', 'home')] }, at('remove', 'emails'))).body,
      ).not.toHaveProperty('emails');
    });

    test.each([
      ['a removal of a required attribute', at('remove', 'userName'), 'mutability'],
      ['a change of id', at('replace', 'id', 'hacked'), 'mutability'],
      [
        'a value path that matches nothing',
        at('replace', 'emails[type eq "nonexistent"].value', 'x'),
        'noTarget',
      ],
      ['a removal without path', { op: 'remove' }, 'noTarget'],
      ['an unknown op', at('move', 'title', 'x'), 'invalidSyntax'],
      ['an add without value', { op: 'add', path: 'title' }, 'invalidValue'],
    ])(
      'a PATCH whose second operation is %s answers 400, and its first operation is not applied',
      async (_what, operation, scimType) => {
        const { id, displayName, meta } = await made({ displayName: 'before', emails: [email('a', 'work')] });
        const answer = await scim.patch(`/Users/${id}`, at('replace', 'displayName', 'after'), operation);
        expect(answer).toMatchObject({ status: 400, body: { scimType } });
        expect((await scim.get(`/Users/${id}`)).body).toMatchObject({ displayName, meta });
      },
    );

    test('PATCH add of present values changes neither lastModified nor version', async () => {
      const { id, meta } = await made({ displayName: 'same', emails: [email('a', 'work')] });
      await scim.patch(
        `/Users/${id}`,
        at('add', 'displayName', 'same'),
        at('add', 'emails', [email('a', 'work')]),
      );
      expect((await scim.get(`/Users/${id}`)).body.meta).toEqual(meta);
    });
  });

  describe('bulk (RFC 7644 §3.7)', () => {
    const bulk = (Operations: object[], extra: object = {}) =>
      scim.post('/Bulk', { schemas: [BULK], Operations, ...extra });
    const user = (bulkId: string, userName = name()) => ({
      method: 'POST',
      path: '/Users',
      bulkId,
      data: { schemas: [USER], userName },
    });

    test('Bulk answers 200 with status, bulkId and location of every operation, and a failure does not stop the others', async () => {
      const taken = name();
      const { status, body } = await bulk([user('a', taken), user('b', taken), user('c')], {
        failOnErrors: 10,
      });
      expect(status).toBe(200);
      expect(body.Operations.map((each: Json) => [each.bulkId, each.status])).toEqual([['a', '201'], ['b', '409'], ['c', '201']]); // prettier-ignore
      for (const each of [body.Operations[0], body.Operations[2]])
        expect((await scim.get(each.location)).status).toBe(200);
    });

    test('two groups that contain each other by bulkId are created in one Bulk request', async () => {
      const group = (bulkId: string, other: string) => ({
        method: 'POST',
        path: '/Groups',
        bulkId,
        data: {
          schemas: [GROUP],
          displayName: name(),
          members: [{ value: `bulkId:${other}`, type: 'Group' }],
        },
      });
      const { status, body } = await bulk([group('A', 'B'), group('B', 'A')]);
      expect([status, body.Operations.map((each: Json) => each.status)]).toEqual([200, ['201', '201']]);
    });

    test('Bulk with one operation more than maxOperations answers 413', async () => {
      const { maxOperations, maxPayloadSize } = (await scim.get('/ServiceProviderConfig')).body.bulk;
      expect(maxPayloadSize).toBeGreaterThan(0);
      expect((await bulk(Array.from({ length: maxOperations + 1 }, (_, n) => user(`${n}`)))).status).toBe(
        413,
      );
    });
  });

  describe('protocol and discovery (RFC 7644 §2, §3.8, §3.12, §4)', () => {
    test('an error body has the error message schema, and /Schemas lists no message schemas', async () => {
      const missing = await scim.get(`/Users/nonexistent-${randomUUID()}`);
      expect(missing).toMatchObject({ status: 404, body: { schemas: [ERROR], status: '404' } });
      const { Resources } = (await scim.get('/Schemas')).body;
      for (const { id } of Resources as Json[]) expect(id).not.toMatch(/^urn:ietf:params:scim:api:/);
      for (const each of Resources as Json[])
        expect([typeof each.id, typeof each.name]).toEqual(['string', 'string']);
    });

    test('ServiceProviderConfig ignores query parameters and lists authentication schemes', async () => {
      const { status, body } = await scim.get(
        '/ServiceProviderConfig?filter=invalid&sortBy=id&startIndex=999',
      );
      expect([status, body.authenticationSchemes.length > 0]).toEqual([200, true]);
    });

    test('a request without a token answers 401 with the challenge Bearer', async () => {
      const answer = await scim.get('/Users', { authorization: undefined });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        expect.stringMatching(/^Bearer/),
      ]);
    });

    test('GET of the root address with a filter answers 404', async () => {
      expect((await scim.get('/?filter=id%20pr')).status).toBe(404);
    });

    test('a PATCH message without schemas answers 400 under the profile rfc, and 200 under auto', async () => {
      const { id } = await made();
      const answer = await scim.send('PATCH', `/Users/${id}`, {
        Operations: [{ op: 'add', path: 'title', value: 'x' }],
      });
      expect(answer.status).toBe(profile === 'rfc' ? 400 : 200);
      expect((await scim.send('PATCH', `/Users/${id}`, { schemas: [PATCH_OP] })).status).toBe(400);
    });
  });
});
