// Tests oversized requests: each is answered in bounded time while other clients are served.
import { gzipSync, deflateSync, brotliCompressSync, constants } from 'node:zlib';
import {
  CUSTOM,
  startApi,
  userBody,
  type Answer,
  type Client,
  type Json,
} from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';
import { expectUnharmed } from './attack.ts';

const LIMIT_MS = 10_000;

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({
    configure: (config) => void (config.server.maxBodyBytes = 10_485_760),
  }));
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

/** Sends a request and expects its answer within LIMIT_MS, and that of another client, sent at the same time, too. */
async function timely(send: () => Promise<Answer>): Promise<Answer> {
  const startedAt = Date.now();
  const pending = send();
  const neighbour = scim.get('/ServiceProviderConfig').then(() => Date.now() - startedAt);
  const answer = await pending;
  expect(Date.now() - startedAt).toBeLessThan(LIMIT_MS);
  expect(await neighbour).toBeLessThan(LIMIT_MS);
  return answer;
}

const nested = (depth: number, open: string, close: string, core = '1'): string =>
  open.repeat(depth) + core + close.repeat(depth);

describe('deeply nested bodies and filters', () => {
  test.each([33, 1000, 100_000, 1_000_000])(
    'a POST or PATCH nested %d levels deep answers 400, or 413 if it is above the size limit',
    async (depth) => {
      for (const body of [
        nested(depth, '[', ']'),
        nested(depth, '{"a":', '}'),
        `{"userName":"deep","name":${nested(depth, '{"a":', '}')}}`,
        `{"userName":"deep","${CUSTOM}":{"a":${nested(depth, '[', ']')}}}`,
      ]) {
        const { status } = await timely(() => scim.post('/Users', body));
        expect(status).toBe(body.length > 1_048_576 ? 413 : 400);
      }
      const { id } = await scim.user(`deep-${depth}@x.example`);
      const patch = `{"Operations":[{"op":"add","path":"name","value":${nested(depth, '{"a":', '}')}}]}`;
      const { status } = await timely(() => scim.send('PATCH', `/Users/${id}`, patch));
      expect(status).toBe(patch.length > 1_048_576 ? 413 : 400);
    },
  );

  test.each([33, 2000, 30_000])(
    'a filter of %d nested brackets or quotes in a .search body answers 400 invalidFilter',
    async (depth) => {
      for (const filter of [
        nested(depth, '(', ')', 'userName pr'),
        nested(depth, 'not (', ')', 'userName pr'),
        nested(depth, 'emails[', ']', 'value pr'),
        '('.repeat(depth),
        ')'.repeat(depth),
        '"'.repeat(depth),
      ]) {
        const answer = await timely(() => scim.post('/Users/.search', { filter }));
        expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
      }
    },
  );
});

describe('very long texts', () => {
  test('a filter of 100 KB answers 400 invalidFilter in a .search body, and 400, 414 or 431 in a URL', async () => {
    const filter = `userName eq "${'x'.repeat(100_000)}"`;
    const answer = await timely(() => scim.post('/Users/.search', { filter }));
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
    const many = Array.from({ length: 5000 }, (_, n) => `userName eq "${n}"`).join(' or ');
    expect((await timely(() => scim.post('/Users/.search', { filter: many }))).status).toBe(400);
    expect([400, 414, 431]).toContain((await scim.get(`/Users?filter=${encodeURIComponent(filter)}`)).status);
  });

  test('a filter of 4,000 characters on attributes without an index is answered within 10 s', async () => {
    await Promise.all(Array.from({ length: 300 }, (_, n) => scim.user(`scan${n}@x.example`)));
    const filter = Array.from({ length: 180 }, (_, n) => `title co "${n}"`).join(' or ');
    const answer = await timely(() => scim.post('/Users/.search', { filter }));
    expect(answer).toMatchObject({ status: 200, body: { totalResults: 0 } });
  });

  test('a PATCH path of 100 KB answers 400 invalidPath', async () => {
    const { id } = await scim.user('path@x.example');
    for (const path of [
      'x'.repeat(100_000),
      `emails[value eq "${'x'.repeat(100_000)}"].value`,
      '.'.repeat(100_000),
    ]) {
      const answer = await timely(() => scim.patch(`/Users/${id}`, { op: 'add', path, value: 'x' }));
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidPath' } });
    }
  });

  test('GET, PUT, PATCH and DELETE of an id of 10 KB answer 404', async () => {
    const id = 'x'.repeat(10_240);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'] as const) {
      const body = { PUT: { userName: 'x' }, PATCH: { Operations: [] } }[method as 'PUT'];
      expect((await timely(() => scim.send(method, `/Users/${id}`, body))).status).toBe(404);
    }
  });

  test('a POST with an attribute value of 5 MB stores it whole or answers 4xx', async () => {
    const title = 'x'.repeat(5_000_000);
    const answer = await timely(() => scim.post('/Users', userBody('huge@x.example', { title })));
    expect([201, 400, 413]).toContain(answer.status);
    if (answer.status === 201) expect(answer.body.title).toHaveLength(5_000_000);
  });

  test('of a Bulk request with a reference and a certificate of 4.5 MB both operations answer 400 invalidValue, and the others are executed', async () => {
    const long = 'a'.repeat(4_500_000);
    const post = (bulkId: string, extra: object) => ({
      method: 'POST',
      path: '/Users',
      bulkId,
      data: userBody(`${bulkId}@bulk-size.example`, extra),
    });
    const answer = await timely(() =>
      scim.post('/Bulk', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [
          post('before', {}),
          post('reference', { profileUrl: long }),
          post('certificate', { x509Certificates: [{ value: long }] }),
          post('after', {}),
        ],
      }),
    );
    const results = answer.body.Operations as Json[];
    expect(results.map(({ status }) => status as string)).toEqual(['201', '400', '400', '201']);
    for (const { response } of results.slice(1, 3)) expect(response.scimType).toBe('invalidValue');
  });
});

describe('very many operations, values and parameters', () => {
  test('a PATCH of 10,000 operations answers 400 tooMany and changes nothing', async () => {
    const { id, meta } = await scim.user('ops@x.example');
    const operations = Array.from({ length: 10_000 }, (_, n) => ({
      op: 'replace',
      path: 'title',
      value: `t${n}`,
    }));
    const answer = await timely(() => scim.patch(`/Users/${id}`, ...operations));
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
    expect((await scim.get(`/Users/${id}`)).body.meta.version).toBe(meta.version);
  });

  test('a PATCH operation without path and with 3,000 keys that are value paths is answered within 10 s', async () => {
    const { id } = await scim.user('keys@x.example');
    const value = Object.fromEntries(
      Array.from({ length: 3000 }, (_, n) => [`emails[type eq "t${n}"].value`, `${n}@x.example`]),
    );
    const answer = await timely(() => scim.patch(`/Users/${id}`, { op: 'add', value }));
    expect([200, 400, 413]).toContain(answer.status);
  }, 120_000);

  test('a PATCH operation without path and with 50,000 unknown keys is answered within 10 s', async () => {
    const { id } = await scim.user('unknown-keys@x.example');
    const value = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`unknown${n}`, n]));
    expect([200, 400]).toContain(
      (await timely(() => scim.patch(`/Users/${id}`, { op: 'add', value }))).status,
    );
  }, 60_000);

  test('a user with 5,000 e-mails is refused, and a PATCH of 1,000 operations on 900 e-mails is answered, within 10 s each', async () => {
    const emailsOf = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ value: `${n}@x.example`, type: `t${n}` }));
    const tooMany = userBody('too-many-emails@x.example', { emails: emailsOf(5000) });
    expect([400, 413]).toContain((await timely(() => scim.post('/Users', tooMany))).status);
    const created = await timely(() =>
      scim.post('/Users', userBody('emails@x.example', { emails: emailsOf(900) })),
    );
    expect(created.status).toBe(201);
    const operations = Array.from({ length: 1000 }, (_, n) => ({
      op: 'replace',
      path: `emails[type eq "t${n % 900}" and value ne "x"].value`,
      value: `new${n}@x.example`,
    }));
    const answer = await timely(() => scim.patch(`/Users/${created.body.id}`, ...operations));
    expect([200, 400, 413]).toContain(answer.status);
  }, 120_000);

  test('a PATCH of 1,000 operations that append 10 values each is answered within 10 s', async () => {
    const { id } = await scim.user('append@x.example');
    const operations = Array.from({ length: 1000 }, (_, n) => ({
      op: 'add',
      path: 'emails',
      value: Array.from({ length: 10 }, (_each, m) => ({ value: `${n}-${m}@x.example` })),
    }));
    const answer = await timely(() => scim.patch(`/Users/${id}`, ...operations));
    expect([200, 400, 413]).toContain(answer.status);
  }, 120_000);

  test('PATCHes that add values to an undeclared attribute end at 1,000 values with 400, and a PUT of the answer is accepted', async () => {
    const { id } = await scim.user('open@x.example');
    const path = `${CUSTOM}:notes`;
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);
    const add = (value: unknown) => scim.patch(`/Users/${id}`, { op: 'add', path, value });
    expect((await add(numbers(0, 999))).status).toBe(200);
    expect(await add(numbers(500, 501))).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect((await add(999)).status).toBe(200);
    const { body } = await scim.get(`/Users/${id}`);
    expect(body[CUSTOM].notes).toHaveLength(1000);
    expect((await scim.put(`/Users/${id}`, body)).status).toBe(200);
    expect((await add(7)).status).toBe(200);
    const many = numbers(0, 1000).map((n) => ({ op: 'add', path, value: numbers(130 * n, 130) }));
    const answer = await timely(() => scim.patch(`/Users/${id}`, ...many));
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  }, 60_000);

  test('operations that compare over a million values are refused with tooMany, alone and in Bulk, and 20 removals from 1,000 e-mails are done', async () => {
    const emails = Array.from({ length: 1000 }, (_, n) => ({ value: `a${n}` }));
    const { id } = await scim.user('filters@x.example', { emails });
    const removals = (count: number, comparisons: number) => {
      const filter = Array.from({ length: comparisons }, (_, n) => `value eq "z${n}"`).join(' or ');
      return Array.from({ length: count }, () => ({ op: 'remove', path: `emails[${filter}]` }));
    };
    const tooMany = { status: 400, body: { scimType: 'tooMany' } };
    expect(await timely(() => scim.patch(`/Users/${id}`, ...removals(220, 200)))).toMatchObject(tooMany);
    const named = emails
      .slice(0, 20)
      .map(({ value }) => ({ op: 'remove', path: `emails[value eq "${value}"]` }));
    expect((await timely(() => scim.patch(`/Users/${id}`, ...named))).body.emails).toHaveLength(980);
    const data = { Operations: removals(100, 4) };
    const Operations = Array.from({ length: 20 }, () => ({ method: 'PATCH', path: `/Users/${id}`, data }));
    const { status, body } = await timely(() => scim.post('/Bulk', { Operations }));
    expect([status, body.Operations.map((each: Json) => each.status)]).toEqual([
      200,
      ['200', '200', ...Array<string>(18).fill('400')],
    ]);
  }, 60_000);

  test('filters on 5,000 group members: 1,000 long ones in a PATCH are refused, others remove, and a long one in a list is answered', async () => {
    const user = await scim.user('member@x.example');
    const values = Array.from({ length: 4999 }, (_, n) => `somebody-${n}`);
    const { id } = await scim.group('filtered crowd', [user.id, ...values]);
    const long = Array.from({ length: 180 }, (_, n) => `value ew "z${n}"`).join(' or ');
    const remove = (filter: string) => ({ op: 'remove', path: `members[${filter}]` });
    const attack = Array.from({ length: 1000 }, () => remove(long));
    expect(await timely(() => scim.patch(`/Groups/${id}`, ...attack))).toMatchObject({
      status: 400,
      body: { scimType: 'tooMany' },
    });
    const one = Array.from({ length: 500 }, (_, n) => remove(`type ne "Group" and value eq "somebody-${n}"`));
    expect((await timely(() => scim.patch(`/Groups/${id}`, ...one))).status).toBe(204);
    const filter = `members[${long}] or members.value eq "${user.id}"`;
    const found = await timely(() =>
      scim.post('/Groups/.search', { filter, excludedAttributes: ['members'] }),
    );
    expect(found).toMatchObject({ status: 200, body: { totalResults: 1 } });
    // A member that the same PATCH adds is known as a user, too.
    const other = await scim.user('other-member@x.example');
    const added = { op: 'add', path: 'members', value: [{ value: other.id }, { value: 'nobody' }] };
    expect((await scim.patch(`/Groups/${id}`, added, remove('type eq "User"'))).status).toBe(204);
    expect((await scim.get(`/Groups/${id}`)).body.members).toHaveLength(4500);
  }, 60_000);

  test('a PATCH that adds 10,000 members, each named twice, stores each of them once', async () => {
    const { id } = await scim.group('crowd');
    const value = Array.from({ length: 20_000 }, (_, n) => ({ value: `nobody-${n % 10_000}` }));
    const answer = await timely(() => scim.patch(`/Groups/${id}`, { op: 'add', path: 'members', value }));
    expect(answer.status).toBe(204);
    expect((await scim.get(`/Groups/${id}`)).body.members).toHaveLength(10_000);
  });

  test('a user with 20,000 schemas, and a search with 50,000 attribute names, are answered within 10 s', async () => {
    const schemas = Array.from({ length: 20_000 }, (_, n) => `urn:x:${n}`);
    expect((await timely(() => scim.post('/Users', userBody('schemas@x.example', { schemas })))).status).toBe(
      201,
    );
    const attributes = Array.from({ length: 50_000 }, (_, n) => `name.x${n}`);
    expect((await timely(() => scim.post('/Users/.search', { attributes, count: 1 }))).status).toBe(200);
  });
});

describe('compression bombs', () => {
  const json = (bytes: number): string =>
    JSON.stringify(userBody('bomb@x.example', { title: 'x'.repeat(bytes) }));

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    // The highest compression quality takes seconds and does not make the body more hostile.
    ['br', (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const)(
    'a small %s body that decompresses to 50 MB answers 413, or 415 for its encoding',
    async (encoding, compress) => {
      const bytes = compress(Buffer.from(json(50_000_000)));
      expect(bytes.length).toBeLessThan(200_000);
      const answer = await timely(() => scim.post('/Users', bytes, { 'content-encoding': encoding }));
      expect([413, 415]).toContain(answer.status);
    },
  );

  test('a gzip body within the limit is stored; a truncated one answers 400, and one that is packed twice answers 415', async () => {
    const packed = gzipSync(Buffer.from(json(10)));
    expect((await scim.post('/Users', packed, { 'content-encoding': 'gzip' })).status).toBe(201);
    const cut = packed.subarray(0, packed.length - 12);
    expect((await scim.post('/Users', cut, { 'content-encoding': 'gzip' })).status).toBe(400);
    const plain = await scim.post('/Users', json(10), { 'content-encoding': 'gzip' });
    expect(plain.status).toBe(400);
    const twice = await scim.post('/Users', gzipSync(packed), { 'content-encoding': 'gzip, gzip' });
    expect(twice.status).toBe(415);
    const trailing = Buffer.concat([packed, Buffer.from('junk')]);
    expect([201, 400, 409]).toContain(
      (await scim.post('/Users', trailing, { 'content-encoding': 'gzip' })).status,
    );
  });
});
