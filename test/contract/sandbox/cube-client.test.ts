// Runs Cube's own client library, unmodified, against the sandbox: every call, by GET and by POST.
import cube, { type CubeApi, type Query, type TimeDimensionGranularity } from '@cubejs-client/core';
import { EVERYTHING, inGroups, startDataRig, type DataRig } from './data-rig.ts';

let rig: DataRig;
const COUNT = 'orders.count';
const COUNTRY = 'orders.country';
const CREATED = 'orders.created_at';
const month = (dateRange: [string, string]) => ({
  dimension: CREATED,
  granularity: 'month' as TimeDimensionGranularity,
  dateRange,
});

/** Returns a day of a month counted back from the present one, as YYYY-MM-DD; day 0 is the last day of the month before. */
const dayOf = (monthsBack: number, day: number): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, day))
    .toISOString()
    .slice(0, 10);
};
// The sample rows cover the last 365 days.
const LAST_QUARTER: [string, string] = [dayOf(3, 1), dayOf(0, 0)];
const QUARTER_BEFORE: [string, string] = [dayOf(6, 1), dayOf(3, 0)];

beforeAll(async () => {
  rig = await startDataRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

function clientOf(method: 'GET' | 'POST' | undefined, context: object = EVERYTHING): CubeApi {
  const apiUrl = `${rig.ready.dataApiUrl}/v1`;
  return cube(rig.token(context), { apiUrl, ...(method === undefined ? {} : { method }) });
}

describe.each(['GET', 'POST'] as const)('the Cube client with %s', (method) => {
  test("load of the Cube client returns the sandbox's rows, also as pivot, table columns and series", async () => {
    const query: Query = { measures: [COUNT], dimensions: [COUNTRY] };
    const result = await clientOf(method).load(query);
    const raw = result.rawData();
    expect(raw).toHaveLength(6);
    expect(raw[0]).toEqual({ [COUNTRY]: expect.any(String), [COUNT]: expect.stringMatching(/^\d+$/) });
    expect(result.tablePivot()).toEqual(raw);
    expect(result.chartPivot().map(({ x }) => x)).toEqual(raw.map((row: any) => row[COUNTRY]));
    const [series] = result.series();
    expect([series?.key, series?.series.map(({ value }) => value)]).toEqual([
      COUNT,
      raw.map((row: any) => Number(row[COUNT])),
    ]);
    expect(result.tableColumns().map(({ key, title }) => [key, title])).toEqual([
      [COUNTRY, 'Orders Country'],
      [COUNT, 'Orders Count'],
    ]);
    expect(result.seriesNames()).toEqual([expect.objectContaining({ key: COUNT, title: 'Orders Count' })]);
  });

  test('a chart of the Cube client has a point for each month of a date range, even for a month without rows', async () => {
    const end = new Date().getUTCFullYear() + 1;
    const timeDimensions = [month([`${end}-01-01`, `${end}-06-30`])];
    const result = await clientOf(method).load({ measures: [COUNT], timeDimensions });
    expect(result.rawData()).toEqual([]);
    const halfFuture = [month([dayOf(5, 1), dayOf(-7, 0)])];
    const filled = await clientOf(method).load({ measures: [COUNT], timeDimensions: halfFuture });
    expect(filled.chartPivot()).toHaveLength(12);
  });

  test('several queries in one load of the Cube client are blended over one time axis', async () => {
    const timeDimensions = [month(LAST_QUARTER)];
    const filters = [{ member: COUNTRY, operator: 'equals' as const, values: ['DE'] }];
    const result = await clientOf(method).load([
      { measures: [COUNT], timeDimensions },
      { measures: ['orders.total_amount'], timeDimensions, filters },
    ]);
    expect(result.serialize().loadResponse.queryType).toBe('blendingQuery');
    expect(result.chartPivot().map(({ x }) => x)).toEqual([
      `${dayOf(3, 1)}T00:00:00.000`,
      `${dayOf(2, 1)}T00:00:00.000`,
      `${dayOf(1, 1)}T00:00:00.000`,
    ]);
    expect(result.decompose()).toHaveLength(2);
  });

  test('a load with compareDateRange by the Cube client returns one series for each range', async () => {
    const result = await clientOf(method).load({
      measures: [COUNT],
      timeDimensions: [
        {
          dimension: CREATED,
          granularity: 'month',
          compareDateRange: [QUARTER_BEFORE, LAST_QUARTER],
        },
      ],
    } as Query);
    expect(result.serialize().loadResponse.queryType).toBe('compareDateRangeQuery');
    expect(result.series()).toHaveLength(2);
    expect(result.decompose().map((each) => each.rawData().length)).toEqual([3, 3]);
  });

  test('sql, dryRun and meta of the Cube client return the SQL text, the normalized query and the titles of members', async () => {
    const api = clientOf(method);
    const query: Query = { measures: [COUNT], dimensions: [COUNTRY] };
    expect((await api.sql(query)).sql()).toMatch(/^SELECT /);
    const dry = await api.dryRun(query);
    expect([dry.queryType, dry.normalizedQueries.length, dry.pivotQuery.measures]).toEqual([
      'regularQuery',
      1,
      [COUNT],
    ]);
    const meta = await api.meta();
    expect(meta.resolveMember(COUNT, 'measures')).toMatchObject({ title: 'Orders Count', type: 'number' });
    expect(meta.defaultTimeDimensionNameFor('orders.count')).toBe(CREATED);
  });

  test('the Cube client repeats a slow query until it has rows, and its errors have the message of the server', async () => {
    await rig.control('PATCH', '/settings', { dataQueryDelayMs: 200, dataContinueWaitMs: 40 });
    const progress: string[] = [];
    const result = await clientOf(method).load(
      { measures: [COUNT] },
      { progressCallback: () => void progress.push('wait') },
    );
    expect(result.rawData()).toEqual([{ [COUNT]: '640' }]);
    expect(progress.length).toBeGreaterThan(0);
    await expect(clientOf(method).load({ measures: ['orders.nope'] })).rejects.toThrow(
      "'nope' not found for path 'orders.nope'",
    );
    await expect(clientOf(method, inGroups([])).load({ measures: [COUNT] })).rejects.toThrow('hidden member');
  });
});

test('the Cube client without a method setting gets the rows of a query whose filter has 400 values', async () => {
  const values = Array.from({ length: 400 }, (_, place) => `country ${place}`);
  const filters = [{ member: COUNTRY, operator: 'notEquals' as const, values }];
  const result = await clientOf(undefined).load({ measures: [COUNT], filters });
  expect(result.rawData()).toEqual([{ [COUNT]: '640' }]);
});
