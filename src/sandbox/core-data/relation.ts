// Builds cubes as one relation: a row per source row, a column per member, only the rows that the context may see.
import { userError } from './members.ts';
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

/** @throws 400 for a text at a number, as a template without value gives */
function requireTyped(cube: Cube, dimension: string, values: readonly string[]): void {
  const isNumber = cube.dimensions.some(({ name, type }) => name === dimension && type === 'number');
  const bad = isNumber ? values.find((value) => !Number.isFinite(Number(value))) : undefined;
  if (bad !== undefined)
    throw userError(`Error: invalid input syntax for type numeric: "${bad.slice(0, 100)}"`);
}

function conditionSql(cube: Cube, access: Exclude<Access, { kind: 'all' }>, bind: Bind): string {
  if (access.kind === 'none' || access.alternatives.length === 0) return 'FALSE';
  const alternatives = access.alternatives.map((conditions) =>
    conditions
      .map(({ dimension, operator, values }) => {
        const sql = cube.dimensions.find(({ name }) => name === dimension)?.sql;
        if (sql === undefined) throw new Error(`The policy of ${cube.name} names no dimension: ${dimension}`);
        requireTyped(cube, dimension, values);
        const isIn = `CAST(${sql} AS VARCHAR) IN (${values.map((value) => bind(value)).join(', ')})`;
        return operator.startsWith('not') ? `(${sql} IS NULL OR NOT ${isIn})` : isIn;
      })
      .join(' AND '),
  );
  return alternatives.map((one) => `(${one})`).join(' OR ');
}

export interface RelationParts {
  readonly place: TableSource;
  readonly accessTo: (cube: Cube) => Access;
  /** IANA name. */
  readonly timezone: string;
  readonly bind: Bind;
  /** Returns the column of a member. */
  readonly columnOf: (cube: Cube, member: string) => string;
}

/**
 * A LIMIT above the size of any table, placed after the policy. The engine moves conditions of a query down,
 * even below a join that the policy needs. There they would run on hidden rows, and an error such as a failed
 * cast would reveal their values. The engine moves no condition below a LIMIT.
 */
const FENCE = 'LIMIT 1000000000000';
/** Member name of the column with the primary key of a joined cube; no member of a model can have it. */
export const KEY_COLUMN = '#key';

/**
 * Returns cubes as one SELECT over the source of the first, which reaches the others. Measures are the values per row
 * that their aggregate uses; each joined cube has a column with its key.
 */
export function relationSql(cubes: readonly Cube[], parts: RelationParts): string {
  const [root] = cubes;
  if (!root) throw new Error('A relation needs a cube');
  const { place, accessTo, timezone, bind, columnOf } = parts;
  const columns = cubes.flatMap((cube) => {
    const named = (sql: string, name: string): string => `${sql} AS ${quoteName(columnOf(cube, name))}`;
    return [
      ...cube.dimensions.map((one) => named(dimensionSql(one, timezone, bind), one.name)),
      ...[...cube.measures, ...cube.segments].map(({ sql, name }) => named(sql, name)),
      ...(cubes.length > 1 ? [named(cube.key, KEY_COLUMN)] : []),
    ];
  });
  const guarded = cubes.flatMap((cube) => [cube, ...(cube.guards ?? [])]);
  const conditions = guarded.flatMap((cube) => {
    const access = accessTo(cube);
    return access.kind === 'all' ? [] : [`(${conditionSql(cube, access, bind)})`];
  });
  const rows = `SELECT ${columns.join(', ')} FROM ${root.source(place)}`;
  return conditions.length === 0 ? rows : `${rows} WHERE ${conditions.join(' AND ')} ${FENCE}`;
}
