// Tests media types, methods, unknown addresses, discovery, and the separation of connections (RFC 7644 §2, §3.8,
// §3.12, §4).
import { ERROR, LIST, startApi, startProfiles, USER, userBody, type Client, type Json } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({ configure: (config) => void (config.server.maxBodyBytes = 100_000) }));
});
afterAll(() => bridge.stop());

describe('media types (RFC 7644 §3.8)', () => {
  test.each([
    'application/scim+json',
    'application/scim+json; charset=utf-8',
    'application/scim+json;charset="UTF-8"',
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    undefined,
    'application/octet-stream',
    'nonsense',
  ])('a body with the content type %s is accepted', async (type) => {
    const userName = `type-${Math.random()}@x.example`;
    const answer = await scim.post('/Users', userBody(userName), { 'content-type': type });
    expect(answer).toMatchObject({ status: 201, body: { userName } });
  });

  test.each([
    [{ 'content-type': 'application/scim+json; charset=latin1' }],
    [{ 'content-type': 'application/scim+json; charset=nonsense' }],
    [{ 'content-encoding': 'compress' }],
  ])('a body with the header %j answers 415', async (headers) => {
    expect((await scim.post('/Users', userBody('refused@x.example'), headers)).status).toBe(415);
  });

  test('a body larger than maxBodyBytes answers 413', async () => {
    const answer = await scim.post('/Users', userBody('large@x.example', { title: 'x'.repeat(150_000) }));
    expect(answer).toMatchObject({ status: 413, body: { schemas: [ERROR], status: '413' } });
    expect(await scim.find('/Users', 'userName eq "large@x.example"')).toEqual([]);
  });
});

describe('methods and addresses (RFC 7644 §3.2, §3.12)', () => {
  test.each([
    ['/Users', ['PUT', 'PATCH', 'DELETE', 'OPTIONS'], 'GET, POST'],
    ['/Groups', ['PUT', 'PATCH', 'DELETE'], 'GET, POST'],
    ['/Users/x', ['POST', 'OPTIONS'], 'GET, PUT, PATCH, DELETE'],
    ['/Groups/x', ['POST'], 'GET, PUT, PATCH, DELETE'],
    ['/Users/.search', ['GET', 'PUT', 'PATCH', 'DELETE'], 'POST'],
    ['/.search', ['GET', 'PUT', 'PATCH', 'DELETE'], 'POST'],
    ['/Bulk', ['GET', 'PUT', 'PATCH', 'DELETE'], 'POST'],
    ['/ServiceProviderConfig', ['POST', 'PUT', 'PATCH', 'DELETE'], 'GET'],
    ['/ResourceTypes', ['POST', 'DELETE'], 'GET'],
    ['/Schemas', ['POST', 'PATCH'], 'GET'],
    [`/Schemas/${USER}`, ['PUT', 'DELETE'], 'GET'],
  ])('%s answers the methods %j with 405 and Allow: %s', async (path, methods, allow) => {
    for (const method of methods) {
      const answer = await scim.send(method, path, method === 'DELETE' || method === 'GET' ? undefined : {});
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, allow]);
    }
  });

  test.each(['/', '', '/nowhere', '/Users/x/y', '/User', '/Users.json', '/v2/Users', '/Me/x'])(
    'the address %s answers 404 with a SCIM error to every method',
    async (path) => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await scim.send(
          method,
          path,
          method === 'GET' || method === 'DELETE' ? undefined : {},
        );
        expect([method, answer.status, answer.body.schemas]).toEqual([method, 404, [ERROR]]);
      }
    },
  );

  test('unknown addresses outside of SCIM answer 404', async () => {
    for (const path of [
      '/',
      '/scim',
      '/scim/v1/Users',
      '/connections/none/scim/v2/Users',
      '/favicon.ico',
      '/connections',
    ]) {
      const answer = await scim.get(`http://127.0.0.1:${scim.port}${path}`);
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  test('GET /Me without a JWT answers 501, and ServiceProviderConfig announces changePassword as unsupported', async () => {
    expect((await scim.get('/Me')).status).toBe(501);
    expect((await scim.get('/ServiceProviderConfig')).body.changePassword.supported).toBe(false);
  });

  test('an address with a slash, ? or & at its end answers 200 like the address without them', async () => {
    for (const path of [
      '/Users/',
      '/Users?',
      '/Users?&',
      '/Users/?count=1&',
      '/Groups/',
      '/ServiceProviderConfig/',
      '/Schemas/?',
    ]) {
      expect((await scim.get(path)).status).toBe(200);
    }
    const { id } = await scim.user('slash@x.example');
    for (const path of [`/Users/${id}/`, `/Users/${id}?`, `/Users/${id}/?&`])
      expect((await scim.get(path)).status).toBe(200);
  });

  test('//Users, as a client with a slash after its base address sends it, answers like /Users', async () => {
    const created = await scim.post('//Users', userBody('double@x.example'));
    expect(created.status).toBe(201);
    const location = `${scim.root}/Users/${created.body.id}`;
    expect(created.headers.location).toBe(location);
    expect((await scim.get(`//Users/${created.body.id}`)).body.meta.location).toBe(location);
    expect((await scim.get('//ServiceProviderConfig')).status).toBe(200);
    expect((await scim.get('//nosuch')).status).toBe(404);
    expect((await scim.get('//Users', { authorization: undefined })).status).toBe(401);
  });

  test('HEAD returns the headers of GET and no body (RFC 9110 §9.3.2)', async () => {
    const { id } = await scim.user('head@x.example');
    const head = await scim.send('HEAD', `/Users/${id}`);
    expect([head.status, head.text, head.headers.etag, head.headers['content-type']]).toEqual([
      200,
      '',
      'W/"1"',
      'application/scim+json',
    ]);
    expect((await scim.send('HEAD', '/Users/nobody')).status).toBe(404);
  });

  test('without a token GET of a stored and of an unknown user answers 401 with the same body', async () => {
    const { id } = await scim.user('hidden@x.example');
    const none = { authorization: undefined };
    const there = await scim.get(`/Users/${id}`, none);
    const absent = await scim.get('/Users/nobody', none);
    expect([there.status, there.body]).toEqual([401, absent.body]);
    expect(there.headers['www-authenticate']).toBe('Bearer realm="scim"');
  });

  test('an answer has neither the header Server nor X-Powered-By', async () => {
    const { headers } = await scim.get('/Users');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('server');
  });
});

describe('discovery (RFC 7644 §4)', () => {
  test('discovery endpoints answer without a token, answer 403 to a filter, and return the location of each document', async () => {
    const none = { authorization: undefined };
    for (const path of ['/ServiceProviderConfig', '/ResourceTypes', '/Schemas']) {
      expect((await scim.get(path, none)).status).toBe(200);
    }
    for (const path of ['/ResourceTypes', '/Schemas']) {
      const { body } = await scim.get(path, none);
      expect(body).toMatchObject({
        schemas: [LIST],
        totalResults: body.Resources.length,
        itemsPerPage: body.Resources.length,
        startIndex: 1,
      });
      expect((await scim.get(`${path}?filter=id%20eq%20%22x%22`)).status).toBe(403);
      for (const resource of body.Resources) {
        expect(resource.meta.location).toBe(`${scim.root}${path}/${resource.id}`);
        expect((await scim.get(resource.meta.location, none)).body).toEqual(resource);
      }
      expect((await scim.get(`${path}/nosuch`)).status).toBe(404);
    }
  });

  test('each resource type names existing schemas, and each attribute has all characteristics (RFC 7643 §7)', async () => {
    const schemas = new Map<string, Json>(
      (await scim.get('/Schemas')).body.Resources.map((each: Json) => [each.id, each]),
    );
    for (const type of (await scim.get('/ResourceTypes')).body.Resources) {
      expect((await scim.get(type.endpoint)).status).toBe(200);
      for (const { schema } of [type, ...type.schemaExtensions]) expect(schemas.has(schema)).toBe(true);
    }
    const check = (attribute: Json): void => {
      for (const name of [
        'name',
        'type',
        'multiValued',
        'description',
        'required',
        'mutability',
        'returned',
      ]) {
        expect(attribute).toHaveProperty(name);
      }
      for (const sub of attribute.subAttributes ?? []) check(sub);
    };
    for (const { attributes } of schemas.values()) for (const attribute of attributes) check(attribute);
    const displayName = schemas.get(USER).attributes.find(({ name }: Json) => name === 'displayName');
    expect(displayName.mutability).toBe('readWrite');
  });
});

test('users of two connections may have the same userName; a token answers 401 and an id 404 at the other connection', async () => {
  const { bridge: shared, on } = await startProfiles();
  const clients = Object.values(on);
  const users = await Promise.all(
    clients.map((client) => client.user('same@x.example', { externalId: 'same' })),
  );
  const groups = await Promise.all(clients.map((client, index) => client.group('same', [users[index].id])));
  expect(new Set(users.map(({ id }) => id)).size).toBe(clients.length);
  for (const [index, client] of clients.entries()) {
    expect((await client.find('/Users', 'userName eq "same@x.example"')).map(({ id }) => id)).toEqual([
      users[index].id,
    ]);
    expect(users[index].meta.location).toBe(`${client.root}/Users/${users[index].id}`);
    expect(groups[index].members[0].$ref).toBe(`${client.root}/Users/${users[index].id}`);
    for (const [other, stranger] of clients.entries()) {
      if (other === index) continue;
      expect((await client.get(`/Users/${users[other].id}`)).status).toBe(404);
      expect((await client.delete(`/Groups/${groups[other].id}`)).status).toBe(404);
      const borrowed = await client.get(`${stranger.root}/Users`);
      expect(borrowed.status).toBe(401);
    }
  }
  await shared.stop();
});
