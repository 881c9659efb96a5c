// A cube as one relation: a row per source row, a column per member, and only the rows that the context may see.
import type { Access } from './policy.ts';
import type { Cube, Dimension, Place } from './model.ts';

/** Takes a value out of the text of a statement and answers the placeholder that stands for it. */
export type Bind = (value: string) => string;

/** A name as the engine takes it, whatever it holds. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A dimension per row; times are shown in the zone. */
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
  readonly place: Place;
  readonly access: Access;
  /** IANA name. */
  readonly timezone: string;
  readonly bind: Bind;
}

/**
 * A fence behind the policy, more rows than any table has. The engine moves conditions of a query as far down as it
 * can, even below a join that the policy needs; there they would meet rows that the policy hides, and an error, such
 * as a cast that fails, would tell their values. It moves nothing below a LIMIT.
 */
const FENCE = 'LIMIT 1000000000000';

/** The cube as a SELECT without a name; measures are the values per row that their aggregate sums up. */
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
