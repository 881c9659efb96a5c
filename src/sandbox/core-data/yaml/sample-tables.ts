// Fills the tables of a model: from CSV files, from the tables of the seed, or with generated rows.
import { parse } from 'csv-parse/sync';
import type { CellValue, Model, ModelTable, Sampling } from '../model.ts';
import { OPS_MODEL } from '../ops-model.ts';
import { SALES_MODEL } from '../sales-model.ts';
import { between, sampledMoment } from '../sampling.ts';
import type { ModelFile } from './model-files.ts';

/** A table with the columns that the model uses; type `KEY` is a number that counts the rows. */
export interface NeededTable {
  readonly name: string;
  readonly columns: ReadonlyMap<string, string>;
  /** Whether `columns` has all columns that the model uses; false where a cube's own SQL may use others. */
  readonly isComplete: boolean;
}

/** Tables of the models in the seed. */
const SEED_TABLES: readonly string[] = ['orders', 'customers', 'countries', 'incidents'];
const GENERATED_ROWS = 100;
const MAX_ROWS = 50_000;
const MAX_COLUMNS = 200;
const MOMENT = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?Z?)?$/;

type Column = readonly [name: string, type: string];

/**
 * Returns the function that fills the tables. The rows of a table come from its CSV file `<table>.csv`, else from the table
 * of the seed with this name (if `columns` is complete, only from one that has them all), else they are generated. Adds a fault
 * to `faults` for each CSV file or table that cannot be used.
 */
export function createSampler(
  needed: readonly NeededTable[],
  files: ReadonlyMap<string, ModelFile>,
  faults: string[],
): Model['sample'] {
  const given = tablesOfFiles(needed, files, faults);
  for (const { name, isComplete } of needed)
    if (!isComplete && !given.has(name) && !SEED_TABLES.includes(lastPart(name)))
      faults.push(
        `table ${name}: put its rows into ${lastPart(name)}.csv, because the SQL of its cube does not tell its columns`,
      );
  return (sampling) => {
    const seeded = [SALES_MODEL, OPS_MODEL].flatMap((model) => model.sample(sampling));
    return needed.map((table) => {
      const seed = seeded.find(({ name }) => name === lastPart(table.name));
      if (given.has(table.name)) return given.get(table.name) as ModelTable;
      if (seed && (!table.isComplete || hasColumns(seed, table))) return { ...seed, name: table.name };
      return generated(table, sampling);
    });
  };
}

/** Returns the tables that have a CSV file, by name. Adds a fault for each file that cannot be used. */
function tablesOfFiles(
  needed: readonly NeededTable[],
  files: ReadonlyMap<string, ModelFile>,
  faults: string[],
): ReadonlyMap<string, ModelTable> {
  const given = new Map<string, ModelTable>();
  for (const table of needed) {
    const file = files.get(table.name) ?? files.get(lastPart(table.name));
    if (!file) continue;
    try {
      const read = tableOf(table.name, file);
      if (table.isComplete && !hasColumns(read, table)) {
        const missing = [...table.columns.keys()].filter(
          (name) => !read.columns.some(([one]) => one === name),
        );
        throw new Error(`the model uses columns that the file lacks: ${missing.join(', ')}`);
      }
      given.set(table.name, read);
    } catch (error) {
      faults.push(`${file.name}: ${(error as Error).message}`);
    }
  }
  return given;
}

/** Returns the table of a CSV file whose first line names the columns. @throws Error with the reason */
function tableOf(name: string, { text }: ModelFile): ModelTable {
  // Reads the header and one row more than allowed, to detect a longer file.
  const [names = [], ...lines] = parse(text, { bom: true, skip_empty_lines: true, to: MAX_ROWS + 2 });
  if (lines.length > MAX_ROWS || names.length > MAX_COLUMNS)
    throw new Error(`more than ${MAX_ROWS} rows or ${MAX_COLUMNS} columns`);
  if (names.length === 0 || lines.length === 0) throw new Error('a header and at least one row are needed');
  const columns = names.map((column, index): Column => [
    column.trim(),
    typeOf(lines.map((line) => line[index] ?? '')),
  ]);
  return {
    name,
    columns,
    rows: lines.map((line) => columns.map(([, type], index) => toCell(line[index] ?? '', type))),
  };
}

/** Returns the engine type that fits all texts of a column; an empty text is null and fits every type. */
function typeOf(texts: readonly string[]): string {
  const given = texts.filter((text) => text !== '');
  const every = (pattern: RegExp): boolean => given.length > 0 && given.every((text) => pattern.test(text));
  if (every(/^-?\d{1,9}$/)) return 'INTEGER';
  if (every(/^-?\d+(\.\d+)?$/)) return 'DOUBLE';
  if (every(/^(true|false)$/i)) return 'BOOLEAN';
  return every(MOMENT) ? 'TIMESTAMP' : 'VARCHAR';
}

function toCell(text: string, type: string): CellValue {
  if (text === '') return null;
  if (type === 'INTEGER' || type === 'DOUBLE') return Number(text);
  if (type === 'BOOLEAN') return text.toLowerCase() === 'true';
  return type === 'TIMESTAMP' ? text.replace('T', ' ').replace('Z', '') : text;
}

function generated({ name, columns }: NeededTable, sampling: Sampling): ModelTable {
  const cell = (column: string, type: string, row: number): CellValue => {
    if (type === 'KEY') return row + 1;
    if (type === 'BOOLEAN') return sampling.roll() < 0.5;
    if (type === 'TIMESTAMP') return sampledMoment(sampling, 365);
    return type === 'VARCHAR' ? `${column} ${between(sampling, 1, 5)}` : between(sampling, 1, GENERATED_ROWS);
  };
  const named = [...columns];
  return {
    name,
    columns: named.map(([column, type]): Column => [column, type === 'KEY' ? 'INTEGER' : type]),
    rows: Array.from({ length: GENERATED_ROWS }, (_, row) =>
      named.map(([column, type]) => cell(column, type, row)),
    ),
  };
}

const hasColumns = (table: ModelTable, { columns }: NeededTable): boolean =>
  [...columns.keys()].every((name) => table.columns.some(([one]) => one === name));
/** Returns `orders` for the table `public.orders`. */
const lastPart = (name: string): string => name.split('.').at(-1) ?? name;
