// Tests lists as attacks: large pages, many at once, many on one connection, and clients that disconnect.
import { request } from 'undici';
import { startApi, userBody, type Client, type Json } from '../scim-conformance/client.ts';
import { TOKEN, type Bridge } from '../../support/build-bridge.ts';
import { expectUnharmed, openRaw, rawRequest } from './attack.ts';

const AUTH = { Authorization: `Bearer ${TOKEN}` };
const PAGE_BYTES = 200_000;
const LARGE = 8;
const SMALL = 40;

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({
    configure: ({ server }) => void Object.assign(server.limits, { pageBytes: PAGE_BYTES, lists: 2 }),
  }));
  for (let n = 0; n < LARGE; n++) {
    const emails = [0, 1].map((each) => ({ value: `${each}${'x'.repeat(45_000)}`, type: `t${each}` }));
    await scim.post('/Users', userBody(`large${n}@x.example`, { emails, title: 'large' }));
  }
  for (let n = 0; n < SMALL; n++) await scim.user(`small${n}@x.example`);
  const members = Array.from({ length: 1500 }, (_, n) => ({ value: `somebody-${n}-${'x'.repeat(60)}` }));
  for (let n = 0; n < 4; n++) await scim.post('/Groups', { displayName: `crowd${n}`, members });
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

const idsOf = ({ Resources }: Json): string[] => (Resources as Json[]).map(({ id }) => id as string);

describe('pages limited by server.limits.pageBytes', () => {
  test.each(['', '&filter=userName pr', '&sortBy=userName', '&filter=displayName co "Jo"&sortBy=title'])(
    'pages by startIndex stay below the byte limit and together list each user once (further parameters: "%s")',
    async (query) => {
      const seen: string[] = [];
      for (let startIndex = 1; startIndex <= LARGE + SMALL;) {
        const { status, text, body } = await scim.get(`/Users?count=1000&startIndex=${startIndex}${query}`);
        expect([status, body.totalResults, body.itemsPerPage]).toEqual([
          200,
          LARGE + SMALL,
          body.Resources.length,
        ]);
        expect(text.length).toBeLessThan(PAGE_BYTES * 1.2);
        seen.push(...idsOf(body));
        startIndex += body.itemsPerPage as number;
      }
      expect(new Set(seen).size).toBe(LARGE + SMALL);
      expect(seen).toHaveLength(LARGE + SMALL);
    },
  );

  test.each(['/Users?', '/Users?filter=userName pr&', '/Users?sortBy=userName&', '/Groups?'])(
    'pages by cursor stay below the byte limit and together list each resource once: %s',
    async (path) => {
      const seen: string[] = [];
      let cursor: string | undefined = '';
      let total = 0;
      while (cursor !== undefined) {
        const { text, body } = await scim.get(`${path}count=1000&cursor=${cursor}`);
        expect(text.length).toBeLessThan(PAGE_BYTES * 1.2);
        seen.push(...idsOf(body));
        total = body.totalResults as number;
        cursor = body.nextCursor as string | undefined;
      }
      expect(new Set(seen).size).toBe(total);
      expect(seen).toHaveLength(total);
    },
  );

  test('a group larger than pageBytes is listed with all its 5,000 members, and without members all groups fit on one page', async () => {
    const members = Array.from({ length: 5000 }, (_, n) => ({ value: `nobody-${n}-${'x'.repeat(60)}` }));
    const { id } = (await scim.post('/Groups', { displayName: 'huge', members })).body;
    const filter = encodeURIComponent('displayName eq "huge"');
    expect((await scim.get(`/Groups?filter=${filter}`)).body.Resources[0].members).toHaveLength(5000);
    expect((await scim.get('/Groups?excludedAttributes=members')).body.Resources).toHaveLength(5);
    await scim.delete(`/Groups/${id}`);
  });
});

test('of 100 concurrent unindexed lists some answer 200 and the others 503, and a lookup by userName meanwhile finds its user', async () => {
  const list = `/Users?filter=${encodeURIComponent('title co "nothing" or name.familyName co "nobody"')}`;
  const lists = Array.from({ length: 100 }, () => scim.get(list));
  const found = await scim.find('/Users', 'userName eq "small1@x.example"');
  expect(found).toHaveLength(1);
  const statuses = (await Promise.all(lists)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

test('of 100 pipelined lists whose client does not read, fewer than 80 are computed until it reads; then all answer 200', async () => {
  const raw = await openRaw(scim.port);
  const before = bridge.logs.length;
  const lists = Array.from({ length: 100 }, () => rawRequest('GET /scim/v2/Users?count=1000', AUTH));
  raw.socket.pause();
  raw.write(Buffer.concat([...lists, rawRequest('GET /scim/v2/nowhere', AUTH)]));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const answered = bridge.logs
    .slice(before)
    .filter((line) => line.includes('"route":"/scim/v2/Users"')).length;
  // The socket buffers of the system hold a few answers.
  expect(answered).toBeLessThan(80);
  raw.socket.resume();
  const wire = await raw.read((text) => text.slice(-1000).includes('No such address'), 25_000);
  raw.close();
  expect(wire.match(/HTTP\/1\.1 \d+/g)).toEqual([...Array<string>(100).fill('HTTP/1.1 200'), 'HTTP/1.1 404']);
}, 30_000);

test('after 40 clients disconnected during their lists, a further list answers 200, and no unexpected failure is logged', async () => {
  const list = `${scim.root}/Users?sortBy=title&filter=${encodeURIComponent('name.familyName pr')}`;
  await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const signal = AbortSignal.timeout(5 + n);
      await request(list, { headers: AUTH, signal })
        .then(({ body }) => body.dump())
        .catch(() => undefined);
    }),
  );
  expect((await scim.get('/Users?sortBy=title')).status).toBe(200);
  expect(bridge.logs.filter((line) => line.includes('failed unexpectedly'))).toEqual([]);
});
