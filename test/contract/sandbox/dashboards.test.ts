// Tests the validation of dashboards: accepted configurations are returned unchanged, others are 400 (rows DASH).
import { BASE, startWorkspaceRig, type WorkspaceRig } from './workspace-rig.ts';

let rig: WorkspaceRig;

beforeAll(async () => {
  rig = await startWorkspaceRig();
});
afterAll(() => rig.stop());

type Members = Record<string, unknown>;

const SNAPSHOT: Members = { id: 1, reportId: 2, versionNumber: 3 };
const POSITION = { x: 0, y: 1, w: 2, h: 3 };
const WIDGET: Members = { id: 'w', type: 'CHART', position: POSITION };
const DASHBOARD: Members = {
  id: 1,
  deploymentId: 1,
  workbookId: 1,
  versionNumber: 1,
  versionId: 1,
  publicId: 'p',
  status: 'draft',
  allowEmbed: false,
  config: {},
  reportSnapshots: [],
};
const without = (members: Members, name: string): Members =>
  Object.fromEntries(Object.entries(members).filter(([member]) => member !== name));

/** Creates a workbook with the dashboard and returns the status. An accepted dashboard must be returned unchanged. */
async function send(member: string, value: unknown): Promise<number> {
  const { status, body } = await rig.post(`${BASE}/workbooks`, { [member]: value });
  if (status !== 200) {
    expect(body).toEqual({ error: expect.stringContaining(member) });
    return status;
  }
  expect(body[member]).toEqual(value);
  expect((await rig.call('GET', `${BASE}/workbooks/${body.id}`)).body[member]).toEqual(value);
  return status;
}
const config = (value: unknown) => send('dashboardDraft', value);
const widget = (value: unknown) => config({ widgets: [value] });
const dashboard = (value: unknown) => send('publishedDashboard', value);
const snapshot = (more: Members) => dashboard({ ...DASHBOARD, reportSnapshots: [{ ...SNAPSHOT, ...more }] });

test('DASH-01 a dashboard configuration may lack each of its keys or have null for it, and a value of another type answers 400', async () => {
  expect([await config({}), await send('dashboardPublished', {})]).toEqual([200, 200]);
  expect(await config({ kind: null, title: null, app: null, layout: null, widgets: null })).toBe(200);
  for (const wrong of ['text', [], 5, { title: 5 }, { widgets: {} }]) expect(await config(wrong)).toBe(400);
});

test('DASH-02 a dashboard configuration of kind CLASSIC, APP or null is 200, of another kind 400', async () => {
  for (const kind of ['CLASSIC', 'APP', null]) expect(await config({ kind })).toBe(200);
  for (const kind of ['MODERN', 'classic', 5]) expect(await config({ kind })).toBe(400);
});

test('DASH-03 settings and theme of a dashboard configuration may have any keys, and text in their place answers 400', async () => {
  expect(await config({ settings: { any: [{ thing: 1 }] }, theme: { dark: true } })).toBe(200);
  expect(await config({ settings: null, theme: null })).toBe(200);
  for (const name of ['settings', 'theme']) expect(await config({ [name]: 'dark' })).toBe(400);
});

test('DASH-04 the entry of an app has up to 255 characters; a longer one is 400', async () => {
  expect(await config({ app: { entry: 'x'.repeat(255) } })).toBe(200);
  expect(await config({ app: { entry: 'x'.repeat(256) } })).toBe(400);
});

test('DASH-05 files and dependencies of an app map text to text; other values are 400', async () => {
  expect(await config({ app: { files: { 'a.js': '1' }, manifest: { dependencies: { a: '^1' } } } })).toBe(
    200,
  );
  expect(await config({ app: { files: null, manifest: { dependencies: null } } })).toBe(200);
  expect(await config({ app: { files: { 'a.js': 1 } } })).toBe(400);
  expect(await config({ app: { manifest: { dependencies: { a: 1 } } } })).toBe(400);
});

test('DASH-06 the version of a manifest is an integer or null; another value is 400', async () => {
  for (const version of [3, null]) expect(await config({ app: { manifest: { version } } })).toBe(200);
  for (const version of ['3', 1.5]) expect(await config({ app: { manifest: { version } } })).toBe(400);
});

test('DASH-07 breakpoints and cols have integers or null at the five widths; another value is 400', async () => {
  for (const name of ['breakpoints', 'cols']) {
    const sizes = { lg: 1, md: 2, sm: 3, xs: 4, xxs: null };
    expect(await config({ layout: { [name]: sizes } })).toBe(200);
    expect(await config({ layout: { [name]: null } })).toBe(200);
    for (const width of Object.keys(sizes)) {
      expect(await config({ layout: { [name]: { ...sizes, [width]: 'wide' } } })).toBe(400);
    }
  }
});

test('DASH-08 containerPadding and margin are lists of integers or null, rowHeight an integer or null; other values are 400', async () => {
  expect(await config({ layout: { containerPadding: [1, 2], margin: [], rowHeight: 5 } })).toBe(200);
  expect(await config({ layout: { containerPadding: null, margin: null, rowHeight: null } })).toBe(200);
  for (const wrong of [{ containerPadding: ['1'] }, { margin: 5 }, { margin: [1.5] }, { rowHeight: '5' }]) {
    expect(await config({ layout: wrong })).toBe(400);
  }
});

test('DASH-09 a widget without id, type or position is 400', async () => {
  expect(await widget(WIDGET)).toBe(200);
  for (const name of Object.keys(WIDGET)) expect(await widget(without(WIDGET, name))).toBe(400);
});

test('DASH-10 a widget with one of the ten types answers 200, and with any other type 400', async () => {
  const types = 'CHART TEXT FILTER AI TIME_GRAIN FIELD PARENT SPACER DIVIDER CONTAINER'.split(' ');
  for (const type of types) expect(await widget({ ...WIDGET, type })).toBe(200);
  for (const type of ['TABS', 'chart', null]) expect(await widget({ ...WIDGET, type })).toBe(400);
});

test('DASH-11 responsive layouts hold a position or null at the five widths; an incomplete position is 400', async () => {
  for (const width of ['lg', 'md', 'sm', 'xs', 'xxs']) {
    for (const [place, expected] of [
      [POSITION, 200],
      [null, 200],
      [{ x: 1 }, 400],
    ] as const) {
      expect(await widget({ ...WIDGET, responsiveLayouts: { [width]: place } })).toBe(expected);
    }
  }
});

test('DASH-12 a widget position without the integers x, y, w and h is 400', async () => {
  for (const name of Object.keys(POSITION)) {
    expect(await widget({ ...WIDGET, position: without(POSITION, name) })).toBe(400);
    expect(await widget({ ...WIDGET, position: { ...POSITION, [name]: 0.5 } })).toBe(400);
    expect(await widget({ ...WIDGET, position: { ...POSITION, [name]: null } })).toBe(400);
  }
});

test('DASH-13 a dashboard that lacks one of its required keys is 400', async () => {
  expect(await dashboard(DASHBOARD)).toBe(200);
  for (const name of Object.keys(DASHBOARD)) expect(await dashboard(without(DASHBOARD, name))).toBe(400);
});

test('DASH-14 a dashboard with the status draft, published or archived is 200, with another status 400', async () => {
  for (const status of ['draft', 'published', 'archived']) {
    expect(await dashboard({ ...DASHBOARD, status })).toBe(200);
  }
  for (const status of ['live', null, 'Draft']) expect(await dashboard({ ...DASHBOARD, status })).toBe(400);
});

test('DASH-15 no operation changes the status of a dashboard', async () => {
  for (const status of ['draft', 'archived']) {
    const { id } = await rig.workbook(null, { publishedDashboard: { ...DASHBOARD, status } });
    await rig.move({ type: 'WORKBOOK', id, folderId: (await rig.folder()).id });
    await rig.call('PUT', `${BASE}/workbooks/${id}/embed-access`, { body: { allowEmbed: true } });
    await rig.control('POST', '/clock', { advanceMs: 10 * 365 * 86_400_000 });
    const admin = (await rig.fixtures({ apiKeys: [{ name: 'later', owner: 'admin@acme.example' }] }))
      .apiKeys[0];
    const { body } = await rig.call('GET', `${BASE}/workbooks/${id}`, { key: admin.key });
    expect(body.publishedDashboard.status).toBe(status);
  }
});

test('DASH-16 a snapshot is refused with 400 when its id, reportId or versionNumber is missing', async () => {
  expect(await snapshot({})).toBe(200);
  for (const name of Object.keys(SNAPSHOT)) {
    expect(await dashboard({ ...DASHBOARD, reportSnapshots: [without(SNAPSHOT, name)] })).toBe(400);
  }
});

test('DASH-17 a snapshot with one of the six kinds or null is 200, with another kind 400', async () => {
  for (const kind of ['vega', 'table', 'kpi', 'html', 'map', 'sankey', null]) {
    expect(await snapshot({ kind })).toBe(200);
  }
  for (const kind of ['pie', '', 5]) expect(await snapshot({ kind })).toBe(400);
});

test('DASH-18 the spec of a snapshot is text, an object or null; another value is 400', async () => {
  for (const spec of ['{}', { mark: 'bar' }, null]) expect(await snapshot({ spec })).toBe(200);
  for (const spec of [[], 5, true]) expect(await snapshot({ spec })).toBe(400);
});

test('DASH-19 fillMissingRows without the name of a member is 400', async () => {
  for (const fillMissingRows of [null, { member: 'm' }, { member: 'm', excludedDimensions: ['d'] }]) {
    expect(await snapshot({ fillMissingRows })).toBe(200);
  }
  for (const fillMissingRows of [{}, { member: 5 }, { member: 'm', excludedDimensions: [5] }]) {
    expect(await snapshot({ fillMissingRows })).toBe(400);
  }
});

test('DASH-20 a period comparison without measure, time dimension, or offset with amount and unit is 400', async () => {
  const comparison = { measure: 'm', timeDimension: 't', offset: { amount: 1, unit: 'month' } };
  expect(await snapshot({ periodComparisons: [{ ...comparison, outputs: ['value'] }] })).toBe(200);
  expect(await snapshot({ periodComparisons: null })).toBe(200);
  for (const name of Object.keys(comparison)) {
    expect(await snapshot({ periodComparisons: [without(comparison, name)] })).toBe(400);
  }
  for (const wrong of [{ measure: 5 }, { measure: null }, { timeDimension: ['t'] }, { outputs: [5] }]) {
    expect(await snapshot({ periodComparisons: [{ ...comparison, ...wrong }] })).toBe(400);
  }
  const amounts = [0.5, '1', null].map((amount) => ({ ...comparison.offset, amount }));
  const units = [1, null].map((unit) => ({ ...comparison.offset, unit }));
  const parts = ['amount', 'unit'].map((name) => without(comparison.offset, name));
  for (const offset of [...amounts, ...units, ...parts, null, 'month', []]) {
    expect(await snapshot({ periodComparisons: [{ ...comparison, offset }] })).toBe(400);
  }
  for (const amount of [-1, 0, 12]) {
    const offset = { ...comparison.offset, amount };
    expect(await snapshot({ periodComparisons: [{ ...comparison, offset }] })).toBe(200);
  }
});

test('DASH-21 a column format is of type currency, percent or number; another one is 400', async () => {
  const formats = (format: Members) => snapshot({ preferences: { columnFormats: { amount: format } } });
  for (const type of ['currency', 'percent', 'number']) {
    expect(await formats({ type, decimalPlaces: 2 })).toBe(200);
  }
  expect(await formats({ type: 'number', decimalPlaces: null })).toBe(200);
  for (const wrong of [{ type: 'date' }, {}, { type: 'number', decimalPlaces: 0.5 }]) {
    expect(await formats(wrong)).toBe(400);
  }
});

test('DASH-13 DASH-16 the seeded dashboard passes the checks of a POST', async () => {
  const [{ id }] = (await rig.tree()).workbooks;
  const { body } = await rig.call('GET', `${BASE}/workbooks/${id}`);
  expect(body.publishedDashboard.reportSnapshots).toHaveLength(1);
  expect(await dashboard(body.publishedDashboard)).toBe(200);
  expect(await config(body.dashboardDraft)).toBe(200);
});

test('a dashboard that has all its fields under the key __proto__ is answered with 400', async () => {
  const raw = `{"publishedDashboard":{"__proto__":${JSON.stringify(DASHBOARD)}}}`;
  expect((await rig.call('POST', `${BASE}/workbooks`, { raw })).status).toBe(400);
});
