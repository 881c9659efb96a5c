// Creates the tables of each deployment's branch at the first query. The rows are the same after a restart if the deployment is at
// least 30 days old (ROWS_UNTIL_MS); generated times of a younger one count back from the time of the first query.
import type { DeploymentRecord } from '../records.ts';
import type { Engine } from './engine.ts';
import type { QualifiedTableName, CellValue, ModelTable } from './model.ts';
import type { ModelOf } from './models.ts';
import { createDice } from './sampling.ts';

/**
 * Longest time from the creation of a deployment to its newest row: 30 days. Deployments of the seed were created
 * this long ago, so their newest rows are of today.
 */
const ROWS_UNTIL_MS = 30 * 86_400_000;

/** DuckDB's name of a database without a file. */
const DATABASE = 'memory';

function literal(value: CellValue): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/** Returns the statements that create the table with its rows. */
function createTableSql(schema: string, table: ModelTable): string[] {
  const columns = table.columns.map(([name, type]) => `"${name}" ${type}`).join(', ');
  const rows = table.rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
  const name = `${DATABASE}.${schema}."${table.name}"`;
  return [`CREATE TABLE ${name} (${columns})`, `INSERT INTO ${name} VALUES ${rows}`];
}

export function createStores(engine: Engine, now: () => number, modelOf: ModelOf) {
  const tableNames = new Map<string, Promise<QualifiedTableName>>();
  let count = 0;

  async function make(deployment: DeploymentRecord, branchName: string): Promise<QualifiedTableName> {
    count += 1;
    const schema = `store_${count}`;
    const isProduction = deployment.branches.some(
      ({ name, kind }) => name === branchName && kind === 'production',
    );
    const tables = modelOf(deployment).sample({
      roll: createDice(`${deployment.id}/${deployment.name}/${branchName}`),
      untilMs: Math.min(now(), deployment.createdAtMs + ROWS_UNTIL_MS),
      isProduction,
    });
    await engine.prepare([
      `CREATE SCHEMA ${DATABASE}.${schema}`,
      ...tables.flatMap((table) => createTableSql(schema, table)),
    ]);
    return (table) => `${DATABASE}.${schema}."${table}"`;
  }
  return {
    /** Creates the tables of the branch if there are none, and resolves with their names in the engine. */
    tableNamesOf(deployment: DeploymentRecord, branchName: string): Promise<QualifiedTableName> {
      const key = JSON.stringify([deployment.id, deployment.name, branchName]);
      const known = tableNames.get(key);
      if (known) return known;
      const made = make(deployment, branchName);
      tableNames.set(key, made);
      made.catch(() => tableNames.delete(key));
      return made;
    },
  };
}
