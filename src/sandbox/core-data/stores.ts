// Creates the tables of each deployment's branch at the first query; their rows are the same after a restart.
import type { DeploymentRecord } from '../records.ts';
import type { Engine } from './engine.ts';
import type { QualifiedTableName, CellValue, ModelTable } from './model.ts';
import type { ModelOf } from './models.ts';
import { createDice } from './sampling.ts';

/** Age of the newest order of a new deployment; deployments of the seed have this age. */
const YOUNGEST_MS = 30 * 86_400_000;

export interface Stores {
  /** Resolves with the location of the branch's tables once they exist. */
  placeOf(deployment: DeploymentRecord, branchName: string): Promise<QualifiedTableName>;
}

function literal(value: CellValue): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

function fill(schema: string, table: ModelTable): string[] {
  const columns = table.columns.map(([name, type]) => `"${name}" ${type}`).join(', ');
  const rows = table.rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
  const name = `memory.${schema}."${table.name}"`;
  return [`CREATE TABLE ${name} (${columns})`, `INSERT INTO ${name} VALUES ${rows}`];
}

export function createStores(engine: Engine, now: () => number, modelOf: ModelOf): Stores {
  const places = new Map<string, Promise<QualifiedTableName>>();
  let count = 0;

  async function make(deployment: DeploymentRecord, branchName: string): Promise<QualifiedTableName> {
    count += 1;
    const schema = `store_${count}`;
    const isProduction = deployment.branches.some(
      ({ name, kind }) => name === branchName && kind === 'production',
    );
    const tables = modelOf(deployment).sample({
      roll: createDice(`${deployment.id}/${deployment.name}/${branchName}`),
      untilMs: Math.min(now(), deployment.createdAtMs + YOUNGEST_MS),
      isProduction,
    });
    await engine.prepare([
      `CREATE SCHEMA memory.${schema}`,
      ...tables.flatMap((table) => fill(schema, table)),
    ]);
    return (table) => `memory.${schema}."${table}"`;
  }
  return {
    placeOf(deployment, branchName) {
      const key = JSON.stringify([deployment.id, deployment.name, branchName]);
      const known = places.get(key);
      if (known) return known;
      const made = make(deployment, branchName);
      places.set(key, made);
      made.catch(() => places.delete(key));
      return made;
    },
  };
}
