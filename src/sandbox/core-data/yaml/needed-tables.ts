// Finds the tables that the sandbox fills with rows for a YAML model, and the columns that the SQL of the model names
// (`neededTables`). `fromOf` returns the SQL of a cube after FROM, with the table names of the engine.
import type { QualifiedTableName } from '../model.ts';
import { quoteName } from '../statement.ts';
import { sqlOf, type CubeSource } from './cube-source.ts';
import type { NeededTable } from './sample-tables.ts';
import { columnsIn } from './sql-templates.ts';

/** The name of a table, after FROM or JOIN. */
const TABLES = /\b(from|join)\s+("?[A-Za-z_][\w.]*"?)/gi;

/** Returns the table or SQL of a cube with the cube's name as alias. @param tableName returns the name of a table in the engine */
export function fromOf({ name, table, sql = '' }: CubeSource, tableName: QualifiedTableName): string {
  const placed = sql
    .trim()
    .replace(/;$/, '')
    .replace(
      TABLES,
      (_all, word: string, named: string) => `${word} ${tableName(named.replaceAll('"', ''))}`,
    );
  return `${table === undefined ? `(${placed})` : tableName(table)} ${quoteName(name)}`;
}

/** Returns the names of the physical tables of a cube. */
export const tablesOf = ({ table, sql = '' }: CubeSource): string[] =>
  table === undefined
    ? [...new Set([...sql.matchAll(TABLES)].map(([, , name = '']) => name.replaceAll('"', '')))]
    : [table];

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
