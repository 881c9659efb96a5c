// Tests granularities of a model's own, cubes and views that extend others, and titles, against answers of Cube 1.7.43.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inGroups, startDataRig, type DataRig } from './data-rig.ts';

const MODEL = `
cubes:
  - name: base
    sql_table: people
    public: false
    description: All people
    dimensions:
      - { name: id, type: number, sql: id, primary_key: true }
      - { name: site, type: string, sql: site, title: Place }
      - name: started_at
        type: time
        sql: started_at
        granularities:
          - { name: fiscal_year, title: Business Year, interval: 1 year, offset: 3 months }
          - { name: half_year, interval: 6 months }
          - { name: fortnight, interval: 2 weeks, origin: '2026-01-07' }
          - { name: week_from_sunday, interval: 1 week, offset: -1 day }
          - { name: six_hours, interval: 6 hours, offset: 2 hours }
          - { name: odd, interval: 1 month 10 days, origin: '2025-12-20' }
    measures:
      - { name: count, type: count }
      - { name: wages, type: sum, sql: wage }
    segments:
      - { name: rich, sql: "{CUBE}.wage >= 100" }
    access_policy:
      - group: everything
        row_level: { filters: [{ member: site, operator: notEquals, values: [hidden] }] }
  - name: staff
    extends: base
    public: true
    joins:
      - { name: teams, relationship: many_to_one, sql: "{CUBE}.team_id = {teams}.id" }
    dimensions:
      - { name: site, type: string, sql: "lower({CUBE}.site)" }
    access_policy:
      - group: boss
  - name: rich
    extends: staff
    sql: SELECT * FROM people WHERE wage >= 100
  - name: years
    sql: >-
      WITH dated AS (SELECT id, EXTRACT(year FROM started_at) AS year FROM people) SELECT * FROM dated
    dimensions:
      - { name: id, type: number, sql: id, primary_key: true }
      - { name: year, type: number, sql: year }
    measures:
      - { name: count, type: count }
  - name: teams
    sql_table: teams
    dimensions:
      - { name: id, type: number, sql: id, primary_key: true }
      - { name: title, type: string, sql: title }
views:
  - name: sites
    cubes: [{ join_path: staff, includes: [count, site, started_at] }]
  - name: sites_and_teams
    extends: sites
    cubes: [{ join_path: staff.teams, prefix: true, includes: [title, id] }]
`;
const PEOPLE = `id,team_id,name,site,wage,started_at
1,1,Ada,DE,100,2026-01-05
2,1,Ben,DE,50,2026-02-05
3,2,Cyd,FR,200,2026-03-05
4,2,Dan,hidden,400,2026-03-06
5,2,Eve,FR,80,2026-04-01
`;

let folder: string;
let rig: DataRig;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'model-parts-'));
  const files = { 'm.yml': MODEL, 'people.csv': PEOPLE, 'teams.csv': 'id,title\n1,core\n2,web\n' };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  rig = await startDataRig({ modelDir: folder });
});
afterAll(async () => {
  await rig.stop();
  rmSync(folder, { recursive: true });
});

const boss = { token: inGroups(['boss']) };
const TIME = 'staff.started_at';
const byTime = (granularity: string, timezone = 'UTC') => ({
  measures: ['staff.count'],
  timeDimensions: [{ dimension: TIME, granularity }],
  timezone,
});
const rowsBy = async (granularity: string, timezone?: string) =>
  (await rig.load(byTime(granularity, timezone), boss)).body.data.map((row: any) => [
    row[`${TIME}.${granularity}`].slice(0, 16),
    row['staff.count'],
  ]);

describe('granularities of a time dimension', () => {
  test.each([
    ['fiscal_year', ['2025-04-01T00:00', '4'], ['2026-04-01T00:00', '1']],
    [
      'fortnight',
      ['2025-12-24T00:00', '1'],
      ['2026-02-04T00:00', '1'],
      ['2026-03-04T00:00', '2'],
      ['2026-04-01T00:00', '1'],
    ],
    ['odd', ['2025-12-20T00:00', '1'], ['2026-01-30T00:00', '3'], ['2026-03-12T00:00', '1']],
    [
      'week_from_sunday',
      ['2026-01-04T00:00', '1'],
      ['2026-02-01T00:00', '1'],
      ['2026-03-01T00:00', '2'],
      ['2026-03-29T00:00', '1'],
    ],
  ])(
    'periods of the custom granularity %s begin where its interval, offset and origin say',
    async (granularity, ...expected) => {
      expect(await rowsBy(granularity)).toEqual(expected);
    },
  );
  test('periods of a custom granularity begin in the time zone of the query', async () => {
    expect(await rowsBy('fiscal_year', 'America/New_York')).toEqual([['2025-04-01T00:00', '5']]);
    expect((await rowsBy('six_hours', 'America/New_York'))[0]).toEqual(['2026-01-04T14:00', '1']);
    expect((await rowsBy('six_hours'))[0]).toEqual(['2026-01-04T20:00', '1']);
  });
  test('a custom granularity is described in the annotation of /v1/load and in /v1/meta, and named in dry-run and in aliases of /v1/sql', async () => {
    const { body } = await rig.load(byTime('fiscal_year'), boss);
    const step = { name: 'fiscal_year', title: 'Business Year', interval: '1 year', offset: '3 months' };
    expect(body.annotation.timeDimensions[`${TIME}.fiscal_year`]).toMatchObject({
      type: 'time',
      granularity: step,
    });
    expect(body.data[0][TIME]).toBe(body.data[0][`${TIME}.fiscal_year`]);
    const meta = (await rig.ask('GET', '/v1/meta', boss)).body.cubes;
    for (const cube of ['staff', 'sites']) {
      const { dimensions } = meta.find(({ name }: any) => name === cube);
      const { granularities } = dimensions.find(({ name }: any) => name === `${cube}.started_at`);
      expect(granularities).toHaveLength(6);
      expect(granularities.slice(0, 3)).toEqual([
        step,
        { name: 'half_year', title: 'Half Year', interval: '6 months' },
        { name: 'fortnight', title: 'Fortnight', interval: '2 weeks', origin: '2026-01-07' },
      ]);
    }
    const asked = { ...boss, body: { query: byTime('fortnight') } };
    expect((await rig.ask('POST', '/v1/dry-run', asked)).body.normalizedQueries[0].timeDimensions).toEqual([
      { dimension: TIME, granularity: 'fortnight' },
    ]);
    expect((await rig.ask('POST', '/v1/sql', asked)).body.sql.aliasNameToMember).toEqual({
      staff__count: 'staff.count',
      staff__started_at_fortnight: `${TIME}.fortnight`,
    });
  });
  test('a custom granularity can be used in a dimension and in a blended query, and an unknown one answers 400', async () => {
    const { body } = await rig.load({ dimensions: [`${TIME}.half_year`], measures: ['staff.count'] }, boss);
    expect(body.data).toEqual([
      expect.objectContaining({ [`${TIME}.half_year`]: '2026-01-01T00:00:00.000' }),
    ]);
    const blended = { ...boss, body: { queryType: 'multi', query: [byTime('half_year')] } };
    const [result] = (await rig.ask('POST', '/v1/load', blended)).body.results;
    expect(result.data[0]['time.half_year']).toBe('2026-01-01T00:00:00.000');
    for (const path of ['/v1/load', '/v1/dry-run']) {
      const { status, body: refusal } = await rig.ask('POST', path, {
        ...boss,
        body: { query: byTime('decade') },
      });
      const error = `Granularity "decade" does not exist in dimension ${TIME}`;
      expect([status, refusal]).toEqual([400, { type: 'UserError', error }]);
    }
  });
});

describe('cubes and views that extend others', () => {
  const load = async (query: object, token: object = boss.token) => (await rig.load(query, { token })).body;
  test('a cube that extends another cube has the members, the table and the access policies of that cube', async () => {
    expect((await load({ measures: ['staff.wages'], segments: ['staff.rich'] })).data).toEqual([
      { 'staff.wages': '700' },
    ]);
    const everything = inGroups(['everything']);
    expect((await load({ measures: ['staff.count'] }, everything)).data).toEqual([{ 'staff.count': '4' }]);
    expect((await load({ measures: ['base.count'] })).error).toMatch(/hidden member: 'base__count'/);
  });
  test('a cube that extends another cube replaces its members of the same name and its source by its own', async () => {
    const { data } = await load({ dimensions: ['staff.site'], order: { 'staff.site': 'asc' } });
    expect(data.map((row: any) => row['staff.site'])).toEqual(['de', 'fr', 'hidden']);
    expect((await load({ measures: ['rich.count'] })).data).toEqual([{ 'rich.count': '3' }]);
    const joined = await load({ measures: ['rich.count'], dimensions: ['teams.title'] });
    expect(joined.data).toEqual([
      { 'teams.title': 'web', 'rich.count': '2' },
      { 'teams.title': 'core', 'rich.count': '1' },
    ]);
  });
  test('the SQL of a cube has a query that WITH names and a function with FROM → the cube has the rows of its table', async () => {
    const order = { 'years.year': 'asc' };
    expect((await load({ measures: ['years.count'], dimensions: ['years.year'], order })).data).toEqual([
      { 'years.year': '2026', 'years.count': '5' },
    ]);
  });
  test('a view that extends another view contains the cubes of that view and its own', async () => {
    const query = { measures: ['sites_and_teams.count'], dimensions: ['sites_and_teams.teams_title'] };
    expect((await load(query)).data).toHaveLength(2);
    const { body } = await rig.ask('GET', '/v1/meta', boss);
    const at = (cube: string) => body.cubes.find(({ name }: any) => name === cube);
    expect([at('staff').description, at('staff').title, at('sites').description]).toEqual([
      'All people',
      'Staff',
      undefined,
    ]);
    const shown = at('sites_and_teams').dimensions.map((one: any) => [
      one.shortTitle,
      one.aliasMember,
      one.primaryKey,
    ]);
    expect(shown).toEqual([
      ['Site', 'staff.site', false],
      ['Started at', 'staff.started_at', false],
      ['Teams Title', 'teams.title', false],
      ['Teams ID', 'teams.id', false],
    ]);
  });
});

test.each<[string, string, RegExp]>([
  ['extends a cube that does not exist', '{ name: a, extends: b }', /m\.yml:2:25: there is no "b" to extend/],
  ['extends itself', '{ name: a, extends: a }', /m\.yml:2:25: "a" extends itself/],
  ['has an interval that is no interval', time('interval: often'), /"interval" must be a count and a unit/],
  ['has an interval that needs an origin', time('interval: 5 months'), /"5 months" needs "origin"/],
  ['has offset and origin', time("interval: 1 day, offset: 1 hour, origin: '2026-01-01'"), /not both/],
  ['has an origin that is no date', time('interval: 5 days, origin: soon'), /"origin" must be a date/],
  [
    'has granularities at a text',
    time('interval: 1 year').replace('type: time', 'type: string'),
    /only a dimension of type time has granularities/,
  ],
  ['has `shown` at a granularity', time('interval: 1 year, shown: false'), /"shown" is not supported here/],
  ['has granularities in SQL', time('sql: "x"'), /"sql" is not supported here/],
])('a data model whose cube %s is refused at the start', async (_title, cube, fault) => {
  const own = mkdtempSync(join(tmpdir(), 'model-faults-'));
  writeFileSync(join(own, 'm.yml'), `cubes:\n  - ${cube}\n`);
  await expect(startDataRig({ modelDir: own })).rejects.toThrow(fault);
  rmSync(own, { recursive: true });
});

test('a data model folder with a Jinja template is refused at the start, with the line and advice', async () => {
  const own = mkdtempSync(join(tmpdir(), 'model-jinja-'));
  writeFileSync(join(own, 'm.yml.jinja'), 'cubes:\n{% for name in names %}\n{% endfor %}\n');
  await expect(startDataRig({ modelDir: own })).rejects.toThrow(
    /m\.yml\.jinja:2:1: Jinja \(\{%\) is not supported: .*give the folder with the YAML that the templates render/,
  );
  rmSync(own, { recursive: true });
});

/** Returns a cube whose time has one granularity. */
function time(granularity: string): string {
  return `{ name: a, sql_table: t, dimensions: [{ name: d, type: time, sql: d, granularities: [{ name: g, ${granularity} }] }] }`;
}
