// Tests create, read, replace, patch, delete, versions, locations and projections of one resource (RFC 7644 §3).
import { CUSTOM, ENTERPRISE, ERROR, GROUP, startApi, USER, userBody, type Client } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
});
afterAll(() => bridge.stop());

describe('create (RFC 7644 §3.3)', () => {
  test('POST answers 201 with Location, ETag and the same body as a later GET', async () => {
    const answer = await scim.post('/Users', userBody('create@x.example'));
    expect(answer.status).toBe(201);
    const { id, meta } = answer.body;
    expect(answer.headers).toMatchObject({ location: `${scim.root}/Users/${id}`, etag: 'W/"1"' });
    expect(meta).toMatchObject({ resourceType: 'User', version: 'W/"1"', location: answer.headers.location });
    expect(meta.created).toBe(meta.lastModified);
    expect(new Date(meta.created).toISOString()).toBe(meta.created);
    const read = await scim.get(`/Users/${id}`);
    expect(read).toMatchObject({ status: 200, body: answer.body, headers: { etag: 'W/"1"' } });
  });

  test('id and meta sent by the client are ignored (RFC 7644 §3.1, RFC 7643 §3.1)', async () => {
    const meta = { created: '1999-01-01T00:00:00Z', version: 'W/"9"', location: 'http://evil.example/' };
    const { body } = await scim.post(
      '/Users',
      userBody('own-id@x.example', { id: 'mine', meta, groups: [{ value: 'admins' }] }),
    );
    expect(body.id).not.toBe('mine');
    expect(body.meta.created).not.toContain('1999');
    expect(body).not.toHaveProperty('groups');
    expect((await scim.get('/Users/mine')).status).toBe(404);
  });

  test('a password is never returned, even when requested, and a filter on it answers 400 (RFC 7643 §4.1.1)', async () => {
    const { body } = await scim.post('/Users', userBody('secret@x.example', { password: 'Tr0ub4dor' }));
    for (const query of [
      '',
      '?attributes=password',
      '?attributes=userName,password',
      '?excludedAttributes=name',
    ]) {
      expect((await scim.get(`/Users/${body.id}${query}`)).text).not.toMatch(/password|Tr0ub4dor/);
    }
    expect((await scim.get(`/Users?filter=${encodeURIComponent('password eq "Tr0ub4dor"')}`)).status).toBe(
      400,
    );
  });

  test('POST of a taken userName answers 409 uniqueness and creates nothing (RFC 7644 §3.3)', async () => {
    await scim.user('dup@x.example');
    const answer = await scim.post('/Users', userBody('DUP@x.example', { externalId: 'dup2' }));
    expect(answer).toMatchObject({
      status: 409,
      body: { schemas: [ERROR], status: '409', scimType: 'uniqueness' },
    });
    expect(answer.headers).not.toHaveProperty('location');
    expect(await scim.find('/Users', 'externalId eq "dup2"')).toEqual([]);
  });

  test('PUT and PATCH that set a taken userName answer 409 uniqueness and change nothing', async () => {
    await scim.user('held@x.example');
    const user = await scim.user('mover@x.example');
    const put = await scim.put(`/Users/${user.id}`, { ...user, userName: 'held@x.example' });
    expect(put).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    const patch = await scim.patch(
      `/Users/${user.id}`,
      { op: 'replace', path: 'title', value: 'x' },
      { op: 'replace', path: 'userName', value: 'held@x.example' },
    );
    expect(patch).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    expect((await scim.get(`/Users/${user.id}`)).body).toEqual(user);
  });

  test('two users may have the same externalId (RFC 7643 §3.1 sets no uniqueness)', async () => {
    const one = await scim.user('one@x.example', { externalId: 'shared' });
    const two = await scim.user('two@x.example', { externalId: 'shared' });
    expect(two.id).not.toBe(one.id);
    expect(await scim.find('/Users', 'externalId eq "shared"')).toHaveLength(2);
  });

  test.each([
    ['no userName', { userName: undefined }],
    ['an empty userName', { userName: ' ' }],
    ['userName null', { userName: null }],
  ])('POST with %s answers 400 invalidValue (RFC 7644 §3.12)', async (_what, extra) => {
    expect(await scim.post('/Users', userBody('x', extra))).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    });
  });

  test('POST of a group without displayName answers 400 invalidValue, and with a taken displayName 409 uniqueness', async () => {
    expect(await scim.post('/Groups', { schemas: [GROUP] })).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    });
    await scim.group('Taken');
    expect(await scim.post('/Groups', { displayName: 'TAKEN' })).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    });
  });
});

describe('replace (RFC 7644 §3.5.1)', () => {
  test('PUT clears attributes that the body leaves out, keeps created, and changes lastModified and version', async () => {
    const user = await scim.user('put@x.example', {
      title: 'Dr',
      [ENTERPRISE]: { department: 'd' },
      [CUSTOM]: { region: 'eu' },
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const answer = await scim.put(`/Users/${user.id}`, {
      schemas: [USER],
      userName: 'put@x.example',
      active: true,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBe('W/"2"');
    expect(answer.body.meta).toMatchObject({
      created: user.meta.created,
      version: 'W/"2"',
      location: user.meta.location,
    });
    expect(answer.body.meta.lastModified > user.meta.lastModified).toBe(true);
    const { meta: _meta, ...rest } = (await scim.get(`/Users/${user.id}`)).body;
    expect(rest).toEqual({ schemas: [USER], id: user.id, userName: 'put@x.example', active: true });
  });

  test('PUT of an unknown id answers 404 and creates nothing', async () => {
    expect((await scim.put('/Users/nobody', userBody('ghost@x.example'))).status).toBe(404);
    expect(await scim.find('/Users', 'userName eq "ghost@x.example"')).toEqual([]);
  });

  test('PUT without `active` keeps a deactivated user inactive, and PUT with `active` true reactivates the user', async () => {
    const { id } = await scim.user('left@x.example');
    const body = (extra: object) => userBody('left@x.example', { active: undefined, ...extra });
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    const put = await scim.put(`/Users/${id}`, body({ title: 'Dr' }));
    expect(put.body).toMatchObject({ title: 'Dr', active: false, meta: { version: 'W/"3"' } });
    // The same body again is no change, and null means absent.
    const again = await scim.put(`/Users/${id}`, body({ title: 'Dr', active: null }), {
      'if-match': 'W/"3"',
    });
    expect(again).toMatchObject({ status: 200, body: put.body });
    const bulk = await scim.send('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [{ method: 'PUT', path: `/Users/${id}`, data: body({}) }],
    });
    expect(bulk.body.Operations).toMatchObject([{ status: '200', version: 'W/"4"' }]);
    expect((await scim.get(`/Users/${id}`)).body.active).toBe(false);
    expect((await scim.put(`/Users/${id}`, body({ active: true }))).body.active).toBe(true);
    expect((await scim.put(`/Users/${id}`, body({ title: 'Dr' }))).body.active).toBe(true);
  });

  test.each([
    ['in the path', { path: 'active', value: null }],
    ['in a value without path', { value: { active: null, title: 'Dr' } }],
    ['in a list', { path: 'active', value: [null] }],
  ])('PATCH add or replace with `active` null %s keeps a deactivated user inactive', async (_place, rest) => {
    const { id } = await scim.user('null@x.example');
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    for (const op of ['add', 'replace']) {
      const { status, body } = await scim.patch(`/Users/${id}`, { op, ...rest });
      expect([status, body.active]).toEqual([200, false]);
    }
    await scim.delete(`/Users/${id}`);
  });

  test('POST without `active` of a deactivated user answers 201 and reactivates the user', async () => {
    const { id } = await scim.user('back@x.example');
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    const post = await scim.post('/Users', userBody('back@x.example', { active: undefined }));
    expect(post).toMatchObject({ status: 201, body: { id } });
    expect(await scim.find('/Users', 'userName eq "back@x.example" and active eq false')).toEqual([]);
  });

  test('PUT of an unchanged user or group keeps version and lastModified', async () => {
    const user = await scim.user('same@x.example');
    expect((await scim.put(`/Users/${user.id}`, user)).body).toEqual(user);
    const group = await scim.group('same', [user.id]);
    expect((await scim.put(`/Groups/${group.id}`, group)).body).toEqual(group);
  });
});

describe('patch (RFC 7644 §3.5.2)', () => {
  test('when the last operation of a PATCH fails, the PATCH answers 400 and its first operation is not applied', async () => {
    const user = await scim.user('atomic@x.example');
    const answer = await scim.patch(
      `/Users/${user.id}`,
      { op: 'replace', path: 'title', value: 'x' },
      { op: 'remove', path: 'userName' },
    );
    expect(answer.status).toBe(400);
    expect((await scim.get(`/Users/${user.id}`)).body).toEqual(user);
    const group = await scim.group('atomic');
    const half = await scim.patch(
      `/Groups/${group.id}`,
      { op: 'add', path: 'members', value: [{ value: user.id }] },
      { op: 'remove', path: 'displayName' },
    );
    expect(half.status).toBe(400);
    expect((await scim.get(`/Groups/${group.id}`)).body.members).toEqual([]);
  });

  test.each([
    [[{ op: 'replace', path: 'active', value: true }]],
    [[{ op: 'add', path: 'emails', value: [{ value: 'noop@x.example', type: 'work', primary: true }] }]],
    [[{ op: 'remove', path: 'nickName' }]],
    [[{ op: 'remove', path: 'emails[type eq "home"]' }]],
    [[{ op: 'replace', value: { displayName: 'Jo noop@x.example', name: { givenName: 'Jo' } } }]],
    [
      [
        { op: 'replace', path: 'title', value: 'x' },
        { op: 'remove', path: 'title' },
      ],
    ],
    [[]],
  ])('the PATCH %j changes nothing and keeps version and lastModified', async (operations) => {
    const [user] = await scim.find('/Users', 'userName eq "noop@x.example"');
    const before = user ?? (await scim.user('noop@x.example'));
    const answer = await scim.patch(`/Users/${before.id}`, ...operations);
    expect([200, 204]).toContain(answer.status);
    expect((await scim.get(`/Users/${before.id}`)).body).toEqual(before);
  });

  test.each([
    ['an unknown op', { op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
    ['no op', { path: 'title', value: 'x' }, 'invalidSyntax'],
    ['a malformed path', { op: 'add', path: 'emails[type eq', value: 'x' }, 'invalid'],
    ['a path of another type', { op: 'add', path: 7, value: 'x' }, 'invalidPath'],
    ['remove without a path', { op: 'remove' }, 'noTarget'],
    ['a required attribute removed', { op: 'remove', path: 'userName' }, 'mutability'],
    ['a read-only attribute', { op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    ['read-only groups by path', { op: 'add', path: 'groups', value: [{ value: 'admins' }] }, 'mutability'],
    ['a value of the wrong type', { op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
    ['no value', { op: 'add', path: 'title' }, 'invalidValue'],
  ])('PATCH with %s, %j, answers 400 %s (RFC 7644 §3.12)', async (_what, operation, scimType) => {
    const user =
      (await scim.find('/Users', 'userName eq "refused@x.example"'))[0] ??
      (await scim.user('refused@x.example'));
    const answer = await scim.patch(`/Users/${user.id}`, operation);
    expect(answer.status).toBe(400);
    expect(answer.body.scimType).toContain(scimType);
    expect((await scim.get(`/Users/${user.id}`)).body).toEqual(user);
  });

  test('PATCH of an unknown id answers 404', async () => {
    for (const path of ['/Users/nobody', '/Groups/nobody']) {
      expect((await scim.patch(path, { op: 'replace', path: 'displayName', value: 'x' })).status).toBe(404);
    }
  });
});

describe('delete (RFC 7644 §3.6)', () => {
  test('DELETE answers 204 without a body; then every method answers 404, and the userName is free at once', async () => {
    const user = await scim.user('gone@x.example');
    const answer = await scim.delete(`/Users/${user.id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await scim.get(`/Users/${user.id}`)).status).toBe(404);
    expect((await scim.put(`/Users/${user.id}`, user)).status).toBe(404);
    expect((await scim.patch(`/Users/${user.id}`, { op: 'remove', path: 'title' })).status).toBe(404);
    expect((await scim.delete(`/Users/${user.id}`)).status).toBe(404);
    expect(await scim.find('/Users', `id eq "${user.id}"`)).toEqual([]);
    expect((await scim.user('gone@x.example')).id).not.toBe(user.id);
  });
});

describe('versions (RFC 7644 §3.14)', () => {
  test('GET with If-None-Match of the current version answers 304, and a write with If-Match of another version 412 without a change', async () => {
    const user = await scim.user('etag@x.example');
    const path = `/Users/${user.id}`;
    for (const tag of ['W/"1"', '"1"', '*', 'W/"7", W/"1"']) {
      const answer = await scim.get(path, { 'if-none-match': tag });
      expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, '', 'W/"1"']);
    }
    expect((await scim.get(path, { 'if-none-match': 'W/"2"' })).status).toBe(200);
    const patch = { Operations: [{ op: 'replace', path: 'title', value: 'new' }] };
    for (const tag of ['W/"2"', '"x"', 'nonsense']) {
      expect((await scim.send('PATCH', path, patch, { 'if-match': tag })).status).toBe(412);
      expect(
        (await scim.put(path, userBody('etag@x.example', { title: 'n' }), { 'if-match': tag })).status,
      ).toBe(412);
      expect((await scim.delete(path, { 'if-match': tag })).status).toBe(412);
    }
    expect((await scim.get(path)).body).toEqual(user);
    expect(await scim.send('PATCH', path, patch, { 'if-match': 'W/"1"' })).toMatchObject({
      status: 200,
      headers: { etag: 'W/"2"' },
    });
    expect((await scim.delete(path, { 'if-match': '*' })).status).toBe(204);
  });

  test('a change of members gives the group a new version, and a PATCH with If-Match of the former version answers 412', async () => {
    const group = await scim.group('etag');
    const patch = { Operations: [{ op: 'add', path: 'members', value: [{ value: 'a' }] }] };
    const answer = await scim.send('PATCH', `/Groups/${group.id}`, patch);
    expect([answer.status, answer.headers.etag]).toEqual([204, 'W/"2"']);
    const stale = { Operations: [{ op: 'remove', path: 'members[value eq "a"]' }] };
    expect((await scim.send('PATCH', `/Groups/${group.id}`, stale, { 'if-match': 'W/"1"' })).status).toBe(
      412,
    );
    expect((await scim.get(`/Groups/${group.id}`)).body.members).toEqual([{ value: 'a' }]);
  });

  test('of 20 concurrent PATCHes with the same If-Match one answers 200, and its value is stored', async () => {
    const user = await scim.user('race@x.example');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        scim.send(
          'PATCH',
          `/Users/${user.id}`,
          { Operations: [{ op: 'add', path: 'title', value: `t${n}` }] },
          { 'if-match': 'W/"1"' },
        ),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect((await scim.get(`/Users/${user.id}`)).body.title).toBe(won[0]?.body.title);
  });
});

describe('location and $ref (RFC 7643 §3.1, §2.3.7)', () => {
  test('without publicUrl, location and $ref use a safe Host header and no forwarding header', async () => {
    const user = await scim.user('host@x.example');
    const group = await scim.group('host', [user.id]);
    const read = (path: string, headers: object) => scim.get(path, { ...headers });
    expect((await read(`/Users/${user.id}`, { host: 'scim.example:8443' })).body.meta.location).toBe(
      `http://scim.example:8443/scim/v2/Users/${user.id}`,
    );
    for (const headers of [
      { 'x-forwarded-host': 'evil.example' },
      { forwarded: 'host=evil.example' },
      { 'x-forwarded-proto': 'javascript' },
    ]) {
      expect((await read(`/Groups/${group.id}`, headers)).text).not.toMatch(/evil|javascript/);
    }
    for (const host of [
      'evil.example/x?y=',
      'a"b',
      '<script>',
      'x y',
      `${'x'.repeat(300)}.example`,
      'evil@x',
    ]) {
      const { body, text } = await read(`/Groups/${group.id}`, { host });
      expect(body.meta.location).toBe(`http://localhost/scim/v2/Groups/${group.id}`);
      expect(body.members[0].$ref).toBe(`http://localhost/scim/v2/Users/${user.id}`);
      expect(text).not.toContain(host);
    }
  });

  test('with publicUrl, location and $ref ignore the Host header in every document', async () => {
    const { bridge: published, scim: client } = await startApi({
      configure: (config) => void (config.server.publicUrl = 'https://scim.example.com/base'),
    });
    const root = 'https://scim.example.com/base/scim/v2';
    const headers = { host: 'evil.example' };
    const created = await client.post('/Users', userBody('public@x.example'), headers);
    expect(created.headers.location).toBe(`${root}/Users/${created.body.id}`);
    const group = await client.post(
      '/Groups',
      { displayName: 'public', members: [{ value: created.body.id }] },
      headers,
    );
    expect(group.body.members[0].$ref).toBe(`${root}/Users/${created.body.id}`);
    for (const path of [
      '/Users',
      '/Groups',
      '/ServiceProviderConfig',
      '/ResourceTypes',
      '/Schemas',
      `/Users/${created.body.id}`,
    ]) {
      const { text } = await client.get(path, headers);
      expect(text).toContain(root);
      expect(text).not.toContain('evil.example');
    }
    await published.stop();
  });
});
