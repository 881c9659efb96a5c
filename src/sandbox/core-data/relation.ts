// Builds the SQL of cubes as one relation. It has a row for each source row that the security context may see, and a
// column for each member.
import { filterSql } from './filter-sql.ts';
import type { FilterTarget } from './filter-values.ts';
import type { Cube, Dimension, QualifiedTableName } from './model.ts';
import type { RowAccess } from './row-access.ts';
import { quoteName, type Bind } from './statement.ts';

/** Returns the SQL of a dimension per row; times are converted to the zone. */
function dimensionSql(dimension: Dimension, timezone: string, bind: Bind): string {
  if (dimension.type !== 'time' || timezone === 'UTC') return dimension.sql;
  return `timezone(${bind(timezone)}, timezone('UTC', ${dimension.sql}))`;
}

interface RelationParts {
  readonly tableName: QualifiedTableName;
  readonly access: RowAccess;
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
const AFTER_POLICY = 'LIMIT 1000000000000';
/**
 * Name of the column with the primary key of a joined cube. The name of a member contains no `#`, so no member has
 * this name.
 */
export const KEY_COLUMN = '#key';

/**
 * Returns cubes as one SELECT over the source of the first, which reaches the others. Measures are the values per row
 * that their aggregate uses; each joined cube has a column with its key.
 */
export function relationSql(cubes: readonly Cube[], parts: RelationParts): string {
  const [root] = cubes;
  if (!root) throw new Error('A relation needs a cube');
  const { tableName, access, timezone, bind, columnOf } = parts;
  const columns = cubes.flatMap((cube) => {
    const named = (sql: string, name: string): string => `${sql} AS ${quoteName(columnOf(cube, name))}`;
    return [
      ...cube.dimensions.map((dimension) => named(dimensionSql(dimension, timezone, bind), dimension.name)),
      ...[...cube.measures, ...cube.segments].map(({ sql, name }) => named(sql, name)),
      ...(cubes.length > 1 ? [named(cube.key, KEY_COLUMN)] : []),
    ];
  });
  const sqlOf = (target: FilterTarget): string =>
    target.kind === 'dimension'
      ? `(${dimensionSql(target.member, timezone, bind)})`
      : `(${target.member.sql})`;
  const conditions = access.isDenied
    ? ['FALSE']
    : access.filters.map((filter) => `(${filterSql(filter, sqlOf, bind)})`);
  const rows = `SELECT ${columns.join(', ')} FROM ${root.source(tableName)}`;
  return conditions.length === 0 ? rows : `${rows} WHERE ${conditions.join(' AND ')} ${AFTER_POLICY}`;
}
