// Tests side channels of Core Data: error messages, folded names and column names.
import { GERMAN_ANALYST, inGroups, startDataRig, type DataRig } from './data-rig.ts';

let rig: DataRig;

beforeAll(async () => {
  rig = await startDataRig();
});
afterAll(() => rig.stop());

test('a WHERE condition is not evaluated on rows that an access policy hides, so that its errors reveal no hidden value', async () => {
  const tokensWithoutRows = [['ZZ'], ['ZZ', 'YY', 'XX']].map((country) =>
    inGroups(['analysts'], { country }),
  );
  const onOrders = [
    'CAST(total_amount AS TINYINT) > 0',
    'CAST(total_amount AS DECIMAL(3, 1)) > 0',
    'total_amount * 100000000 * 100000000 * 100000000 > 0',
    'ln(total_amount - 50000) > 0',
    'CAST(status AS INTEGER) > 0',
    'CAST(country AS INTEGER) > 0',
  ];
  const onCustomers = ['CAST(name AS INTEGER) > 0', 'credit * 2000000000 > 0', 'sqrt(-credit - 1) > 0'];
  const questions = [
    ...onOrders.map((condition) => `SELECT count(*) FROM orders WHERE ${condition}`),
    ...onCustomers.map((condition) => `SELECT count(*) FROM customers WHERE ${condition}`),
    'SELECT count(*) FROM orders o JOIN countries c ON o.country = c.code AND CAST(o.total_amount AS TINYINT) > 0',
    'SELECT count(*) FROM (SELECT CAST(total_amount AS TINYINT) AS n FROM orders) t WHERE n > 0',
    'WITH t AS (SELECT * FROM orders) SELECT count(*) FROM t WHERE CAST(total_amount AS TINYINT) > 0',
  ];
  for (const token of tokensWithoutRows) {
    for (const question of questions) {
      expect([question, await rig.rows(question, { token })]).toEqual([question, [['0']]]);
    }
  }
});

test("a table name that equals a CTE after Unicode lower-casing reads the CTE and not the engine's catalogue", async () => {
  // JavaScript lower-cases the Kelvin sign to k and the engine does not, so the name could mean the CTE or a
  // catalogue.
  const catalogues = ['duckdb_tables', 'duckdb_views', 'duckdb_databases', 'duckdb_schemas'];
  for (const name of catalogues) {
    const disguised = name.replace('k', '\u212A');
    for (const query of [
      `WITH "${disguised}" AS (SELECT 7 AS x) SELECT * FROM ${name}`,
      `WITH "${disguised}" AS (SELECT 7 AS x) SELECT * FROM (SELECT * FROM ${name}) t`,
    ]) {
      expect([query, await rig.rows(query, { token: GERMAN_ANALYST })]).toEqual([query, [['7']]]);
    }
  }
  expect(
    await rig.rows('WITH cte_1 AS (SELECT 1 AS x), b AS (SELECT x + 1 AS x FROM cte_1) SELECT * FROM b'),
  ).toEqual([['2']]);
});

test('a result column without an alias is named after the function or column in the query, and not after an internal table', async () => {
  const expressions: [expression: string, name: string][] = [
    ['(SELECT max(country) FROM orders)', 'max'],
    ['(SELECT country FROM orders LIMIT 1)', 'country'],
    ['(SELECT 1 AS one UNION SELECT 2 ORDER BY 1 LIMIT 1)', 'one'],
    ['EXISTS (SELECT 1 FROM customers)', 'exists'],
    ['NOT EXISTS (SELECT 1 FROM customers)', '?column?'],
    ["'DE' IN (SELECT country FROM orders)", '?column?'],
    ['1 + (SELECT count(*) FROM orders)', '?column?'],
    ["coalesce((SELECT max(country) FROM orders), 'none')", 'coalesce'],
    ["'a' LIKE 'b%'", '?column?'],
    ['CAST((SELECT max(country) FROM orders) AS VARCHAR)', 'max'],
  ];
  for (const [expression, name] of expressions) {
    const [line] = await rig.lines(`SELECT ${expression}`, { token: GERMAN_ANALYST });
    expect([expression, line?.['schema']]).toEqual([expression, [expect.objectContaining({ name })]]);
  }
});
