// Tests which tables the SQL of a cube reads.
import type { CubeSource } from '../../../../src/sandbox/core-data/yaml/cube-source.ts';
import { fromOf, tablesOf } from '../../../../src/sandbox/core-data/yaml/needed-tables.ts';

test.each<[sql: string, tables: string[]]>([
  ['SELECT * FROM orders', ['orders']],
  ['SELECT * FROM "orders" o LEFT JOIN sales.people p ON p.id = o.person', ['orders', 'sales.people']],
  ['SELECT EXTRACT(year FROM created_at) AS year FROM orders', ['orders']],
  ["SELECT trim(both ' ' FROM name), substring(name FROM start FOR 2) FROM people", ['people']],
  ['SELECT * FROM orders WHERE state IS DISTINCT FROM former_state', ['orders']],
  [
    'WITH recent AS (SELECT * FROM orders), big (id) AS MATERIALIZED (SELECT id FROM recent) SELECT * FROM Big',
    ['orders'],
  ],
  ['WITH orders AS (SELECT * FROM orders) SELECT * FROM orders', ['orders']],
  [
    'WITH RECURSIVE tree AS (SELECT * FROM nodes UNION ALL SELECT n.* FROM nodes n JOIN tree ON n.up = tree.id) SELECT * FROM tree',
    ['nodes'],
  ],
  ['SELECT CAST(x AS decimal(10, 2)) FROM (SELECT * FROM orders) recent', ['orders']],
])('%s reads %j', (sql, tables) => {
  const cube = { name: 'c', sql } as CubeSource;
  expect(tablesOf(cube)).toEqual(tables);
  const placed = fromOf(cube, (name) => `t_${name.replace('.', '_')}`);
  for (const name of ['created_at', 'start', 'former_state', 'recent', 'Big', 'tree'])
    expect(placed).not.toContain(`t_${name}`);
});

test('a WITH query has the name of the table that it reads → only the table gets the name of the engine', () => {
  const sql = 'WITH orders AS (SELECT * FROM orders) SELECT * FROM orders;';
  expect(fromOf({ name: 'c', sql } as CubeSource, (name) => `t_${name}`)).toBe(
    '(WITH orders AS (SELECT * FROM t_orders) SELECT * FROM orders) "c"',
  );
});
