// Builds a cube as one relation: a row per source row, a column per member, only the rows that the context may
// see.
import type { Access } from './policy.ts';
import type { Cube, Dimension, TableSource } from './model.ts';

/** Binds a value to the statement and returns its placeholder. */
export type Bind = (value: string) => string;

/** Quotes an identifier with any content. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the SQL of a dimension per row; times are converted to the zone. */
export function dimensionSql(dimension: Dimension, timezone: string, bind: Bind): string {
  if (dimension.type !== 'time' || timezone === 'UTC') return dimension.sql;
  return `timezone(${bind(timezone)}, timezone('UTC', ${dimension.sql}))`;
}

function conditionSql(cube: Cube, access: Exclude<Access, { kind: 'all' }>, bind: Bind): string {
  if (access.kind === 'none' || access.alternatives.length === 0) return 'FALSE';
  const alternatives = access.alternatives.map((conditions) =>
    conditions
      .map(({ dimension, values }) => {
        const sql = cube.dimensions.find(({ name }) => name === dimension)?.sql;
        if (sql === undefined) throw new Error(`The policy of ${cube.name} names no dimension: ${dimension}`);
        return `CAST(${sql} AS VARCHAR) IN (${values.map((value) => bind(value)).join(', ')})`;
      })
      .join(' AND '),
  );
  return alternatives.map((one) => `(${one})`).join(' OR ');
}

export interface RelationParts {
  readonly place: TableSource;
  readonly access: Access;
  /** IANA name. */
  readonly timezone: string;
  readonly bind: Bind;
}

/**
 * A LIMIT above the size of any table, placed after the policy. The engine moves conditions of a query down,
 * even below a join that the policy needs. There they would run on hidden rows, and an error such as a failed
 * cast would reveal their values. The engine moves no condition below a LIMIT.
 */
const FENCE = 'LIMIT 1000000000000';

/** Returns the cube as a SELECT; measures are the values per row that their aggregate uses. */
export function relationSql(cube: Cube, { place, access, timezone, bind }: RelationParts): string {
  const dimensions = cube.dimensions.map(
    (one) => `${dimensionSql(one, timezone, bind)} AS ${quoteName(one.name)}`,
  );
  const measures = cube.measures.map((one) => `${one.sql} AS ${quoteName(one.name)}`);
  const segments = cube.segments.map((one) => `${one.sql} AS ${quoteName(one.name)}`);
  const columns = [...dimensions, ...measures, ...segments].join(', ');
  const rows = `SELECT ${columns} FROM ${cube.source(place)}`;
  return access.kind === 'all' ? rows : `${rows} WHERE ${conditionSql(cube, access, bind)} ${FENCE}`;
}
