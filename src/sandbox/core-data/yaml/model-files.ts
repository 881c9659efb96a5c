// Reads the files of a data model folder: YAML of cubes and views, and CSV with rows, within bounds.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';

export interface ModelFile {
  /** Path below the folder. */
  readonly name: string;
  readonly text: string;
}

interface ModelFiles {
  readonly models: readonly ModelFile[];
  /** CSV files by the name of their table. */
  readonly tables: ReadonlyMap<string, ModelFile>;
}

// Limits of a folder: all entries, and the files that are read.
const MAX_ENTRIES = 2000;
const MAX_FILES = 200;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;

/** Error of a model that cannot be used; each fault names its file (most with line and column), folder or table. */
export class ModelFaults extends Error {
  /** The message by lines: a heading, then at most 50 faults. */
  readonly lines: readonly string[];

  constructor(faults: readonly string[]) {
    const shown = faults.slice(0, 50);
    const more = faults.length > shown.length ? [`… and ${faults.length - shown.length} more`] : [];
    const lines = ['The data model cannot be used:', ...[...shown, ...more].map((fault) => `  ${fault}`)];
    super(lines.join('\n'));
    this.lines = lines;
    this.name = 'ModelFaults';
  }
}

/** Returns the files of the folder and its subfolders; links are not followed. @throws ModelFaults */
export function readModelFiles(folder: string): ModelFiles {
  const entries = listFolder(folder);
  // A file `.jinja` is read as YAML too; Jinja in any file is refused (model-source.ts).
  const wanted = entries.filter((name) => /\.(ya?ml|jinja|csv)$/i.test(name)).sort();
  if (entries.length > MAX_ENTRIES || wanted.length > MAX_FILES)
    throw new ModelFaults([`${folder}: more than ${MAX_FILES} model files or ${MAX_ENTRIES} entries`]);
  let total = 0;
  const files = wanted.map((name): ModelFile => {
    const path = join(folder, name);
    const { size } = readOrFail(name, () => statSync(path));
    total += size;
    if (size > MAX_FILE_BYTES) throw new ModelFaults([`${name}: larger than ${MAX_FILE_BYTES} bytes`]);
    if (total > MAX_TOTAL_BYTES) throw new ModelFaults([`${folder}: more than ${MAX_TOTAL_BYTES} bytes`]);
    return { name, text: readOrFail(name, () => readFileSync(path, 'utf8')) };
  });
  const isTable = ({ name }: ModelFile): boolean => extname(name).toLowerCase() === '.csv';
  const models = files.filter((file) => !isTable(file));
  if (models.length === 0) throw new ModelFaults([`${folder}: no .yml or .yaml file`]);
  return { models, tables: byTable(files.filter(isTable)) };
}

/** Returns CSV files by the name of their table. @throws ModelFaults when two files are of one table */
function byTable(files: readonly ModelFile[]): Map<string, ModelFile> {
  const tables = new Map<string, ModelFile>();
  const faults: string[] = [];
  for (const file of files) {
    const table = basename(file.name, extname(file.name));
    const first = tables.get(table);
    if (first) faults.push(`${file.name}: ${first.name} has the rows of the table ${table} too`);
    else tables.set(table, file);
  }
  if (faults.length > 0) throw new ModelFaults(faults);
  return tables;
}

function listFolder(folder: string): string[] {
  return readOrFail(folder, () => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Returns the result of `read`. @throws ModelFaults with the name of the file or folder that cannot be read */
function readOrFail<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ModelFaults([`${name}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`]);
  }
}
