// Tests hostile bodies: compression bombs, many small values, slow bodies, and many bodies at once.
import { gzipSync } from 'node:zlib';
import { startApi, userBody, type Client } from '../scim-conformance/client.ts';
import { TOKEN, type Bridge } from '../../support/build-bridge.ts';
import { answersIn, exchange, expectUnharmed, openRaw, parseAnswers, rawRequest } from './attack.ts';

const AUTH = { Authorization: `Bearer ${TOKEN}` };
const USERS = '/scim/v2/Users';
const GROUPS = '/scim/v2/Groups';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({
    configure: ({ server }) => {
      server.limits.inFlightBytes = 8_000_000;
      server.maxBodyBytes = 4_000_000;
    },
  }));
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

describe('bodies with very many values', () => {
  const bomb = `[${'{},'.repeat(1_000_000)}{}]`;

  test('a gzip body of a few kilobytes that holds a million objects answers 413 on /Users, /Groups, /Bulk and /.search', async () => {
    const packed = gzipSync(bomb);
    expect(packed.length).toBeLessThan(10_000);
    for (const path of ['/Users', '/Groups', '/Bulk', '/Users/.search']) {
      expect((await scim.post(path, packed, { 'content-encoding': 'gzip' })).status).toBe(413);
    }
  });

  test('a body with more than 500,000 brackets and commas answers 413, and a POST of a group with 65,000 members is stored', async () => {
    const values = (count: number): string => `[${'1,'.repeat(count)}1]`;
    const body = `{"displayName":"x","members":${values(500_000)}}`;
    expect((await scim.post('/Groups', body)).status).toBe(413);
    const members = Array.from({ length: 65_000 }, (_, n) => ({ value: `somebody-${n}` }));
    const { id } = (await scim.post('/Groups', { displayName: 'everybody', members })).body;
    expect(
      (
        await scim.get(
          `/Groups?excludedAttributes=members&filter=${encodeURIComponent('members.value eq "somebody-64999"')}`,
        )
      ).body.Resources,
    ).toEqual([expect.objectContaining({ id })]);
    // An answer with this many members exceeds these limits.
    expect(await scim.get(`/Groups/${id}`)).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
    expect((await scim.get(`/Groups/${id}?excludedAttributes=members`)).status).toBe(200);
    expect((await scim.put(`/Groups/${id}`, { displayName: 'all of them' })).status).toBe(200);
    // The write is done, so its answer is no error, and leaves the members out as the one of PUT does.
    const operation = { op: 'replace', path: 'displayName', value: 'each of them' };
    const patched = await scim.patch(`/Groups/${id}?attributes=displayName,members`, operation);
    expect([patched.status, patched.body.displayName, patched.body.members]).toEqual([
      200,
      'each of them',
      undefined,
    ]);
  });
});

describe('bodies beyond the size limits', () => {
  test('a user body above 1 MB answers 413 on POST, PUT, PATCH and /.search, whether sent plain or as gzip', async () => {
    const { id } = await scim.user('size@x.example');
    const text = JSON.stringify({ userName: 'large@x.example', title: 'x'.repeat(1_048_576) });
    const packed = gzipSync(text);
    for (const [method, path] of [
      ['POST', '/Users'],
      ['PUT', `/Users/${id}`],
      ['PATCH', `/Users/${id}`],
      ['POST', '/.search'],
    ] as const) {
      expect((await scim.send(method, path, text)).status).toBe(413);
      expect((await scim.send(method, path, packed, { 'content-encoding': 'gzip' })).status).toBe(413);
    }
  });

  test('a chunked body in thousands of one-byte chunks answers 413, and in chunks of 200 bytes is stored', async () => {
    const head = { ...AUTH, 'Content-Type': 'application/scim+json', 'Transfer-Encoding': 'chunked' };
    const chunked = (text: string, size: number): Buffer => {
      const chunks = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const wire = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
      return rawRequest(`POST ${USERS}`, head, `${wire}0\r\n\r\n`);
    };
    const title = 'x'.repeat(50_000);
    const body = JSON.stringify(userBody('crumbs@x.example', { title }));
    expect(await exchange(scim.port, chunked(body, 1))).toMatchObject([{ status: 413 }]);
    expect(await exchange(scim.port, chunked(body, 200))).toMatchObject([{ status: 201 }]);
  });

  test.each([
    ['without a valid token', `POST ${USERS}`, 'wrong'],
    ['on a GET, which has no body', `GET ${USERS}/1`, TOKEN],
    ['to the probe', 'POST /livez', 'wrong'],
    ['to the admin API', 'POST /admin/v1/plan', 'wrong'],
  ])(
    'the bridge closes the connection of an endless body in one-byte chunks that is sent %s',
    async (_who, line, token) => {
      const raw = await openRaw(scim.port);
      raw.write(rawRequest(line, { Authorization: `Bearer ${token}`, 'Transfer-Encoding': 'chunked' }));
      raw.write('1\r\nx\r\n'.repeat(2000));
      // The body never ends, so only the bridge can end this connection.
      await raw.read(() => false, 10_000);
      expect(raw.socket.destroyed).toBe(true);
    },
  );

  test.each([
    ['title', { title: 'x'.repeat(65_537) }],
    ['name.givenName', { name: { givenName: 'x'.repeat(65_537) } }],
    ['displayName', { displayName: 'x'.repeat(1001) }],
    ['externalId', { externalId: 'x'.repeat(1001) }],
    ['userName', { userName: 'x'.repeat(1001) }],
  ])(
    'a value of %s above its length limit answers 400 invalidValue on POST, PUT and PATCH, and nothing is stored',
    async (name, extra) => {
      const { id, meta } = await scim.user(`long-${name}@x.example`);
      const refused = {
        status: 400,
        body: { scimType: 'invalidValue', detail: expect.stringContaining(`"${name}"`) as unknown },
      };
      expect(await scim.post('/Users', userBody('other@x.example', extra))).toMatchObject(refused);
      expect(await scim.put(`/Users/${id}`, userBody(`long-${name}@x.example`, extra))).toMatchObject(
        refused,
      );
      expect(await scim.patch(`/Users/${id}`, { op: 'replace', value: extra })).toMatchObject(refused);
      expect((await scim.get(`/Users/${id}`)).body.meta.version).toBe(meta.version);
    },
  );

  test('a PATCH that makes a user larger than the size limit answers 400, and a later small PATCH answers 200', async () => {
    const { id } = await scim.user('grow@x.example');
    const grow = (step: number) =>
      scim.patch(`/Users/${id}`, {
        op: 'add',
        path: 'emails',
        value: Array.from({ length: 3 }, (_, n) => ({ value: `${step}-${n}-${'x'.repeat(60_000)}` })),
      });
    expect([(await grow(1)).status, (await grow(2)).status]).toEqual([200, 200]);
    expect(await grow(3)).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect((await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })).status).toBe(
      200,
    );
  });
});

describe('many large bodies at once', () => {
  const large = Buffer.from(`{"displayName":"${'x'.repeat(3_000_000)}"}`);

  test('a large body that exceeds the memory share of its SCIM connection answers 503 with Retry-After before it is read', async () => {
    const held = await openRaw(scim.port);
    held.write(
      rawRequest(`POST ${GROUPS}`, { ...AUTH, 'Content-Length': large.length }, large.subarray(0, -1)),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const startedAt = Date.now();
    const [refused] = await exchange(
      scim.port,
      rawRequest(`POST ${GROUPS}`, { ...AUTH, 'Content-Length': large.length }),
    );
    expect(Date.now() - startedAt).toBeLessThan(1000);
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) as unknown },
    });
    // A small body of the same connection still fits into its share.
    expect((await scim.post('/Users', userBody('small@x.example'))).status).toBe(201);
    held.write(large.subarray(-1));
    const wire = await held.read((text) => answersIn(text) === 1);
    held.close();
    expect(parseAnswers(wire)).toMatchObject([{ status: 400, body: { scimType: 'invalidValue' } }]);
    expect((await scim.post('/Groups', large)).status).toBe(400);
  });

  test('a chunked body that exceeds the memory share of its SCIM connection while it arrives answers 503 with Retry-After', async () => {
    const held = await openRaw(scim.port);
    held.write(
      rawRequest(`POST ${GROUPS}`, { ...AUTH, 'Content-Length': large.length }, large.subarray(0, -1)),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const raw = await openRaw(scim.port);
    raw.write(rawRequest(`POST ${GROUPS}`, { ...AUTH, 'Transfer-Encoding': 'chunked' }));
    const chunk = Buffer.from(`80000\r\n${'x'.repeat(0x80000)}\r\n`);
    for (let count = 0; count < 4; count++) raw.write(chunk);
    const wire = await raw.read((text) => text.includes('\r\n\r\n'));
    expect(wire).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: \d+\r\n/i);
    raw.close();
    held.close();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await scim.post('/Groups', large)).status).toBe(400);
  });
});

test('after five clients abandoned large uploads, their memory budget is free again and a 3 MB POST answers 201', async () => {
  for (let round = 0; round < 5; round++) {
    const raw = await openRaw(scim.port);
    raw.write(rawRequest(`POST ${GROUPS}`, { ...AUTH, 'Content-Length': 3_000_000 }, 'x'.repeat(2_900_000)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    raw.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect((await scim.post('/Groups', { displayName: 'after', title: 'x'.repeat(3_000_000) })).status).toBe(
    201,
  );
});

test('a request with a wrong token answers 401 before its body is read', async () => {
  const [answer] = await exchange(
    scim.port,
    rawRequest(`POST ${USERS}`, { Authorization: 'Bearer wrong', 'Content-Length': 999_999_999 }),
  );
  expect(answer?.status).toBe(401);
});
