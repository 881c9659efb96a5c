// Runs DuckDB in memory. Queries have limits, and cannot access files, load extensions or change settings.
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from '@duckdb/node-api';
import { createSlots } from '../../support/slots.ts';
import { SandboxProblem } from '../problem.ts';
import { toCell, toColumnType, toNativeCell } from './cells.ts';
import type { Cell, Column } from './documents.ts';
import type { Statement } from './statement.ts';

/** Largest number of concurrent queries; below the size of Node's thread pool, so that other work gets a thread. */
const PARALLEL = 3;
/** Bytes counted for a cell without text; a text counts one byte for each character. */
const CELL_BYTES = 4;
const OPTIONS = {
  threads: '2',
  memory_limit: '256MB',
  // Without a folder for temporary files the engine does not write to the disk.
  temp_directory: '',
  max_temp_directory_size: '0KiB',
  max_expression_depth: '250',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
};

export interface Bounds {
  readonly timeoutMs: number;
  /** More rows, or more text than `maxBytes`, end the query with a failure. */
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

interface QueryAnswer {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Reason why the rows are incomplete; null when they are complete. */
  readonly failure: string | null;
}

export interface Engine {
  /** Runs statements of the sandbox that create tables. */
  prepare(statements: readonly string[]): Promise<void>;
  /**
   * Rejects with SandboxProblem 400 when the engine refuses the statement, or the time limit passes before rows are
   * read. A fault while rows are read is the `failure` of the answer.
   */
  query(statement: Statement, bounds: Bounds): Promise<QueryAnswer>;
  stop(): Promise<void>;
}

async function openInstance(): Promise<DuckDBInstance> {
  const module = await import('@duckdb/node-api').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SandboxProblem(
      500,
      `Core Data needs the optional package @duckdb/node-api; install it with npm (${reason})`,
    );
  });
  const instance = await module.DuckDBInstance.create(':memory:', OPTIONS);
  const connection = await instance.connect();
  await connection.run("SET GLOBAL TimeZone = 'UTC'");
  await connection.run('SET lock_configuration = true');
  connection.disconnectSync();
  return instance;
}

/** Returns the engine's message as one line, without the rewritten statement, which the client did not write. */
function engineMessage(error: unknown): string {
  // Not tested by instanceof, because an error of a native module may belong to another realm.
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  const [first = ''] = String(isError ? error.message : error).split('\n');
  if (first.startsWith('INTERRUPT')) return 'The query took too long';
  // Clients do not see the name of the source column, which is internal.
  const message = first.replace(/ when casting from source column .*/, '');
  // The schema of a branch (stores.ts) and names of files are internal too.
  return message.replace(/\b(file|store_\d+)[^\s"]*/gi, '').trim();
}

/** Returns the limit that a result of this size exceeds, as a client reads it; undefined if it exceeds none. */
function exceededLimit(rows: number, bytes: number, { maxRows, maxBytes }: Bounds): string | undefined {
  if (rows > maxRows) return `${maxRows} rows`;
  return bytes > maxBytes ? `${maxBytes} bytes` : undefined;
}

/** Reads all rows; a failure ends the reading, and the rows before it are returned. */
async function collect(result: DuckDBResult, bounds: Bounds, keepsNumbers: boolean): Promise<QueryAnswer> {
  const columns = result
    .columnNames()
    .map((name, index) => ({ name, column_type: toColumnType(String(result.columnType(index))) }));
  const types = columns.map((_column, index) => String(result.columnType(index)));
  const rows: Cell[][] = [];
  let bytes = 0;
  try {
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
      for (const values of chunk.getRows()) {
        const row = values.map((value, index) =>
          keepsNumbers ? toNativeCell(value, types[index] ?? '') : toCell(value),
        );
        for (const cell of row) bytes += typeof cell === 'string' ? cell.length : CELL_BYTES;
        const limit = exceededLimit(rows.length + 1, bytes, bounds);
        if (limit !== undefined)
          return { columns, rows, failure: `The result is larger than ${limit}; add a LIMIT` };
        rows.push(row);
      }
    }
  } catch (error) {
    return { columns, rows, failure: engineMessage(error) };
  }
  return { columns, rows, failure: null };
}

async function runBounded(
  connection: DuckDBConnection,
  statement: Statement,
  bounds: Bounds,
): Promise<QueryAnswer> {
  const interrupt = (): void => connection.interrupt();
  const timer = setTimeout(interrupt, bounds.timeoutMs);
  bounds.signal?.addEventListener('abort', interrupt, { once: true });
  try {
    const result = await connection.stream(statement.sql, [...statement.values]);
    return await collect(result, bounds, statement.keepsNumbers ?? false);
  } catch (error) {
    throw new SandboxProblem(400, engineMessage(error));
  } finally {
    clearTimeout(timer);
    bounds.signal?.removeEventListener('abort', interrupt);
    // Ends a statement whose rows were not all read.
    connection.interrupt();
    connection.disconnectSync();
  }
}

/** Creates the engine; DuckDB starts at the first query, so that a sandbox without queries does not load it. */
export function createEngine(): Engine {
  const slots = createSlots(() => PARALLEL);
  let opening: Promise<DuckDBInstance> | undefined;
  let isStopped = false;

  async function connect(): Promise<DuckDBConnection> {
    if (isStopped) throw new SandboxProblem(500, 'Core Data has stopped');
    opening ??= openInstance();
    try {
      return await (await opening).connect();
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }
  return {
    async prepare(statements) {
      const connection = await connect();
      try {
        for (const sql of statements) await connection.run(sql);
      } finally {
        connection.disconnectSync();
      }
    },
    query: (statement, bounds) =>
      slots.run(async () => {
        if (bounds.signal?.aborted) throw new SandboxProblem(400, 'The query was abandoned');
        return runBounded(await connect(), statement, bounds);
      }),
    async stop() {
      isStopped = true;
      const instance = await opening?.catch(() => undefined);
      instance?.closeSync();
    },
  };
}
