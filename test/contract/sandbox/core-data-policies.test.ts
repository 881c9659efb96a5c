// Tests how access policies combine: several policies of one cube, views over cubes with policies, private members.
// The expected answers are those of a Cube server 1.7.43 on the same model and rows.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inGroups, startDataRig, type DataRig } from './data-rig.ts';

const MODEL = `
cubes:
  - name: teams
    sql_table: teams
    dimensions:
      - { name: id, type: number, sql: id, primary_key: true }
      - { name: title, type: string, sql: title }
    measures:
      - { name: count, type: count }
      - { name: budget, type: sum, sql: budget }
    access_policy:
      - group: boss
      - group: analysts
        row_level: { filters: [{ member: title, operator: notEquals, values: [ops] }] }
      - group: webbers
        member_level: { includes: [title] }
        row_level: { filters: [{ member: title, operator: equals, values: [web] }] }
  - name: people
    sql_table: people
    joins:
      - { name: teams, relationship: many_to_one, sql: "{CUBE}.team_id = {teams}.id" }
    dimensions:
      - { name: id, type: number, sql: id, primary_key: true }
      - { name: name, type: string, sql: name }
      - { name: site, type: string, sql: site }
      - { name: wage, type: number, sql: wage }
      - { name: started_at, type: time, sql: started_at }
      - { name: secret, type: string, sql: name, public: false }
    segments:
      - { name: rich, sql: "{CUBE}.wage >= 100" }
    measures:
      - { name: count, type: count }
      - { name: wages, type: sum, sql: wage }
      - { name: average_wage, type: number, sql: "1.0 * {wages} / {count}" }
      - { name: hush, type: sum, sql: wage, shown: false }
    access_policy:
      - group: boss
      - group: german
        member_level: { includes: [count, site, name] }
        row_level: { filters: [{ member: site, operator: equals, values: [DE] }] }
      - group: italian
        member_level: { includes: [id, count, site, wages] }
        row_level: { filters: [{ member: site, operator: equals, values: [IT] }] }
      - group: averager
        member_level: { includes: [average_wage, site] }
      - group: noname
        member_level: { excludes: [name] }
        row_level: { filters: [{ member: site, operator: notEquals, values: [US] }] }
      - groups: [rich, poor]
        row_level: { filters: [{ member: wage, operator: gte, values: ["{ userAttributes.least }"] }] }
      - group: cond
        conditions: [{ if: "{ userAttributes.first }" }, { if: "{ userAttributes.second }" }]
      - group: every
        row_level: { filters: [{ or: [{ member: site, operator: equals, values: [US] }, { and: [{ member: site, operator: equals, values: [IT] }, { member: wage, operator: lt, values: ['100'] }] }] }] }
views:
  - name: staff
    cubes:
      - { join_path: people, includes: '*' }
      - { join_path: people.teams, prefix: true, includes: [title, budget] }
    access_policy:
      - group: boss
      - group: german
        member_level: { includes: [count, site, name, teams_title] }
      - group: italian
        member_level: { includes: [count, wages, site] }
        row_level: { filters: [{ member: site, operator: equals, values: [IT] }] }
      - group: webbers
  - name: everyone
    cubes:
      - { join_path: people, includes: '*', excludes: [hush] }
      - { join_path: people.teams, prefix: true, includes: [title, budget] }
`;
const PEOPLE = `id,team_id,name,site,wage,started_at
1,1,Ada,DE,100,2026-01-05
2,1,Ben,DE,50,2026-02-05
3,2,Cyd,IT,200,2026-03-05
4,2,Dan,US,400,2026-03-06
5,3,Eve,IT,80,2026-04-01
`;
const TEAMS = 'id,title,budget\n1,core,1000\n2,web,500\n3,ops,7\n';

let folder: string;
let rig: DataRig;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'policies-'));
  for (const [name, text] of Object.entries({ 'm.yml': MODEL, 'people.csv': PEOPLE, 'teams.csv': TEAMS }))
    writeFileSync(join(folder, name), text);
  rig = await startDataRig({ modelDir: folder });
});
afterAll(async () => {
  await rig.stop();
  rmSync(folder, { recursive: true });
});

/** Returns sorted rows with numbers as numbers, or the error's first words. */
async function answer(groups: readonly string[], query: object, attributes: object = {}): Promise<unknown> {
  const { status, body } = await rig.load(query, { token: inGroups([...groups], attributes) });
  if (status !== 200) return String(body.error).split('. Please')[0];
  const cell = (value: unknown) =>
    typeof value === 'string' && value !== '' ? Number(value) || value : value;
  return body.data.map((row: object) => Object.values(row).map(cell).join(' ')).sort();
}
const hidden = (name: string): string => `Error: You requested hidden member: '${name}'`;
const count = { measures: ['people.count'] };
const bySite = { dimensions: ['people.site'] };

describe('several policies of one cube', () => {
  test('a user sees a member of a cube if any access policy that matches the user shows it', async () => {
    expect(await answer(['german'], { measures: ['people.wages'] })).toEqual(hidden('people.wages'));
    expect(await answer(['german', 'italian'], { measures: ['people.wages'] })).toEqual(['280']);
    const { body } = await rig.ask('GET', '/v1/meta', { token: inGroups(['german', 'italian']) });
    const people = body.cubes.find(({ name }: any) => name === 'people');
    expect([...people.measures, ...people.dimensions].map(({ name }: any) => name)).toEqual([
      ...['people.count', 'people.wages', 'people.name', 'people.site'],
    ]);
  });
  test('a query returns only rows that an access policy of the user allows for each selected member', async () => {
    expect(await answer(['german', 'italian'], bySite)).toEqual(['DE', 'IT']);
    expect(await answer(['german', 'italian'], { ...bySite, measures: ['people.wages'] })).toEqual([
      'IT 280',
    ]);
    expect(await answer(['german', 'italian'], { dimensions: ['people.name'] })).toEqual(['Ada', 'Ben']);
    const both = { dimensions: ['people.name'], measures: ['people.wages'] };
    expect(await answer(['german', 'italian'], both)).toEqual([]);
    expect(await answer(['german', 'boss'], both)).toHaveLength(5);
  });
  test("the `query` in the answer of /v1/load contains the row filters of the user's access policies", async () => {
    const token = inGroups(['german', 'italian']);
    const { body } = await rig.load({ ...bySite, measures: ['people.wages'] }, { token });
    const site = (value: string) => ({ member: 'people.site', operator: 'equals', values: [value] });
    expect(body.query.filters).toEqual([{ and: [site('IT'), { or: [site('DE'), site('IT')] }] }]);
  });
  test('a query that filters, segments or limits dates by a member that no policy of the user shows counts no rows', async () => {
    for (const query of [
      { filters: [{ member: 'people.name', operator: 'set' }] },
      { segments: ['people.rich'] },
      { timeDimensions: [{ dimension: 'people.started_at', dateRange: ['2026-01-01', '2026-12-31'] }] },
    ])
      expect(await answer(['italian'], { ...count, ...query })).toEqual(['0']);
    const token = inGroups(['italian']);
    const { body } = await rig.load(
      { ...count, filters: [{ member: 'people.name', operator: 'set' }] },
      { token },
    );
    expect(body.query.filters).toEqual([{ member: 'people.name', operator: 'set' }]);
  });
  test('a count is 0 unless an access policy shows the primary key, and a measure computed from others is empty unless a policy shows those', async () => {
    expect(await answer(['german'], count)).toEqual(['0']);
    expect(await answer(['italian'], count)).toEqual(['2']);
    expect(await answer(['averager'], { measures: ['people.average_wage'] })).toEqual(['']);
    expect(await answer(['averager', 'boss'], { measures: ['people.average_wage'] })).toEqual(['166']);
  });
  test('an access policy with excludes and without includes shows all other members, and a user without a policy sees none', async () => {
    expect(await answer(['noname'], count)).toEqual(['4']);
    expect(await answer(['noname'], { dimensions: ['people.name'] })).toEqual(hidden('people.name'));
    expect(await answer(['noname', 'german'], { dimensions: ['people.name'] })).toEqual(['Ada', 'Ben']);
    expect(await answer(['strangers'], count)).toEqual(hidden('people.count'));
  });
  test('the rows of an access policy for several groups are selected by its nested filters and by values of userAttributes', async () => {
    const wages = { measures: ['people.wages'] };
    expect(await answer(['rich', 'poor'], wages, { least: 100 })).toEqual(['700']);
    expect(await answer(['rich'], wages)).toEqual(
      'Error: invalid input syntax for type integer: "undefined"',
    );
    expect(await answer(['rich', 'every'], wages, { least: 300 })).toEqual(['480']);
    expect(await answer(['every'], { dimensions: ['people.name'] })).toEqual(['Dan', 'Eve']);
  });
  test('an access policy applies only if all its conditions hold, and a condition that is no boolean is an error', async () => {
    const wages = { measures: ['people.wages'] };
    expect(await answer(['cond'], wages, { first: 'yes', second: true })).toEqual(['830']);
    expect(await answer(['cond'], wages, { first: true, second: false })).toEqual(hidden('people.wages'));
    expect(await answer(['cond'], wages, { first: true })).toEqual(
      'Error: Access policy condition must return boolean, got undefined',
    );
  });
  test('access policies limit the rows of a SQL query as they limit the rows of a JSON query', async () => {
    const token = inGroups(['german', 'italian']);
    expect((await rig.rows('SELECT site FROM people GROUP BY 1 ORDER BY 1', { token })).flat()).toEqual([
      ...['DE', 'IT'],
    ]);
    expect(await rig.rows('SELECT site, MEASURE(wages) FROM people GROUP BY 1', { token })).toEqual([
      ['IT', '280'],
    ]);
    expect(await rig.rows('SELECT name, wages FROM people', { token })).toEqual([]);
    expect(await rig.rows('SELECT COUNT(*) FROM people', { token })).toEqual([['2']]);
    expect(await rig.rows('SELECT COUNT(*) FROM people', { token: inGroups(['german']) })).toEqual([['0']]);
  });
});

describe('views over cubes with policies', () => {
  test('the access policies of a view decide its visible members, and the policies of its cubes decide the rows', async () => {
    expect(await answer(['german'], { measures: ['staff.count'] })).toEqual(['2']);
    expect(await answer(['german'], { measures: ['everyone.wages'] })).toEqual(['150']);
    expect(await answer(['german'], { measures: ['staff.wages'] })).toEqual(hidden('staff.wages'));
    expect(await answer(['italian'], { measures: ['staff.count'], dimensions: ['staff.site'] })).toEqual([
      'IT 2',
    ]);
  });
  test('a query of a view is limited by the row policies of only those cubes whose members it uses', async () => {
    expect(await answer(['analysts'], { dimensions: ['everyone.teams_title'] })).toEqual(['core', 'web']);
    expect(await answer(['webbers'], { dimensions: ['staff.teams_title'] })).toEqual(['web']);
    expect(await answer(['webbers'], { dimensions: ['everyone.teams_title'] })).toEqual(['web']);
    expect(await answer(['webbers'], { measures: ['staff.wages'] })).toEqual(['']);
    expect(await answer(['german'], { dimensions: ['everyone.teams_title'] })).toEqual([]);
    expect(await answer(['strangers'], { measures: ['everyone.count'] })).toEqual(['0']);
  });
  test('a query of a view together with its cube is checked against the member policies of the view only', async () => {
    expect(await answer(['german'], { measures: ['everyone.count', 'people.count'] })).toEqual(['2 2']);
  });
});

describe('private members', () => {
  test('selecting a private member is refused as hidden, and a filter by a private member returns the matching rows', async () => {
    expect(await answer(['boss'], { measures: ['people.hush'] })).toEqual(hidden('people__hush'));
    expect(await answer(['boss'], { dimensions: ['people.secret'] })).toEqual(hidden('people__secret'));
    expect(await answer(['boss'], { dimensions: ['people.id'] })).toEqual(hidden('people__id'));
    const filters = [{ member: 'people.secret', operator: 'equals', values: ['Ada'] }];
    expect(await answer(['boss'], { measures: ['people.wages'], filters })).toEqual(['100']);
    expect(await rig.sqlError('SELECT secret FROM people', { token: inGroups(['boss']) })).toBeDefined();
  });
  test('a view that includes a private member of its cube shows the member', async () => {
    expect(await answer(['boss'], { measures: ['staff.hush'], dimensions: ['staff.secret'] })).toHaveLength(
      5,
    );
    const { body } = await rig.ask('GET', '/v1/meta', { token: inGroups(['boss']) });
    const names = (cube: string): string[] =>
      body.cubes
        .filter(({ name }: any) => name === cube)
        .flatMap(({ measures, dimensions }: any) => [...measures, ...dimensions])
        .map(({ name }: any) => name.split('.')[1]);
    expect(names('people')).not.toEqual(expect.arrayContaining(['secret']));
    expect(names('people')).not.toEqual(expect.arrayContaining(['hush']));
    expect(names('staff')).toEqual(expect.arrayContaining(['secret', 'hush', 'id']));
    expect(names('everyone')).not.toEqual(expect.arrayContaining(['hush']));
  });
});
