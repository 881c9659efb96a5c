// Tests bulk operations (RFC 7644 §3.7).
import { createBulk } from '../../../src/provider/bulk.ts';
import { profileOf } from '../../../src/scim/index.ts';
import type { Bridge } from '../../support/build-bridge.ts';
import {
  ENTERPRISE,
  ERROR,
  GROUP,
  PATCH_OP,
  startApi,
  userBody,
  type Answer,
  type Client,
  type Json,
} from './client.ts';

const BULK_REQUEST = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const BULK_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';
const MAX_BODY_BYTES = 300_000;

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({
    configure: (config) => void (config.server.maxBodyBytes = MAX_BODY_BYTES),
  }));
});
afterAll(() => bridge.stop());

const post = (Operations: unknown[], extra: object = {}): Promise<Answer> =>
  scim.post('/Bulk', { schemas: [BULK_REQUEST], ...extra, Operations });
/** Returns the results of a bulk request that answers 200. */
async function bulk(Operations: unknown[], extra: object = {}): Promise<Json[]> {
  const { status, body } = await post(Operations, extra);
  expect([status, body.schemas]).toEqual([200, [BULK_RESPONSE]]);
  return body.Operations as Json[];
}
const statuses = (results: Json[]): string[] => results.map(({ status }) => status as string);
const user = (bulkId: string, extra: object = {}) => ({
  method: 'POST',
  path: '/Users',
  bulkId,
  data: userBody(`${bulkId}@bulk.example`, extra),
});
const group = (bulkId: string, ...members: string[]) => ({
  method: 'POST',
  path: '/Groups',
  bulkId,
  data: { schemas: [GROUP], displayName: bulkId, members: members.map((value) => ({ value })) },
});
const patch = (path: string, ...Operations: object[]) => ({
  method: 'PATCH',
  path,
  data: { schemas: [PATCH_OP], Operations },
});
const managedBy = (value: string) => ({ [ENTERPRISE]: { manager: { value } } });
const idOf = (result: Json): string => (result.location as string).split('/').at(-1) ?? '';
const membersOf = async (location: string): Promise<string[]> =>
  (await scim.get(location)).body.members.map(({ value }: Json) => value as string).sort();

test('ServiceProviderConfig announces the limits of Bulk (RFC 7644 §4), and a PATCH may have as many operations as maxOperations', async () => {
  const { bulk: announced } = (await scim.get('/ServiceProviderConfig')).body;
  expect(announced).toEqual({ supported: true, maxOperations: 1000, maxPayloadSize: MAX_BODY_BYTES });
  const { id } = await scim.group('patched at length');
  const operations = Array.from({ length: announced.maxOperations }, (_, n) => ({
    op: 'add',
    path: 'members',
    value: [{ value: `m${n}` }],
  }));
  expect((await scim.patch(`/Groups/${id}`, ...operations)).status).toBe(204);
});

describe('operations and their results (RFC 7644 §3.7.3)', () => {
  test('Bulk creates, replaces, changes and deletes, and returns status, location and version of each operation', async () => {
    const old = await scim.user('old@bulk.example');
    const team = await scim.group('old team');
    const results = await bulk([
      user('first'),
      { method: 'PUT', path: `/Users/${old.id}`, version: 'W/"1"', data: userBody('renamed@bulk.example') },
      { ...patch(`/Users/${old.id}`, { op: 'replace', path: 'active', value: false }), version: 'W/"2"' },
      patch(`/Groups/${team.id}`, { op: 'replace', path: 'displayName', value: 'new team' }),
      { method: 'DELETE', path: `/Groups/${team.id}`, bulkId: 'gone' },
    ]);
    const created = (await scim.find('/Users', 'userName eq "first@bulk.example"'))[0];
    expect(results).toEqual([
      {
        method: 'POST',
        bulkId: 'first',
        version: 'W/"1"',
        location: `${scim.root}/Users/${created.id}`,
        status: '201',
      },
      { method: 'PUT', version: 'W/"2"', location: old.meta.location, status: '200' },
      { method: 'PATCH', version: 'W/"3"', location: old.meta.location, status: '200' },
      { method: 'PATCH', version: 'W/"2"', location: team.meta.location, status: '200' },
      { method: 'DELETE', bulkId: 'gone', location: team.meta.location, status: '204' },
    ]);
    expect((await scim.get(`/Users/${old.id}`)).body).toMatchObject({
      userName: 'renamed@bulk.example',
      active: false,
    });
    expect((await scim.get(`/Groups/${team.id}`)).status).toBe(404);
  });

  test('a Bulk PATCH whose data is the list of operations itself is applied (example of RFC 7644 §3.7.3)', async () => {
    const { id } = await scim.user('bare patch@bulk.example', { nickName: 'B' });
    const data = [
      { op: 'remove', path: 'nickName' },
      { op: 'add', path: 'userName', value: 'Dave' },
    ];
    expect(await bulk([{ method: 'PATCH', path: `/Users/${id}`, data }])).toMatchObject([{ status: '200' }]);
    const { body } = await scim.get(`/Users/${id}`);
    expect(body.userName).toBe('Dave');
    expect(body).not.toHaveProperty('nickName');
  });

  test('a refused bulk operation returns its SCIM error and its status as text, and other operations are executed', async () => {
    const there = await scim.user('there@bulk.example');
    const results = await bulk([
      user('there'),
      { ...user('unnamed'), data: { displayName: 'nobody' } },
      { method: 'PUT', path: `/Users/${there.id}`, version: 'W/"9"', data: userBody('stale@bulk.example') },
      { method: 'DELETE', path: `/Groups/${there.id}`, version: 'W/"1"' },
      { method: 'DELETE', path: '/Users/nobody' },
      patch(`/Users/${there.id}`, { op: 'replace', path: 'active', value: 'perhaps' }),
      { method: 'GET', path: `/Users/${there.id}` },
      { method: 'PUT', path: '/Users', data: {} },
      { method: 'PUT', path: '/Nowhere/1', data: {} },
      { method: 'PUT', path: `/Users/${there.id}` },
      { method: 'DELETE', path: '/Users/\ud800' },
      user('good'),
    ]);
    expect(statuses(results)).toEqual([
      '409',
      '400',
      '412',
      '404',
      '404',
      '400',
      '400',
      '405',
      '404',
      '400',
      '404',
      '201',
    ]);
    for (const { status, response } of results.slice(0, -1)) {
      expect(response).toMatchObject({ schemas: [ERROR], status });
      expect(typeof response.detail).toBe('string');
    }
    expect(results[0]).toMatchObject({ bulkId: 'there', response: { scimType: 'uniqueness' } });
    expect(results[0]).not.toHaveProperty('location');
    expect(results[2].location).toBe(there.meta.location);
    expect((await scim.get(`/Users/${there.id}`)).body).toEqual(there);
  });

  test('a Bulk request stops after failOnErrors errors, and operations that were not tried have no result', async () => {
    const missing = { method: 'DELETE', path: '/Users/nobody' };
    const operations = [user('before'), missing, user('between'), missing, user('after')];
    expect(statuses(await bulk(operations, { failOnErrors: 2 }))).toEqual(['201', '404', '201', '404']);
    expect(await scim.find('/Users', 'userName eq "after@bulk.example"')).toEqual([]);
    expect(statuses(await bulk([missing, missing], { failOnErrors: 1 }))).toEqual(['404']);
  });

  test('If-Match and `attributes` in the URL of a Bulk request do not affect its operations: a POST in it answers 201', async () => {
    const body = { schemas: [BULK_REQUEST], Operations: [user('plain')] };
    const answer = await scim.post('/Bulk?attributes=userName', body, { 'if-match': 'W/"7"' });
    expect([answer.status, statuses(answer.body.Operations)]).toEqual([200, ['201']]);
  });

  test('when the store is unavailable, a whole Bulk request fails with the error of the store', async () => {
    const away = new Error('Connection is closed.');
    const fail = () => Promise.reject(away);
    const none = { create: fail, get: fail, replace: fail, patch: fail, remove: fail };
    const { run } = createBulk({ Users: none, Groups: none }, profileOf('rfc'));
    const body = { schemas: [BULK_REQUEST], Operations: [user('lost')] };
    await expect(run(body, { request: 'r', baseUrl: scim.root })).rejects.toBe(away);
  });
});

describe('bulkId (RFC 7644 §3.7.2)', () => {
  test('a bulkId in data or path is replaced by the id of the resource that an earlier or later operation creates', async () => {
    const [early, one, change, two, gone, spare] = await bulk([
      group('early', 'bulkId:one', 'bulkId:two'),
      user('one', managedBy('bulkId:two')),
      patch('/Groups/bulkId:early', { op: 'remove', path: 'members', value: [{ value: 'bulkId:one' }] }),
      user('two'),
      { method: 'DELETE', path: '/Users/bulkId:spare' },
      user('spare'),
    ]);
    expect(statuses([early, one, change, two, gone, spare])).toEqual([
      '201',
      '201',
      '200',
      '201',
      '204',
      '201',
    ]);
    expect(await membersOf(early.location)).toEqual([idOf(two)]);
    expect(change.location).toBe(early.location);
    expect((await scim.get(one.location)).body[ENTERPRISE].manager.value).toBe(idOf(two));
    expect((await scim.get(spare.location)).status).toBe(404);
    expect(gone.location).toBe(spare.location);
  });

  test('a bulk operation whose bulkId reference is unknown or belongs to a refused operation answers 409 and stores nothing', async () => {
    await scim.user('taken@bulk.example');
    const results = await bulk([
      user('taken'),
      group('left out', 'bulkId:taken'),
      group('unknown', 'bulkId:constructor'),
      patch('/Groups/bulkId:unknown', { op: 'add', path: 'members', value: [{ value: 'x' }] }),
      group('plain', 'x'),
    ]);
    expect(statuses(results)).toEqual(['409', '409', '409', '409', '201']);
    expect(results[2].response.detail).toContain('bulkId:constructor');
    for (const result of results.slice(0, 4)) expect(result).not.toHaveProperty('location');
    expect(await scim.find('/Groups', 'displayName eq "left out" or displayName eq "unknown"')).toEqual([]);
  });

  test('a Bulk request that uses one bulkId twice answers 400, and no operation is executed', async () => {
    expect((await post([user('double'), group('double')])).body).toMatchObject({
      status: '400',
      scimType: 'invalidValue',
    });
    expect(await scim.find('/Users', 'userName eq "double@bulk.example"')).toEqual([]);
  });
});

describe('circular references (RFC 7644 §3.7.1)', () => {
  test('two groups that contain each other are created in one Bulk request', async () => {
    const [a, b, change] = await bulk([
      group('circle a', 'bulkId:circle b'),
      group('circle b', 'bulkId:circle a'),
      patch('/Groups/bulkId:circle a', { op: 'add', path: 'members', value: [{ value: 'later' }] }),
    ]);
    expect(statuses([a, b, change])).toEqual(['201', '201', '200']);
    expect(await membersOf(a.location)).toEqual([idOf(b), 'later'].sort());
    expect(await membersOf(b.location)).toEqual([idOf(a)]);
    expect((await scim.get(b.location)).headers.etag).toBe(b.version);
    expect((await scim.get(a.location)).headers.etag).toBe(change.version);
  });

  test('users who manage each other or themselves, and a group with all these users, are created in one Bulk request', async () => {
    const [team, x, y, self] = await bulk([
      group('circle team', 'bulkId:x', 'bulkId:y', 'bulkId:self'),
      user('x', managedBy('bulkId:y')),
      user('y', managedBy('bulkId:x')),
      user('self', managedBy('bulkId:self')),
    ]);
    expect(await membersOf(team.location)).toEqual([x, y, self].map(idOf).sort());
    for (const [one, manager] of [
      [x, y],
      [y, x],
      [self, self],
    ]) {
      const { body, headers } = await scim.get(one.location);
      expect(body[ENTERPRISE].manager.value).toBe(idOf(manager));
      expect(headers.etag).toBe(one.version);
    }
  });

  test('a bulk group that refers to a group whose creation is refused answers 409, and is created without this member', async () => {
    await scim.group('holder');
    const [first, second] = await bulk([
      group('half', 'bulkId:holder', 'kept'),
      group('holder', 'bulkId:half'),
    ]);
    expect([first.status, second.status]).toEqual(['409', '409']);
    expect(first.response).toMatchObject({ schemas: [ERROR], status: '409' });
    expect(await membersOf(first.location)).toEqual(['kept']);
  });

  test('bulk operations whose userNames refer to each other in a circle answer 409, and another operation is executed', async () => {
    const results = await bulk([
      { ...user('n1'), data: { userName: 'bulkId:n2' } },
      { ...user('n2'), data: { userName: 'bulkId:n1' } },
      user('n3'),
    ]);
    expect(statuses(results)).toEqual(['409', '409', '201']);
  });
});

describe('limits (RFC 7644 §3.7.4) and hostile input', () => {
  test('a Bulk request with maxOperations operations is executed; with one more it answers 413 and executes none', async () => {
    const missing = { method: 'DELETE', path: '/Users/nobody' };
    expect(await bulk(Array<object>(1000).fill(missing))).toHaveLength(1000);
    const answer = await post([user('too many'), ...Array<object>(1000).fill(missing)]);
    expect(answer).toMatchObject({ status: 413, body: { schemas: [ERROR], status: '413' } });
    expect(await scim.find('/Users', 'userName eq "too many@bulk.example"')).toEqual([]);
  });

  test('a Bulk body larger than maxPayloadSize answers 413', async () => {
    const answer = await post([user('large', { title: 'x'.repeat(MAX_BODY_BYTES) })]);
    expect(answer).toMatchObject({ status: 413, body: { status: '413' } });
    expect(answer.body.detail).toContain(String(MAX_BODY_BYTES));
  });

  test.each(['', 'null', '[]', '"text"', '{}', '{"schemas":[],"Operations":[]', '{"Operations":[[]]}'])(
    'a Bulk request with the body %j answers 400',
    async (body) => {
      expect((await scim.post('/Bulk', body)).status).toBe(400);
    },
  );

  test('`__proto__` is accepted as a bulkId, and a JSON key `__proto__` in a Bulk request changes no prototype', async () => {
    const text = JSON.stringify({
      schemas: [BULK_REQUEST],
      Operations: [user('__proto__'), group('proto group', 'bulkId:__proto__')],
    });
    const hostile = text.replace('"displayName":"proto', '"__proto__":{"polluted":"bulkId:__proto__"},$&');
    const { Operations } = (await scim.post('/Bulk', hostile)).body;
    expect(statuses(Operations)).toEqual(['201', '201']);
    expect(await membersOf(Operations[1].location)).toEqual([idOf(Operations[0])]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('a Bulk request with data nested 20,000 levels deep answers 400 invalidSyntax, and no operation is executed', async () => {
    const deep = `${'['.repeat(20_000)}"bulkId:shallow"${']'.repeat(20_000)}`;
    const text = JSON.stringify({
      schemas: [BULK_REQUEST],
      Operations: [user('deep', { emails: 'DEEP' }), user('shallow')],
    });
    const answer = await scim.post('/Bulk', text.replace('"DEEP"', deep));
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidSyntax' } });
    expect(await scim.find('/Users', 'userName sw "shallow"')).toEqual([]);
  });
});
