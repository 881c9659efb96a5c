// Tests the JSON query language of the data API: answers and refusals (contract 5.1 and 5.5).
import { EVERYTHING, inGroups, makeToken, startDataRig, type DataRig } from './data-rig.ts';

let rig: DataRig;
const COUNT = 'orders.count';
const TOTAL = 'orders.total_amount';
const COUNTRY = 'orders.country';
const STATUS = 'orders.status';
const CREATED = 'orders.created_at';
const byCountry = { measures: [COUNT], dimensions: [COUNTRY] };
const data = async (query: object): Promise<Record<string, any>[]> => {
  const { status, body } = await rig.load(query);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
};
const sum = (rows: Record<string, any>[], name: string): number =>
  rows.reduce((total, row) => total + Number(row[name]), 0);

beforeAll(async () => {
  rig = await startDataRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('DATA-01 POST /v1/load returns rows with member names as keys, and an annotation of the members', async () => {
  const { status, headers, body } = await rig.load({ measures: [COUNT, TOTAL], dimensions: [COUNTRY] });
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(body.data.length).toBeGreaterThan(4);
  for (const row of body.data) {
    expect(row).toEqual({
      [COUNTRY]: expect.stringMatching(/^[A-Z]{2}$/),
      // Numbers are text, as the gateway sends them.
      [COUNT]: expect.stringMatching(/^\d+$/),
      [TOTAL]: expect.stringMatching(/^\d+\.\d\d$/),
    });
  }
  expect(body.annotation).toMatchObject({
    measures: { [COUNT]: { type: 'number', shortTitle: 'Count', drillMembers: [] } },
    dimensions: { [COUNTRY]: { type: 'string', title: 'Orders Country' } },
    segments: {},
    timeDimensions: {},
  });
  expect(body).not.toHaveProperty('total');
  expect(body).toMatchObject({ external: false, slowQuery: false, dataSource: 'default' });
  expect(body.query).toMatchObject({ measures: [COUNT, TOTAL], timezone: 'UTC', limit: 10_000 });
});

test('DATA-01 count and sum without dimensions equal the totals of the rows by country', async () => {
  const rows = await data({ measures: [COUNT, TOTAL], dimensions: [COUNTRY] });
  const [all] = await data({ measures: [COUNT, TOTAL] });
  expect(sum(rows, COUNT)).toBe(640);
  expect(all).toEqual({ [COUNT]: '640', [TOTAL]: sum(rows, TOTAL).toFixed(2) });
});

test('DATA-02 /v1/load answers a single query with data at the top level, and with queryType multi with a list of results', async () => {
  const ask = (body: object) => rig.ask('POST', '/v1/load', { body });
  expect(Object.keys((await ask({ query: byCountry })).body)).toEqual(
    expect.arrayContaining(['query', 'data', 'annotation']),
  );
  const one = (await ask({ query: byCountry, queryType: 'multi' })).body;
  expect(one).toMatchObject({
    queryType: 'regularQuery',
    slowQuery: false,
    pivotQuery: { dimensions: [COUNTRY] },
  });
  expect(one.results).toHaveLength(1);
  const times = [{ dimension: CREATED, granularity: 'year' }];
  const blended = [
    { ...byCountry, timeDimensions: times },
    { measures: [COUNT], timeDimensions: times },
  ];
  const two = (await ask({ query: blended, queryType: 'multi' })).body;
  expect(two.queryType).toBe('blendingQuery');
  expect(two.results.map((result: any) => result.data.length)).toEqual([12, 2]);
  expect(two.results[0].annotation.measures[COUNT]).toBeDefined();
});

test('DATA-03 an array of queries without queryType multi answers 400', async () => {
  const { status, body } = await rig.load([
    { ...byCountry, timeDimensions: [{ dimension: CREATED, granularity: 'year' }] },
  ]);
  expect([status, body.error]).toEqual([400, expect.stringContaining('not supported by the client')]);
});

test('DATA-04 an invalid query answers 400 with {error}', async () => {
  const bad: unknown[] = [
    { measures: ['orders.nothing'] },
    { measures: ['nowhere.count'] },
    { dimensions: [COUNT] },
    { measures: [COUNTRY] },
    { measures: 'orders.count' },
    { measures: [COUNT, 'countries.count'] },
    { measures: ['raw_orders.count'] },
    {},
    { segments: ['orders.completed'] },
    { timeDimensions: [{ dimension: CREATED }] },
    { timeDimensions: [{ dimension: STATUS, granularity: 'day' }] },
    { timeDimensions: [{ dimension: CREATED, granularity: 'fortnight' }] },
    { measures: [COUNT], timeDimensions: [{ dimension: CREATED, dateRange: 'once upon a time' }] },
    { measures: [COUNT], timeDimensions: [{ dimension: CREATED, dateRange: ['2026-02-30', '2026-03-01'] }] },
    { measures: [COUNT], filters: [{ member: COUNTRY, operator: 'resembles', values: ['DE'] }] },
    { measures: [COUNT], filters: [{ member: COUNTRY, operator: 'equals' }] },
    { measures: [COUNT], filters: [{ member: COUNT, operator: 'gt', values: ['many'] }] },
    { measures: [COUNT], filters: [{ member: CREATED, operator: 'inDateRange', values: [] }] },
    { measures: [COUNT], filters: [{ member: COUNTRY, operator: 'beforeDate', values: ['2026-01-01'] }] },
    {
      measures: [COUNT],
      filters: [
        {
          or: [
            { member: COUNT, operator: 'set' },
            { member: COUNTRY, operator: 'set' },
          ],
        },
      ],
    },
    { measures: [COUNT], order: { [COUNT]: 'sideways' } },
    { measures: [COUNT], limit: -1 },
    { measures: [COUNT], offset: 'x' },
    { measures: [COUNT], timezone: 'Mars/Olympus' },
    { measures: [COUNT], responseFormat: 'xml' },
    'no query at all',
    7,
  ];
  for (const query of bad) {
    const { status, body } = await rig.load(query);
    expect([query, status, body.error]).toEqual([query, 400, expect.any(String)]);
  }
});

test('DATA-04 a query with a limit above the maximum answers 400, and one with the maximum returns that many rows', async () => {
  expect((await rig.load({ measures: [COUNT], limit: 50_001 })).status).toBe(400);
  await rig.control('PATCH', '/settings', { dataRowCap: 3 });
  expect((await rig.load({ ...byCountry, limit: 4 })).status).toBe(400);
  expect((await rig.load({ ...byCountry, limit: 3 })).body.data).toHaveLength(3);
});

test('DATA-14 a request to /v1/load or /v1/cubesql without a query answers 400', async () => {
  for (const path of ['/v1/load', '/v1/cubesql']) {
    for (const body of [{}, { query: '' }, { query: null }]) {
      const answer = await rig.ask('POST', path, { body });
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/query/i)]);
    }
    expect((await rig.ask('POST', path, { raw: '{"query":' })).status).toBe(400);
  }
});

test('DATA-05 a slow query that is repeated answers `Continue wait` with 200 until its one run ends, and then its rows', async () => {
  await rig.control('PATCH', '/settings', { dataQueryDelayMs: 300, dataContinueWaitMs: 40 });
  const startedMs = performance.now();
  const answers: any[] = [];
  do {
    const { status, body } = await rig.load(byCountry);
    expect(status).toBe(200);
    answers.push(body);
  } while (answers.at(-1).error === 'Continue wait' && answers.length < 100);
  expect(answers.length).toBeGreaterThan(2);
  expect(answers[0]).toEqual({ error: 'Continue wait' });
  expect(answers.at(-1).data).toHaveLength(6);
  // Every repeat waits for the running query; new runs would never finish.
  expect(performance.now() - startedMs).toBeGreaterThan(290);
});

test('DATA-05 while a slow query runs, the same query with another security context gets the rows of its own context', async () => {
  await rig.control('PATCH', '/settings', { dataQueryDelayMs: 150, dataContinueWaitMs: 20 });
  await rig.load(byCountry);
  const until = async (token: object): Promise<any[]> => {
    for (let turn = 0; turn < 100; turn += 1) {
      const { body } = await rig.load(byCountry, { token });
      if (body.data) return body.data;
    }
    return [];
  };
  expect(await until(inGroups(['analysts'], { country: 'FR' }))).toMatchObject([{ [COUNTRY]: 'FR' }]);
  expect(await until(EVERYTHING)).toHaveLength(6);
});

test("DATA-06 the sandbox's request log has the repeats of a slow query with equal bodies and their own request ids", async () => {
  await rig.control('PATCH', '/settings', { dataQueryDelayMs: 100, dataContinueWaitMs: 30 });
  await rig.control('DELETE', '/requests');
  for (let turn = 1; turn < 9; turn += 1) {
    const { body } = await rig.load(byCountry, { headers: { 'x-request-id': `span-7-${turn}` } });
    if (body.data) break;
  }
  const { body: log } = await rig.control('GET', '/requests');
  expect(log.length).toBeGreaterThan(1);
  expect(log.map((entry: any) => entry.requestId)).toEqual(
    log.map((_: unknown, place: number) => `span-7-${place + 1}`),
  );
  expect(new Set(log.map((entry: any) => JSON.stringify(entry.body))).size).toBe(1);
});

test('DATA-07 responseFormat compact returns members and a dataset of rows, and columnar returns members and columns', async () => {
  const rows = await data(byCountry);
  const members = [COUNTRY, COUNT];
  const table = rows.map((row) => members.map((name) => row[name]));
  const compact = (await rig.load({ ...byCountry, responseFormat: 'compact' })).body;
  expect(compact.data).toEqual({ members, dataset: table });
  const columnar = (await rig.load({ ...byCountry, responseFormat: 'columnar' })).body;
  expect(columnar.data).toEqual({
    members,
    columns: members.map((_, place) => table.map((row) => row[place])),
  });
});

test('DATA-08 limit and offset of a query select its rows and total counts all; dataRowDefault is the default limit', async () => {
  const all = await data({ ...byCountry, order: { [COUNTRY]: 'asc' } });
  const page = (
    await rig.load({ ...byCountry, order: { [COUNTRY]: 'asc' }, limit: 2, offset: 1, total: true })
  ).body;
  expect([page.data, page.total]).toEqual([all.slice(1, 3), all.length]);
  expect((await rig.load({ ...byCountry, limit: 0 })).body.data).toEqual([]);
  await rig.control('PATCH', '/settings', { dataRowDefault: 4 });
  expect(await data(byCountry)).toHaveLength(4);
});

test('without `order` rows are sorted by the first measure, or by time if there is a granularity; `order` may be a list', async () => {
  const counts = (await data(byCountry)).map((row) => Number(row[COUNT]));
  expect(counts).toEqual([...counts].sort((left, right) => right - left));
  const months = await data({
    measures: [COUNT],
    timeDimensions: [{ dimension: CREATED, granularity: 'month' }],
  });
  const times = months.map((row) => row[`${CREATED}.month`]);
  expect(times).toEqual([...times].sort());
  const ordered = await data({ ...byCountry, order: [[COUNTRY, 'desc']] });
  const names = ordered.map((row) => row[COUNTRY]);
  expect(names).toEqual([...names].sort().reverse());
});

test('times are truncated to the period of the granularity, and the counts of all periods add up to the total', async () => {
  for (const [granularity, form] of [
    ['day', /T00:00:00\.000$/],
    ['month', /-01T00:00:00\.000$/],
    ['year', /-01-01T00:00:00\.000$/],
  ] as const) {
    const rows = await data({ measures: [COUNT], timeDimensions: [{ dimension: CREATED, granularity }] });
    expect(sum(rows, COUNT)).toBe(640);
    for (const row of rows) {
      expect(row[`${CREATED}.${granularity}`]).toMatch(form);
      expect(row[CREATED]).toBe(row[`${CREATED}.${granularity}`]);
    }
  }
  const weeks = await data({
    measures: [COUNT],
    timeDimensions: [{ dimension: CREATED, granularity: 'week' }],
  });
  for (const row of weeks) expect(new Date(`${row[`${CREATED}.week`]}Z`).getUTCDay()).toBe(1);
});

test('a date range includes both ends, and a date without a time means its whole day', async () => {
  const rows = await data({ dimensions: [CREATED], ungrouped: true, measures: [COUNT] });
  const days = rows.map((row) => String(row[CREATED]).slice(0, 10)).sort();
  const [from, to] = [days[100] ?? '', days[300] ?? ''];
  const wanted = days.filter((day) => day >= from && day <= to).length;
  const range = (dateRange: unknown) =>
    data({ measures: [COUNT], timeDimensions: [{ dimension: CREATED, dateRange }] });
  expect((await range([from, to]))[0]?.[COUNT]).toBe(String(wanted));
  const filtered = await data({
    measures: [COUNT],
    filters: [{ member: CREATED, operator: 'notInDateRange', values: [from, to] }],
  });
  expect(filtered[0]?.[COUNT]).toBe(String(640 - wanted));
  const before = await data({
    measures: [COUNT],
    filters: [{ member: CREATED, operator: 'beforeDate', values: [from] }],
  });
  const after = await data({
    measures: [COUNT],
    filters: [{ member: CREATED, operator: 'afterDate', values: [`${to}T23:59:59.999`] }],
  });
  expect(Number(before[0]?.[COUNT]) + Number(after[0]?.[COUNT])).toBe(640 - wanted);
});

test('a relative date range such as `last 30 days` is counted from the clock of the sandbox', async () => {
  const last = { measures: [COUNT], timeDimensions: [{ dimension: CREATED, dateRange: 'last 30 days' }] };
  expect(Number((await data(last))[0]?.[COUNT])).toBeGreaterThan(10);
  await rig.control('POST', '/clock', { advanceMs: 40 * 86_400_000 });
  const secret = rig.secretOf('1');
  const token = makeToken(secret, EVERYTHING, Date.now() + 40 * 86_400_000);
  const { body } = await rig.load(last, { token });
  expect(body.data).toEqual([{ [COUNT]: '0' }]);
});

test('times of a query with the timezone Asia/Tokyo are nine hours later than in UTC', async () => {
  const rows = (timezone: string) =>
    data({ measures: [COUNT], dimensions: [CREATED], ungrouped: true, timezone, limit: 50 });
  const utc = await rows('UTC');
  const tokyo = await rows('Asia/Tokyo');
  const ms = (row: any) => Date.parse(`${row[CREATED]}Z`);
  const sorted = (list: any[]) => list.map(ms).sort((left, right) => left - right);
  expect(sorted(tokyo)).toEqual(sorted(utc).map((at) => at + 9 * 3_600_000));
});

test('filter operators such as equals, contains and set, and their negations, select the matching rows, also within `and` and `or`', async () => {
  const all = await data({ measures: [COUNT], dimensions: [COUNTRY, STATUS] });
  const total = (keep: (row: any) => boolean): string => String(sum(all.filter(keep), COUNT));
  const count = async (...filters: object[]) => (await data({ measures: [COUNT], filters }))[0]?.[COUNT];
  const onCountry = (operator: string, ...values: (string | null)[]) => ({
    member: COUNTRY,
    operator,
    values,
  });
  expect(await count(onCountry('equals', 'DE', 'FR'))).toBe(
    total((row) => ['DE', 'FR'].includes(row[COUNTRY])),
  );
  expect(await count(onCountry('notEquals', 'DE'))).toBe(total((row) => row[COUNTRY] !== 'DE'));
  expect(await count({ member: STATUS, operator: 'contains', values: ['SHIP'] })).toBe(
    total((row) => row[STATUS] === 'shipped'),
  );
  expect(await count({ member: STATUS, operator: 'notContains', values: ['ship'] })).toBe(
    total((row) => row[STATUS] !== 'shipped'),
  );
  expect(await count({ member: STATUS, operator: 'startsWith', values: ['c'] })).toBe(
    total((row) => row[STATUS].startsWith('c')),
  );
  expect(await count({ member: STATUS, operator: 'endsWith', values: ['ed'] })).toBe(
    total((row) => row[STATUS].endsWith('ed')),
  );
  expect(await count(onCountry('set'))).toBe('640');
  expect(await count(onCountry('notSet'))).toBe('0');
  expect(await count(onCountry('equals', null))).toBe('0');
  expect(
    await count({
      or: [
        onCountry('equals', 'DE'),
        { and: [onCountry('equals', 'FR'), { member: STATUS, operator: 'equals', values: ['shipped'] }] },
      ],
    }),
  ).toBe(total((row) => row[COUNTRY] === 'DE' || (row[COUNTRY] === 'FR' && row[STATUS] === 'shipped')));
  // Percent signs and quotes in a value are ordinary characters.
  expect(await count({ member: STATUS, operator: 'contains', values: ['%'] })).toBe('0');
  expect(await count(onCountry('equals', "DE' OR '1'='1"))).toBe('0');
  expect(await count({ dimension: COUNTRY, operator: 'equals', values: ['DE'] })).toBe(
    total((row) => row[COUNTRY] === 'DE'),
  );
});

test('a filter on a measure selects groups by their aggregated value', async () => {
  const all = await data(byCountry);
  const bound = Number(all[2]?.[COUNT]);
  const rows = await data({
    ...byCountry,
    filters: [{ member: COUNT, operator: 'gte', values: [String(bound)] }],
  });
  expect(rows).toEqual(all.filter((row) => Number(row[COUNT]) >= bound));
});

test('a segment limits the count to its rows, and average, minimum, maximum and distinct count equal those computed from the rows', async () => {
  const [completed] = await data({ measures: [COUNT], segments: ['orders.completed'] });
  const [same] = await data({
    measures: [COUNT],
    filters: [{ member: STATUS, operator: 'equals', values: ['completed'] }],
  });
  expect(completed).toEqual(same);
  const rows = await data({ measures: ['customers.count'], dimensions: ['customers.is_active'] });
  expect(new Set(rows.map((row) => row['customers.is_active']))).toEqual(new Set([true, false]));
  const credits = (await data({ dimensions: ['customers.name', 'customers.credit'] })).map((row) =>
    Number(row['customers.credit']),
  );
  const [sums] = await data({
    measures: [
      'customers.average_credit',
      'customers.highest_credit',
      'customers.lowest_credit',
      'customers.countries',
    ],
  });
  expect(Number(sums?.['customers.average_credit'])).toBeCloseTo(
    credits.reduce((a, b) => a + b, 0) / credits.length,
    6,
  );
  expect(sums).toMatchObject({
    'customers.highest_credit': Math.max(...credits),
    'customers.lowest_credit': Math.min(...credits),
    'customers.countries': '6',
  });
  const rich = await data({
    dimensions: ['customers.name'],
    filters: [{ member: 'customers.credit', operator: 'gt', values: ['20000'] }],
  });
  expect(rich).toHaveLength(credits.filter((credit) => credit > 20_000).length);
});
