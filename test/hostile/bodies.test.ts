// Tests bodies that exhaust memory, with every kind of token, against a started process.
import { gzipSync } from 'node:zlib';
import { userBody } from '../contract/scim-conformance/client.ts';
import { burst, scimRequest, structure, unfinished, type Tally } from './attacks.ts';
import { PEOPLE, startSiege, TOKENS, type Siege } from './siege.ts';

const USERS = '/scim/v2/Users';
const EVENTS = '/connections/default/events';

let siege: Siege;
beforeAll(async () => {
  siege = await startSiege({ people: PEOPLE });
}, 120_000);
afterAll(() => siege.stop());

const port = (): number => siege.bridge.port;
const post = (path: string, token: string, body: string | Buffer, headers = {}): Buffer =>
  scimRequest(`POST ${path}`, token, body, headers);
const user = (name: string, extra: object): string =>
  JSON.stringify(userBody(`${name}@bodies.example`, extra));
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Expects at least one answer, and no status but these: a service that only closes connections refuses without a reason. */
function expectRefused({ statuses }: Tally, allowed: number[]): void {
  const answered = Object.keys(statuses).map(Number);
  expect(answered).not.toEqual([]);
  expect(answered.filter((status) => !allowed.includes(status))).toEqual([]);
}

describe('a gzip body of 9 kB that decompresses to 9 MB of JSON structure is refused', () => {
  const bomb = gzipSync(structure(9_000_000));
  test.each([
    ['a SCIM token', USERS, TOKENS.scim],
    ['a SCIM token, Bulk', '/scim/v2/Bulk', TOKENS.scim],
    ["an event receiver's token", EVENTS, TOKENS.receiver],
    ["an operator's token", '/admin/v1/plan', TOKENS.admin],
    ['no valid token', USERS, 'wrong'],
  ])(
    'four posts of a 9 kB gzip bomb with %s are answered 400, 401, 413, 415 or 503, and other clients are still served',
    async (who, path, token) => {
      const wire = post(path, token, bomb, { 'Content-Encoding': 'gzip' });
      const tally = await siege.withstand(`gzip bomb with ${who}`, () =>
        burst(
          port(),
          times(4, () => wire),
        ),
      );
      expectRefused(tally, [400, 401, 413, 415, 503]);
    },
  );
});

test('16 concurrent posts of 9 MB are answered 400, 413 or 503, and other clients are still served', async () => {
  const wires = times(16, (index) =>
    post(USERS, TOKENS.scim, user(`nine${index}`, { title: 'x'.repeat(9_000_000) })),
  );
  const tally = await siege.withstand('16 posts of 9 MB', () => burst(port(), wires));
  expectRefused(tally, [400, 413, 503]);
});

test('200 concurrent posts of 500 kB are answered 400, 413 or 503, and other clients are still served', async () => {
  const wires = times(200, (index) =>
    post(USERS, TOKENS.scim, user(`half${index}`, { title: 'x'.repeat(500_000) })),
  );
  const tally = await siege.withstand('200 posts of 500 kB', () => burst(port(), wires));
  expectRefused(tally, [400, 413, 503]);
});

test('200 concurrent posts of 500 kB of brackets and commas are answered 400, 413 or 503, and other clients are still served', async () => {
  const wire = post('/scim/v2/Bulk', TOKENS.scim, structure(500_000));
  const tally = await siege.withstand('200 Bulk posts of 500 kB of structure', () =>
    burst(
      port(),
      times(200, () => wire),
    ),
  );
  expectRefused(tally, [400, 413, 503]);
});

test('60 users with a displayName of 1 MB are refused, and a list and a search are answered afterwards', async () => {
  const tally = await siege.withstand('60 users with a displayName of 1 MB, then lists', async () => {
    const all: Tally[] = [];
    for (const index of times(60, (each) => each)) {
      const wire = post(USERS, TOKENS.scim, user(`long${index}`, { displayName: 'x'.repeat(1_000_000) }));
      all.push(await burst(port(), [wire]));
    }
    const lists = [
      `GET ${USERS}?count=100`,
      `GET ${USERS}?filter=${encodeURIComponent('title co "nothing"')}`,
    ];
    all.push(
      await burst(
        port(),
        lists.map((line) => scimRequest(line, TOKENS.scim)),
      ),
    );
    return {
      statuses: Object.assign({}, ...all.map(({ statuses }) => statuses)) as Tally['statuses'],
      closed: all.reduce((sum, { closed }) => sum + closed, 0),
      faults: all.flatMap(({ faults }) => faults),
    };
  });
  expect(tally.statuses[201]).toBeUndefined();
  expect(tally.closed).toBe(0);
});

test('100 request bodies of 9 MB that never end leave the service within its memory', async () => {
  const wire = post(USERS, TOKENS.scim, user('slow', { title: 'x'.repeat(9_000_000) }));
  await siege.withstand('100 slow bodies of 9 MB', () =>
    unfinished(port(), wire, { connections: 100, holdMs: 3000 }),
  );
});

describe('20 concurrent bodies in very small chunks are refused', () => {
  const chunked = (line: string, token: string, chunk: string, count: number, headers = {}): Buffer =>
    Buffer.concat([
      scimRequest(line, token, undefined, { 'Transfer-Encoding': 'chunked', ...headers }),
      Buffer.from(`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(count)),
      Buffer.from('0\r\n\r\n'),
    ]);
  const CRUMBS = 800_000;
  test.each([
    ['of one byte', `POST ${USERS}`, TOKENS.scim, 'x', CRUMBS, {}],
    ['of one byte, gzip', `POST ${USERS}`, TOKENS.scim, 'x', CRUMBS, { 'Content-Encoding': 'gzip' }],
    ['of one byte, Bulk', 'POST /scim/v2/Bulk', TOKENS.scim, 'x', CRUMBS, {}],
    ['of one byte, to the admin API', 'POST /admin/v1/plan', TOKENS.admin, 'x', CRUMBS, {}],
    ['of one byte, without a valid token', `POST ${USERS}`, 'wrong', 'x', CRUMBS, {}],
    ['of one byte, to the probe', 'POST /livez', 'wrong', 'x', CRUMBS, {}],
    ['of one byte, in a GET', `GET ${USERS}/1`, TOKENS.scim, 'x', CRUMBS, {}],
    ['of 40 bytes', `POST ${USERS}`, TOKENS.scim, 'x'.repeat(40), 100_000, {}],
    ['of 40 bytes, Bulk', 'POST /scim/v2/Bulk', TOKENS.scim, 'x'.repeat(40), 200_000, {}],
  ])(
    '20 bodies in chunks %s are answered with a 4xx or 503, and other clients are still served',
    async (which, line, token, chunk, count, headers) => {
      const wire = chunked(line, token, chunk, count, headers);
      const tally = await siege.withstand(`bodies in chunks ${which}`, () =>
        burst(
          port(),
          times(20, () => wire),
        ),
      );
      expectRefused(tally, [400, 401, 404, 413, 503]);
    },
  );

  test('20 gzip bodies in chunks of 140 bytes are answered 400, 413 or 503, and other clients are still served', async () => {
    const packed = gzipSync(structure(4_000_000), { level: 0 });
    const head = { 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip' };
    const pieces = times(Math.ceil(packed.length / 140), (index) => {
      const chunk = packed.subarray(index * 140, (index + 1) * 140);
      return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
    });
    const wire = Buffer.concat([
      scimRequest('POST /scim/v2/Bulk', TOKENS.scim, undefined, head),
      ...pieces,
      Buffer.from('0\r\n\r\n'),
    ]);
    const tally = await siege.withstand('bodies in chunks of 140 bytes of gzip', () =>
      burst(
        port(),
        times(20, () => wire),
      ),
    );
    expectRefused(tally, [400, 413, 503]);
  });
});
