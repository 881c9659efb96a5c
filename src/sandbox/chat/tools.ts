// Implements the two tools of the agent: read the model, run SQL over it. Failures are results with `error`
// (contract 6.6).
import { randomUUID } from 'node:crypto';
import type { Cell, Column, CubeDocument } from '../core-data/core-data.ts';
import type { SandboxJsonObject } from '../json.ts';

/** Data access of an agent, with the rights of the caller. */
export interface AgentData {
  meta(): Promise<readonly CubeDocument[]>;
  /** Returns the first rows and the number of all rows. */
  run(sqlQuery: string): Promise<Rows>;
}

/** Result of a query: the columns, the first rows, and the number of all rows. */
export interface Rows {
  readonly schema: readonly Column[];
  readonly data: readonly (readonly Cell[])[];
  readonly totalRows: number;
}

/** Input of the SQL tool. `memoryId` is the id of the thread; `vegaSpec` is a chart as JSON text (contract 6.6). */
export interface SqlInput {
  readonly sqlQuery: string;
  readonly queryTitle: string;
  readonly description: string;
  readonly userRequest: string;
  readonly memoryId: string;
  readonly vegaSpec?: string;
}

/** Returns the result of the metadata tool for the cubes that the caller may see. */
export function toMetaResult(cubes: readonly CubeDocument[], searchQuery: string): SandboxJsonObject {
  return {
    cubes: cubes.map(({ name, type, title, measures, dimensions }) => ({
      name,
      type,
      title,
      members: [...measures, ...dimensions].map((member) => ({
        name: member.name,
        title: member.title,
        description: member.description ?? '',
        type: member.type,
        ...(member.aggType === undefined ? {} : { aggType: member.aggType }),
      })),
    })),
    searchQuery,
  };
}

/** Returns the result of the SQL tool: its input without `memoryId`, and the rows. */
export function toSqlResult(input: SqlInput, rows: Rows): SandboxJsonObject {
  const { memoryId: _memoryId, ...shownInput } = input;
  return {
    ...shownInput,
    schema: rows.schema.map(({ name, column_type }) => ({ name, column_type })),
    data: rows.data,
    totalRows: rows.totalRows,
    uuid: randomUUID(),
  };
}

export function toErrorResult(error: unknown): SandboxJsonObject {
  return { error: error instanceof Error ? error.message : String(error) };
}
