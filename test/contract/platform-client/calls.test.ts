// Tests the request of each call of the platform client, and the returned records.
import { afterEach, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { connectPlatform } from '../../../src/platform/client.ts';
import { PlatformArgument } from '../../../src/platform/errors.ts';
import {
  answerJson,
  SCIM_TOKEN,
  startFakePlatform,
  thrownBy,
  TOKEN,
  type FakePlatform,
  type Script,
} from './fake-platform.ts';

let platform: FakePlatform;
const start = async (script: Script, options = {}): Promise<FakePlatform> =>
  (platform = await startFakePlatform(script, options));
afterEach(() => platform.stop());

const USER = { id: 'u1', userName: 'jane@example.com' };
const GROUP = { id: 'g1', displayName: 'Finance' };
const listAnswer = (response: ServerResponse, ...rows: unknown[]): void =>
  answerJson(response, { totalResults: rows.length, startIndex: 1, itemsPerPage: 20, Resources: rows });

test('calls of SCIM addresses carry the SCIM token, calls of REST addresses the API key, and the correlation id is sent as x-request-id', async () => {
  await start((_, response) => answerJson(response, { ...USER, id: 7, username: 'jane', email: 'j@x.io' }));
  await platform.client.users.get('u1', { correlationId: 'run-1' });
  await platform.client.accounts.me();
  expect(platform.asked.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${SCIM_TOKEN}`,
    `Bearer ${TOKEN}`,
  ]);
  expect(platform.asked[0]?.headers).toMatchObject({ accept: 'application/json', 'x-request-id': 'run-1' });
  expect(platform.asked[1]?.headers['x-request-id']).toBeUndefined();
});

test('without a SCIM token the client sends the API key to SCIM and REST addresses', async () => {
  await start((_, response) => answerJson(response, USER));
  const client = connectPlatform({ url: platform.url, token: TOKEN, allowLoopbackHttp: true });
  await client.users.get('u1');
  await client.close();
  expect(platform.asked[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test('line breaks are removed from a correlation id, so that it adds no header to the request', async () => {
  await start((_, response) => answerJson(response, USER));
  await platform.client.users.get('u1', { correlationId: 'a\r\nx-evil: 1 é' });
  expect(platform.asked[0]?.headers['x-request-id']).toBe('ax-evil:1');
  expect(platform.asked[0]?.headers['x-evil']).toBeUndefined();
});

test('ids are encoded into one path segment, under the prefix of the tenant address', async () => {
  await start((_, response) => answerJson(response, USER));
  const client = platform.clientWith({ url: `${platform.url}/tenant/` });
  await client.users.get('a/b?c#d é../');
  expect(platform.asked[0]?.target).toBe('/tenant/api/scim/v2/Users/a%2Fb%3Fc%23d%20%C3%A9..%2F');
});

test.each(['', '.', '..', '\ud800'])(
  'a call with the id %j, which would change the path, throws PlatformArgument and sends no request',
  async (id) => {
    await start((_, response) => response.end());
    expect(await thrownBy(platform.client.users.delete(id))).toBeInstanceOf(PlatformArgument);
    expect(await thrownBy(platform.client.values.list(id))).toBeInstanceOf(PlatformArgument);
    expect(platform.asked).toEqual([]);
  },
);

test('findBy escapes the value and requests at most two results (contract 12.9 filter injection)', async () => {
  await start((_, response) => listAnswer(response, USER));
  await platform.client.users.findBy('userName', 'a"b\\c +&é');
  const query = platform.asked[0]?.url.searchParams;
  expect(query?.get('filter')).toBe('userName eq "a\\"b\\\\c +&é"');
  expect([query?.get('count'), query?.get('startIndex')]).toEqual(['2', '1']);
  expect(platform.asked[0]?.target).toContain('%20%2B%26');
});

test('findBy returns an empty list when the answer has no Resources', async () => {
  await start((_, response) => answerJson(response, { totalResults: 0 }));
  expect(await platform.client.users.findBy('externalId', 'nobody')).toEqual([]);
});

test('groups are found and listed without members, and read with members by default', async () => {
  await start((asked, response) =>
    asked.url.pathname.endsWith('/g1')
      ? answerJson(response, { ...GROUP, members: [{ value: 12 }, { value: 'u2' }] })
      : listAnswer(response, GROUP),
  );
  const { groups } = platform.client;
  expect(await groups.findByDisplayName('Finance')).toEqual([GROUP]);
  await groups.list({ startIndex: 3, count: 5, members: false });
  expect((await groups.get('g1', { members: true })).members).toEqual([{ value: '12' }, { value: 'u2' }]);
  await groups.get('g1', { members: false });
  expect(platform.asked.map(({ url }) => url.searchParams.get('excludedAttributes'))).toEqual([
    'members',
    'members',
    null,
    'members',
  ]);
  expect(platform.asked[1]?.url.searchParams.get('startIndex')).toBe('3');
});

test('users.create sends JSON with its length, and returns the record with its id as text and active as boolean', async () => {
  await start((_, response) =>
    answerJson(response, { ...USER, id: 42, active: 'False', displayName: null }, 201),
  );
  const made = await platform.client.users.create({ userName: 'jané@example.com' });
  expect(made).toEqual({ ...USER, id: '42', active: false });
  const { headers, text } = platform.asked[0] ?? {};
  expect(headers?.['content-type']).toBe('application/json');
  expect(headers?.['content-length']).toBe(String(Buffer.byteLength(text ?? '')));
});

test.each(['users', 'groups'] as const)(
  '%s.patch returns the record for 200, and undefined for 204',
  async (family) => {
    const record = family === 'users' ? USER : GROUP;
    let status = 200;
    await start((_, response) =>
      status === 204 ? response.writeHead(204).end() : answerJson(response, record),
    );
    const operations = [{ op: 'replace' as const, path: 'active', value: false }];
    expect(await platform.client[family].patch('x', operations)).toEqual(record);
    status = 204;
    expect(await platform.client[family].patch('x', operations)).toBeUndefined();
    expect(platform.asked[0]?.body).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: operations,
    });
  },
);

test('users.delete and groups.delete accept 204, and 200 with any text', async () => {
  let first = true;
  await start((_, response) => {
    response.writeHead(first ? 204 : 200).end(first ? undefined : 'gone');
    first = false;
  });
  expect(await platform.client.users.delete('u1')).toBeUndefined();
  expect(await platform.client.groups.delete('g1')).toBeUndefined();
  expect(platform.asked.map(({ method, text }) => [method, text])).toEqual([
    ['DELETE', ''],
    ['DELETE', ''],
  ]);
});

test('an attribute value is sent with ids as text, and ids in numbers are returned as text (contract 3.2)', async () => {
  const stored = { userId: 5, userAttributeId: 9, name: 'country', type: 'string', value: 'DE' };
  await start((asked, response) => answerJson(response, asked.method === 'GET' ? [stored] : stored));
  const expected = { ...stored, userId: '5', userAttributeId: '9' };
  expect(await platform.client.values.set('5', '9', 'DE')).toEqual(expected);
  await platform.client.values.set('5', '9', null);
  expect(await platform.client.values.list('5')).toEqual([expected]);
  expect(platform.asked.map(({ body }) => body)).toEqual([
    { userId: '5', userAttributeId: '9', value: 'DE' },
    { userId: '5', userAttributeId: '9', value: null },
    undefined,
  ]);
  expect(platform.asked[2]?.url.pathname).toBe('/api/v1/user-attribute-values/5');
});

test('the client reports every call with its path template in place of ids', async () => {
  await start((asked, response) => answerJson(response, asked.method === 'GET' ? USER : {}, 200));
  await platform.client.users.get('secret-person', { correlationId: 'c1' });
  await platform.client.users.create(USER).catch(() => undefined);
  expect(platform.calls).toEqual([
    {
      method: 'GET',
      route: '/api/scim/v2/Users/{id}',
      status: 200,
      durationMs: expect.any(Number),
      correlationId: 'c1',
    },
    {
      method: 'POST',
      route: '/api/scim/v2/Users',
      status: 200,
      durationMs: expect.any(Number),
      error: 'PlatformDecode',
    },
  ]);
});

test('the function `admit` runs before every request; when it throws, nothing is sent and the caller gets its error', async () => {
  const refusal = new Error('budget used up');
  let open = true;
  await start((_, response) => answerJson(response, USER), {
    admit: () => (open ? Promise.resolve() : Promise.reject(refusal)),
  });
  await platform.client.users.get('u1');
  open = false;
  expect(await thrownBy(platform.client.users.get('u1'))).toBe(refusal);
  expect(platform.asked).toHaveLength(1);
});

test('eight concurrent calls share the two connections that the settings allow', async () => {
  const ports = new Set<number | undefined>();
  await start(
    (_, response) => {
      ports.add(response.socket?.remotePort);
      setTimeout(() => answerJson(response, USER), 10);
    },
    { connections: 2 },
  );
  await Promise.all(Array.from({ length: 8 }, () => platform.client.users.get('u1')));
  expect(ports.size).toBe(2);
});
