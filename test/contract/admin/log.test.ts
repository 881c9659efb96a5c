// Tests how the provisioning log and the audit log are searched, paged and exported through the admin API, with a log of
// 200,000 entries.
import { openDesiredStates } from '../../../src/app/open.ts';
import { untilReady } from '../../../src/directory/redis/connection.ts';
import type { LogEntry } from '../../../src/directory/logs/provisioning-log.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { seedLog } from '../../support/seed-log.ts';
import { openAdmin, type AdminReply, type AdminRig } from './rig.ts';

const COUNT = 200_000;
const STEP_MS = 10_000;
/** A spreadsheet program could take both parts of the name for a formula. */
const NAME = '=rare,+1@acme.example';
const authorization = `Bearer ${ADMIN_TOKEN}`;
/** Serials of the only entries of the person; 0 is the oldest entry. */
const RARE = [100, 120_000, 190_000];
let rig: AdminRig;
let from: number;
let id: string;

/** The entries of the log are two weeks old and older. */
beforeAll(async () => {
  rig = await openAdmin({ configure: (config) => void (config.provisioningLog.maxAgeDays = 90) });
  id = await rig.bridge.idp.createUser(NAME);
  await rig.untilSynced();
  const { redis } = openDesiredStates(rig.bridge.config);
  await untilReady(redis, 5000);
  from = Date.now() - COUNT * STEP_MS - 14 * 86_400_000;
  const base = `${rig.bridge.config.redis.prefix}:{default}:`;
  await redis.del(`${base}log:main`);
  const rare: Partial<LogEntry> = { ref: `User:${id}`, name: NAME };
  const entry = (serial: number): Partial<LogEntry> => (RARE.includes(serial) ? rare : {});
  await seedLog(redis, { base, target: 'main', count: COUNT, from, stepMs: STEP_MS, entry });
  redis.disconnect();
}, 180_000);
afterAll(() => rig.bridge.stop());

const at = (serial: number): string => new Date(from + serial * STEP_MS).toISOString();
const idsOf = ({ body }: AdminReply): string[] => body.map((entry: { id: string }) => entry.id);
const entryId = (serial: number): string => `default.main.${from + serial * STEP_MS}-0`;
const search = (body: object): Promise<AdminReply> => rig.operator.post('/log/search', body);
const nextOf = ({ headers }: AdminReply): string | undefined => headers['x-next-before'];

test('a log search for a person with few entries in a long log returns each of these entries once, page by page', async () => {
  const found: string[] = [];
  const places: number[] = [];
  let longest = 0;
  for (let before: string | undefined, pages = 0; pages === 0 || before !== undefined; pages++) {
    const began = performance.now();
    const page = await search({ resource: NAME, before });
    longest = Math.max(longest, performance.now() - began);
    found.push(...idsOf(page));
    before = nextOf(page);
    if (before !== undefined) places.push(Number(/\.(\d+)-0$/.exec(before)?.[1]));
  }
  expect(found).toEqual(RARE.toReversed().map(entryId));
  expect(places.length).toBeGreaterThan(1);
  expect(places).toEqual([...new Set(places)].sort((a, b) => b - a));
  expect(longest).toBeLessThan(3000);
}, 120_000);

/** Repeats a search until its page has all matches: a page also ends after 150 ms, which a busy machine may need for any search. */
const completePage = (body: object): Promise<AdminReply> =>
  eventually('a page that is not cut by its time limit', async () => {
    const page = await search(body);
    return nextOf(page) === undefined && page;
  });

test('a log search limited by person and time, or by a short time alone, returns all matching entries in one page', async () => {
  const page = await completePage({ resource: NAME, since: at(119_900), until: at(120_100) });
  expect(idsOf(page)).toEqual([entryId(120_000)]);
  const all = await completePage({ since: at(500), until: at(503) });
  expect(idsOf(all)).toEqual([503, 502, 501, 500].map(entryId));
});

test('a log search since a time before 1970 finds entries, and a log search until that time finds none', async () => {
  const old = '1969-12-31T00:00:00Z';
  expect(idsOf(await search({ since: old, limit: 1 }))).toHaveLength(1);
  expect(idsOf(await search({ until: old }))).toEqual([]);
  expect((await rig.operator.get(`/acts?since=${old}`)).status).toBe(200);
});

test.each(['7', '2027-02-31'])('a log search since %s answers 400 with the form of a date', async (since) => {
  const { status, body } = await rig.operator.get(`/log?since=${since}`);
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('2027-01-31T08:00:00Z')]);
});

test('the header X-Next-Before of a log page leads to the next page, and the last page has no such header', async () => {
  const span = { since: at(1000), until: at(1009), limit: 5 };
  const first = await search(span);
  const second = await search({ ...span, before: nextOf(first) });
  expect([...idsOf(first), ...idsOf(second)]).toEqual(
    Array.from({ length: 10 }, (_, index) => entryId(1009 - index)),
  );
  expect(nextOf(second)).toBeUndefined();
  const named = await search({ resource: NAME, since: at(RARE[2] ?? 0) });
  expect([first.headers['x-resource'], named.headers['x-resource']]).toEqual([undefined, `User:${id}`]);
  const got = await rig.operator.get(`/log?since=${at(1000)}&until=${at(1009)}&limit=5`);
  expect([got.body, nextOf(got)]).toEqual([first.body, nextOf(first)]);
});

describe('exports of the provisioning log', () => {
  const rare = { resource: NAME, format: 'ndjson' };

  test('a log export as NDJSON has the entries of the same search; as CSV it has one row for each, with escaped cells', async () => {
    const span = { since: at(119_000), until: at(121_000) };
    const records = (await completePage({ resource: NAME, ...span })).body;
    const filter = { ...rare, ...span };
    const lines = await rig.operator.post('/log/export', filter);
    expect(lines.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-disposition': 'attachment; filename="provisioning-log.ndjson"',
    });
    const text = String(Buffer.isBuffer(lines.body) ? lines.body : lines.text);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(records);
    const csv = await rig.operator.post('/log/export', { ...filter, format: 'csv' });
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    const [header, row, ...others] = csv.text.trim().split('\n');
    expect(header).toMatch(/^id,activityDateTime,connection,target,status,/);
    expect(row).toContain(`,User,${id},"'=rare,'+1@acme.example",`);
    expect(others).toEqual([]);
  });

  test('a log export without a limit has every matching entry; one with a limit says in its last line where to continue', async () => {
    const all = await rig.raw(`/admin/v1/log/export?format=ndjson&resource=User:${id}`, {
      headers: { authorization },
    });
    const found = (await all.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(found).toEqual(RARE.toReversed().map(entryId));
    const path = `/admin/v1/log/export?since=${at(10)}&until=${at(14)}&limit=3`;
    const read = async (more: string): Promise<string[]> => {
      const answer = await rig.raw(`${path}${more}`, { headers: { authorization } });
      return (await answer.text()).trim().split('\n');
    };
    const lines = (await read('&format=ndjson')).map((line) => JSON.parse(line));
    expect(lines.map((line) => line.id ?? line)).toEqual([
      ...[14, 13, 12].map(entryId),
      { more: true, before: entryId(12) },
    ]);
    const rest = (await read(`&format=ndjson&before=${entryId(12)}`)).map((line) => JSON.parse(line).id);
    expect(rest).toEqual([11, 10].map(entryId));
    const rows = await read('&format=csv');
    expect(rows).toHaveLength(5);
    // 23 commas: the line has as many cells as the others.
    expect(rows.at(-1)).toBe(`There is more: export again with before=${entryId(12)}${','.repeat(23)}`);
    expect((await rig.operator.get('/log/export?format=xml')).status).toBe(400);
    expect((await rig.operator.get('/log/export')).status).toBe(400);
    expect((await rig.operator.get('/log/export?format=csv&limit=100001')).status).toBe(400);
  });

  test('a log export during another export answers 429, and is accepted after the client of the running export disconnects', async () => {
    const leaving = new AbortController();
    const first = await rig.raw('/admin/v1/log/export?format=ndjson', {
      headers: { authorization },
      signal: leaving.signal,
    });
    await first.body?.getReader().read();
    const refused = await rig.operator.get('/acts/export?format=csv');
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10']);
    leaving.abort();
    const short = `/log/export?format=ndjson&since=${at(1)}&until=${at(1)}`;
    await eventually(
      'the next export is accepted',
      async () => (await rig.operator.get(short)).status === 200,
    );
    expect(rig.bridge.logs.filter((line) => line.includes('broke off'))).toEqual([]);
  });

  test('the service logs the routes of log searches and exports, and no name that was searched for', () => {
    expect(rig.bridge.logs.filter((line) => line.includes('rare@'))).toEqual([]);
    const routes = rig.bridge.logs.flatMap((line) =>
      line.includes('/log/') ? [JSON.parse(line).route] : [],
    );
    expect(new Set(routes)).toEqual(new Set(['/admin/v1/log/search', '/admin/v1/log/export']));
  });
});

test('audit entries are filtered by action, operator and interface, paged and exported', async () => {
  const { operator } = rig;
  const headers = { authorization, 'content-type': 'application/json', 'x-scim-bridge-via': 'page' };
  await operator.post('/resync', { by: 'Alice Ng', note: '=1+1' });
  await rig.raw('/admin/v1/resync', { method: 'POST', headers, body: '{"by":"bob"}' });
  await operator.post('/hold', { by: 'bob' });
  await operator.post('/release', { by: 'alice ng', target: 'main' });
  const actsOf = async (filter: object): Promise<string[]> =>
    (await operator.post('/acts/search', filter)).body.map(({ act, by }: any) => `${act} ${by}`);
  expect(await actsOf({ by: 'ALICE' })).toEqual(['release alice ng', 'resync Alice Ng']);
  expect(await actsOf({ via: ['page'] })).toEqual(['resync bob']);
  expect(await actsOf({ action: ['hold', 'resync'], by: 'bob', via: ['admin API'] })).toEqual(['hold bob']);
  expect((await operator.get('/acts?by=bob&via=page')).body).toHaveLength(1);
  const first = await operator.post('/acts/search', { limit: 3 });
  const second = await operator.post('/acts/search', { limit: 3, before: nextOf(first) });
  expect([first.body.length, second.body.length, nextOf(second)]).toEqual([3, 1, undefined]);
  const csv = await operator.post('/acts/export', { format: 'csv', by: 'ng', action: ['resync'] });
  const [header, row] = csv.text.trim().split('\n');
  expect(header).toBe('id,at,connection,target,act,by,via,subject,count,note,order,forgotten');
  expect(row).toMatch(/,resync,Alice Ng,admin API,,\d*,'=1\+1,,$/);
  const lines = await rig.raw('/admin/v1/acts/export?format=ndjson', { headers });
  const exported = (await lines.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(exported).toEqual([...first.body, ...second.body]);
});
