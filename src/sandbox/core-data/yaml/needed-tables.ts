// Finds the tables that the sandbox fills with rows for a YAML model, and the columns that the SQL of the model names
// (`neededTables`). `fromOf` returns the SQL of a cube after FROM, with the table names of the engine.
import type { QualifiedTableName } from '../model.ts';
import { quoteName } from '../statement.ts';
import { sqlOf, type CubeSource } from './cube-source.ts';
import type { NeededTable } from './sample-tables.ts';
import { columnsIn } from './sql-templates.ts';

/** A name after FROM or JOIN. */
const NAMES = /\b(from|join)(\s+)("?[A-Za-z_][\w.]*"?)/gi;

/** SQL before a FROM that names no table: in a function such as EXTRACT(year FROM started_at), or IS DISTINCT FROM. */
const OTHER_FROM = /(\b(extract|trim|substring|overlay)\s*\([^()]*|\bdistinct\s+)$/i;

/** The beginning of a query that WITH names: its name, an optional list of columns, and the bracket of its SQL. */
const NAMED_QUERY = /("?)\b([A-Za-z_]\w*)\1\s*(\([^()]*\)\s*)?\bas\s*((not\s+)?materialized\s*)?\(/gi;

/** Returns SQL with other names of its tables; names of queries that its WITH defines stay. */
function renameTables(sql: string, rename: (table: string) => string): string {
  const starts = /\bwith\b/i.test(sql) ? [...sql.matchAll(NAMED_QUERY)] : [];
  // The query of a name may read a table of the same name, unless it is recursive.
  const isRecursive = /\bwith\s+recursive\b/i.test(sql);
  const queries = starts.map(({ 0: start, 2: name = '', index }) => ({
    name: name.toLowerCase(),
    from: isRecursive ? index : endOfBracket(sql, index + start.length),
  }));
  return sql.replace(NAMES, (all, word: string, space: string, quoted: string, at: number) => {
    const name = quoted.replaceAll('"', '');
    const isQuery = queries.some((query) => query.name === name.toLowerCase() && at > query.from);
    return isQuery || OTHER_FROM.test(sql.slice(0, at)) ? all : `${word}${space}${rename(name)}`;
  });
}

/** Returns the place of the closing bracket. @param start place after the opening bracket */
function endOfBracket(sql: string, start: number): number {
  let depth = 1;
  for (let at = start; at < sql.length; at += 1) {
    if (sql[at] === '(') depth += 1;
    else if (sql[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return sql.length;
}

/** Returns the table or SQL of a cube with the cube's name as alias. @param tableName returns the name of a table in the engine */
export function fromOf({ name, table, sql = '' }: CubeSource, tableName: QualifiedTableName): string {
  const placed = renameTables(sql.trim().replace(/;$/, ''), tableName);
  return `${table === undefined ? `(${placed})` : tableName(table)} ${quoteName(name)}`;
}

/** Returns the names of the physical tables of a cube. */
export function tablesOf({ table, sql = '' }: CubeSource): string[] {
  if (table !== undefined) return [table];
  const names = new Set<string>();
  renameTables(sql, (name) => {
    names.add(name);
    return name;
  });
  return [...names];
}

/** Column type of a dimension that consists of one column, by the type of the dimension. */
const TYPES = { string: 'VARCHAR', number: 'INTEGER', boolean: 'BOOLEAN', time: 'TIMESTAMP' } as const;

/** Returns the SQL of all members and joins. */
const sqlTextsOf = (cubes: ReadonlyMap<string, CubeSource>): string[] =>
  [...cubes.values()].flatMap((cube) => [
    ...cube.dimensions.map((dimension) => sqlOf(dimension, cube, cubes)),
    ...cube.measures
      .filter(({ aggType }) => aggType !== 'number') // computed from other measures, whose columns are here anyway
      .map((measure) => sqlOf(measure, cube, cubes)),
    ...cube.segments.map(({ node, sql }) => sqlOf({ node, template: sql }, cube, cubes)),
    ...cube.joins.map((join) => sqlOf(join, cube, cubes)),
  ]);

/** Returns the columns that the SQL of the model needs, by table. */
export function neededTables(cubes: ReadonlyMap<string, CubeSource>): NeededTable[] {
  const needed = new Map<string, { columns: Map<string, string>; isComplete: boolean }>();
  const texts = sqlTextsOf(cubes);
  for (const cube of cubes.values()) {
    const names = tablesOf(cube);
    // SQL other than `SELECT * FROM <table>` may use further columns of its tables than the members name.
    const isSimple =
      cube.table !== undefined ||
      (names.length === 1 && /^\s*select\s+\*\s+from\s+\S+\s*;?\s*$/i.test(cube.sql ?? ''));
    for (const name of names) {
      const entry = needed.get(name) ?? { columns: new Map<string, string>(), isComplete: true };
      needed.set(name, entry);
      entry.isComplete &&= isSimple;
      // The SQL of a cube over several tables does not tell which table has a column, so each of them gets all columns of the cube.
      for (const column of texts.flatMap((text) => columnsIn(text, cube.name)))
        // The type is replaced below if a dimension consists of this column alone.
        if (!entry.columns.has(column)) entry.columns.set(column, 'INTEGER');
      for (const one of cube.dimensions) {
        const [column, ...others] = columnsIn(sqlOf(one, cube, cubes), cube.name);
        if (column !== undefined && others.length === 0)
          // `KEY` is no SQL type: in generated rows (sample-tables.ts) the values of this column are 1, 2, 3 ...
          entry.columns.set(column, one.isKey && one.type === 'number' ? 'KEY' : TYPES[one.type]);
      }
    }
  }
  return [...needed].map(([name, { columns, isComplete }]) => ({ name, columns, isComplete }));
}
