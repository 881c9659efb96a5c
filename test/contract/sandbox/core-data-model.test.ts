// Tests the sandbox with a custom data model: Cube's YAML with joins, views, policies and CSV rows.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inGroups, startDataRig, type DataRig } from './data-rig.ts';

const folders: string[] = [];
/** Writes the files into a new folder. @returns the folder */
function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'model-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const CUBES = `
cubes:
  - name: teams
    sql_table: hr.teams
    joins:
      - { name: people, relationship: one_to_many, sql: "{CUBE}.id = {people}.team_id" }
    dimensions:
      - { name: id, type: number, sql: id, primary_key: true }
      - { name: title, type: string, sql: title }
    measures:
      - { name: count, type: count }
      - { name: budget, type: sum, sql: budget }
  - name: people
    sql: SELECT * FROM people
    access_policy:
      - group: '*'
        row_level: { filters: [{ member: site, operator: notEquals, values: [secret] }] }
    joins:
      - { name: teams, relationship: many_to_one, sql: "{CUBE}.team_id = {teams}.id" }
    dimensions:
      - { name: id, type: number, sql: "{CUBE}.id", primary_key: true }
      - { name: name, type: string, sql: name }
      - { name: site, type: string, sql: site }
      - { name: level, type: string, case: { when: [{ sql: "{CUBE}.wage >= 100", label: high }], else: { label: low } } }
      - { name: started_at, type: time, sql: started_at }
    segments:
      - { name: well_paid, sql: "{CUBE}.wage >= 100" }
    measures:
      - { name: count, type: count, title: People }
      - { name: wages, type: sum, sql: wage }
      - { name: high_wages, type: sum, sql: wage, filters: [{ sql: "{CUBE}.wage >= 100" }] }
      - { name: average_wage, type: number, sql: "{wages} / {count}" }
`;
const VIEWS = `
views:
  - name: staff
    title: Staff
    cubes:
      - { join_path: people, includes: '*' }
      - { join_path: people.teams, prefix: true, includes: [title, budget, { name: count, alias: team_count }] }
    access_policy:
      - group: analysts
        conditions: [{ if: "{ userAttributes.cleared }" }]
        row_level: { filters: [{ member: site, operator: in, values: userAttributes.sites }] }
        member_level: { includes: [count, site] }
      - group: everything
        member_level: { includes: '*', excludes: [wages] }
  - name: by_team
    cubes:
      - { join_path: teams, includes: [title, count, budget] }
      - { join_path: teams.people, includes: [wages, average_wage] }
`;
const PEOPLE = `id,team_id,name,site,wage,started_at
1,1,Ada,DE,100,2026-01-05
2,1,Ben,DE,50,2026-02-05
3,2,Cyd,FR,200,2026-03-05
4,2,Dan,secret,400,2026-03-06
`;
const TEAMS = 'id,title,budget\n1,core,1000\n2,web,500\n3,empty,7\n';
const MODEL = {
  'cubes/base.yml': CUBES,
  'views.yaml': VIEWS,
  'data/people.csv': PEOPLE,
  'data/teams.csv': TEAMS,
};

let rig: DataRig;
beforeAll(async () => {
  rig = await startDataRig({ modelDir: folderOf(MODEL) });
});
afterAll(async () => {
  await rig.stop();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const everything = inGroups(['everything']);
const load = async (query: object, token: object = everything) => (await rig.load(query, { token })).body;

test('queries of a YAML data model with filtered and calculated measures, segments and joins return the values of its CSV rows', async () => {
  expect((await load({ measures: ['people.count', 'people.wages', 'people.high_wages'] })).data).toEqual([
    { 'people.count': '3', 'people.wages': '350', 'people.high_wages': '300' },
  ]);
  const { data } = await load({ measures: ['people.average_wage'], dimensions: ['people.level'] });
  expect(data.map((row: any) => [row['people.level'], Number(row['people.average_wage'])]).sort()).toEqual([
    ['high', 150],
    ['low', 50],
  ]);
  expect((await load({ measures: ['people.count'], segments: ['people.well_paid'] })).data).toEqual([
    { 'people.count': '2' },
  ]);
  const timeDimensions = [{ dimension: 'people.started_at', granularity: 'month' }];
  expect((await load({ measures: ['people.count'], timeDimensions })).data).toHaveLength(3);
  const both = await load({ measures: ['people.wages', 'teams.budget'], dimensions: ['teams.title'] });
  expect(both.data).toEqual([
    { 'teams.title': 'web', 'people.wages': '200', 'teams.budget': '500' },
    { 'teams.title': 'core', 'people.wages': '150', 'teams.budget': '1000' },
  ]);
});

test('a measure of a joined cube counts each row once, even if the join repeats rows, in JSON and in SQL queries', async () => {
  expect((await load({ measures: ['staff.teams_budget', 'staff.team_count', 'staff.count'] })).data).toEqual([
    { 'staff.teams_budget': '1500', 'staff.team_count': '2', 'staff.count': '3' },
  ]);
  const query = {
    measures: ['by_team.budget', 'by_team.wages', 'by_team.count', 'by_team.average_wage'],
    dimensions: ['by_team.title'],
    order: { 'by_team.title': 'asc' },
  };
  const rows = (await load(query)).data.map((row: any) =>
    Object.values(row).map((cell) => Number(cell) || cell),
  );
  expect(rows.map((row: any) => row.slice(1))).toEqual([
    [1000, 150, 1, 75],
    [7, null, 1, null],
    [500, 200, 1, 200],
  ]);
  const sql = 'SELECT title, MEASURE(budget), MEASURE(wages) FROM by_team GROUP BY 1 ORDER BY 1';
  const cells = await rig.rows(sql, { token: everything });
  expect(cells.map(([title, ...numbers]) => [title, ...numbers.map((one) => one && Number(one))])).toEqual([
    ['core', 1000, 150],
    ['empty', 7, null],
    ['web', 500, 200],
  ]);
});

test('an access policy of a YAML model applies only if its condition holds, selects rows by a list attribute, and hides members in views', async () => {
  const analyst = (userAttributes: object) => inGroups(['analysts'], userAttributes);
  const bySite = { measures: ['staff.count'], dimensions: ['staff.site'] };
  const cleared = analyst({ cleared: true, sites: ['DE', 'secret'] });
  expect((await load(bySite, cleared)).data).toEqual([{ 'staff.site': 'DE', 'staff.count': '2' }]);
  for (const attributes of [
    { sites: ['DE'] },
    { cleared: false, sites: ['DE'] },
    { cleared: '', sites: ['DE'] },
  ])
    expect((await load(bySite, analyst(attributes))).error).toMatch(/requested hidden member: 'staff.count'/);
  expect((await load({ dimensions: ['staff.name'] }, cleared)).error).toMatch(/hidden member: 'staff.name'/);
  // A hidden member as a filter gives no rows, so that the query reveals nothing about its values.
  expect(
    (await load({ ...bySite, filters: [{ member: 'staff.level', operator: 'set' }] }, cleared)).data,
  ).toEqual([]);
  expect((await load({ measures: ['staff.wages'] })).error).toMatch(/hidden member: 'staff.wages'/);
  const meta = async (token: object) => (await rig.ask('GET', '/v1/meta', { token })).body.cubes;
  const staff = (await meta(cleared)).find(({ name }: any) => name === 'staff');
  expect([...staff.measures, ...staff.dimensions].map(({ name }: any) => name)).toEqual([
    'staff.count',
    'staff.site',
  ]);
  expect((await meta(analyst({}))).map(({ name }: any) => name)).toEqual(['people', 'teams', 'by_team']);
  expect(await rig.sqlError('SELECT name FROM staff', { token: cleared })).toBeDefined();
  expect(await rig.rows('SELECT site, MEASURE(count) FROM staff GROUP BY 1', { token: cleared })).toEqual([
    ['DE', '2'],
  ]);
});

test("a YAML model in the form of Cube's documentation is accepted, and the row filters of a policy may be nested", async () => {
  const model = `cubes:
  - name: base_orders
    sql: >
      SELECT * FROM public.orders;
    description: Orders of the shop
    public: false
    meta: { owner: shop }
    dimensions:
      - { name: id, sql: id, type: number, primaryKey: true }
      - { name: status, sql: "{CUBE}.status", type: string, suggest_filter_values: false }
      - { name: amount, sql: amount, type: number, format: currency }
      - { name: is_large, sql: "{amount} > 400", type: boolean }
      - { name: created_at, sql: created_at, type: time, granularities: [{ name: fiscal, interval: 1 year }] }
    measures:
      - { name: count, type: count, drill_members: [id, status] }
      - { name: completed_count, type: count, filters: [{ sql: "{CUBE}.status = 'completed'" }] }
      - { name: completed_share, type: number, sql: "100.0 * {CUBE.completed_count} / NULLIF({count}, 0)", format: percent }
    pre_aggregations:
      - { name: main, measures: [CUBE.count], dimensions: [CUBE.status] }
views:
  - name: shop
    cubes: [{ join_path: base_orders, includes: "*", excludes: [amount] }]
    folders: [{ name: Basics, includes: [count] }]
    access_policy:
      - group: clerks
        row_level:
          filters:
            - or:
                - { member: status, operator: equals, values: ["{ securityContext.cubeCloud.userAttributes.status }"] }
                - and:
                    - { member: status, operator: equals, values: [returned] }
                    - { member: is_large, operator: equals, values: [true] }
`;
  const own = await startDataRig({ modelDir: folderOf({ 'm.yml': model }) });
  const ask = async (query: object) => {
    const token = inGroups(['clerks'], { status: 'shipped' });
    return (await own.load(query, { token })).body.data;
  };
  const rows = await ask({ dimensions: ['shop.status', 'shop.is_large'], measures: ['shop.count'] });
  const seen = rows.map((row: any) => [row['shop.status'], row['shop.is_large']].join());
  expect(seen.sort()).toEqual(['returned,true', 'shipped,false', 'shipped,true']);
  const [{ 'shop.completed_share': share }] = await ask({ measures: ['shop.completed_share'] });
  expect(Number(share)).toBe(0);
  await own.stop();
  const empty = model.replace(/\n +- or:[^]*$/, '\n            - { or: [] }\n');
  await expect(startDataRig({ modelDir: folderOf({ 'm.yml': empty }) })).rejects.toThrow(
    /"or" needs filters/,
  );
});

test("a cube whose table has no CSV file has the rows of the seed's table of that name, or else 100 generated rows", async () => {
  const cubes = `cubes:
  - { name: sales, sql_table: public.orders, measures: [{ name: count, type: count }] }
  - name: parcels
    sql_table: parcels
    dimensions: [{ name: id, type: number, sql: id, primary_key: true, public: true }, { name: size, type: string, sql: size }]
    measures: [{ name: count, type: count }, { name: weight, type: avg, sql: weight }]
`;
  const own = await startDataRig({ modelDir: folderOf({ 'm.yml': cubes }) });
  const answer = async (query: object) => (await own.load(query, { token: {} })).body.data;
  expect(await answer({ measures: ['sales.count'] })).toEqual([{ 'sales.count': '640' }]);
  expect(await answer({ measures: ['parcels.count'], dimensions: ['parcels.size'] })).toHaveLength(5);
  expect(await answer({ dimensions: ['parcels.id'] })).toHaveLength(100);
  await own.stop();
});

test.each<[string, Record<string, string>, RegExp[]]>([
  ['no YAML', { 'a.txt': '' }, [/no \.yml or \.yaml file/]],
  ['broken YAML', { 'a.yml': 'cubes:\n  - name: [\n' }, [/a\.yml:\d+:\d+: /]],
  [
    'Jinja',
    { 'a.yml': 'cubes:\n  - name: "{{ x }}"\n' },
    [/a\.yml:2:12: Jinja \(\{\{\) is not supported: write the cubes out/],
  ],
  ['a list', { 'a.yml': '- 1\n' }, [/a\.yml:1:1: the file must hold "cubes" or "views"/]],
  [
    'several faults at once, each with its place',
    {
      'b/a.yml': `cubes:
  - name: a
    sql_table: t
    extends: other
    measures:
      - { name: m, type: rank, sql: x }
      - { name: n, type: sum, sql: "{nothing}" }
      - { name: n, type: sum, sql: x }
    dimensions:
      - { name: d, type: geo, sql: x }
    joins:
      - { name: missing, relationship: many_to_many, sql: "1 = 1" }
`,
    },
    [
      /b\/a\.yml:4:14: there is no "other" to extend/,
      /b\/a\.yml:6:26: measures of type "rank" are not supported/,
      /b\/a\.yml:8:17: the name "n" is used twice/,
      /b\/a\.yml:10:26: a dimension is of type/,
      /b\/a\.yml:12:40: "relationship" is one of/,
    ],
  ],
  [
    'unknown references',
    {
      'a.yml': `cubes:
  - name: a
    sql_table: t
    measures: [{ name: n, type: sum, sql: "{nothing}" }, { name: r, type: number, sql: "SUM(x)" }]
    joins: [{ name: missing, relationship: many_to_one, sql: "1 = 1" }]
    access_policy: [{ group: g, conditions: [{ if: "{ eval(1) }" }], row_level: { filters: [{ member: z, operator: rank, values: ['1'] }] } }]
views:
  - { name: v, cubes: [{ join_path: a.b, includes: [nope] }] }
`,
    },
    [
      /a\.yml:4:43: \{nothing\} is neither a cube nor a member of a/,
      /a\.yml:4:\d+: a measure of type number is a formula/,
      /a\.yml:5:\d+: there is no cube "missing"/,
      /a\.yml:6:\d+: the condition "\{ eval\(1\) \}" cannot be read/,
      /a\.yml:6:\d+: "z" is no dimension/,
      /a\.yml:6:\d+: the operator of a policy/,
      /a\.yml:8:\d+: there is no join from a to b/,
    ],
  ],
  [
    'an unknown member in `excludes`',
    {
      'a.yml': `cubes:
  - { name: a, sql_table: t, dimensions: [{ name: d, type: string, sql: e }] }
views:
  - name: v
    cubes:
      - join_path: a
        includes: '*'
        excludes: [nope]
`,
    },
    [/a\.yml:8:19: a has no member "nope"/],
  ],
  [
    'a reference to itself',
    {
      'a.yml':
        'cubes:\n  - { name: a, sql_table: t, dimensions: [{ name: d, type: string, sql: "{d} || 1" }] }\n',
    },
    [/refers to itself/],
  ],
  [
    'rows that do not fit',
    {
      'a.yml': 'cubes:\n  - { name: a, sql_table: t, dimensions: [{ name: d, type: string, sql: e }] }\n',
      't.csv': 'x\n1\n',
    },
    [/t\.csv: the model uses columns that the file lacks: e/],
  ],
  ['a large file', { 'a.yml': `# ${'x'.repeat(1024 * 1024)}\n` }, [/a\.yml: larger than 1048576 bytes/]],
  [
    'many aliases',
    { 'a.yml': `a: &a [1]\nb: &b [${'*a,'.repeat(200)}]\ncubes: [${'*b,'.repeat(200)}]\n` },
    [/a\.yml/],
  ],
])('a data model with %s is refused at the start', async (_title, files, patterns) => {
  const failure: Error = await startDataRig({ modelDir: folderOf(files) }).then(
    async (started) => {
      await started.stop();
      throw new Error('the sandbox started');
    },
    (error: unknown) => error as Error,
  );
  for (const pattern of patterns) expect(failure.message).toMatch(pattern);
});

test('`scim-bridge sandbox --model` prints each fault of the data model on its own line and exits 1', () => {
  const folder = folderOf({ 'a.yml': 'cubes:\n  - name: a\n    extends: b\n' });
  const main = join(import.meta.dirname, '../../../dist/main.js');
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [main, 'sandbox', '--model', folder, '--json'],
    {
      encoding: 'utf8',
    },
  );
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr.trimEnd().split('\n')).toEqual([
    'The data model cannot be used:',
    '  a.yml:3:14: there is no "b" to extend',
    '  a.yml:2:11: a cube has either "sql_table" or "sql"',
  ]);
});
