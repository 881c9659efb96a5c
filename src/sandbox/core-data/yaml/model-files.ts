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
    const { size } = statSync(join(folder, name));
    total += size;
    if (size > MAX_FILE_BYTES) throw new ModelFaults([`${name}: larger than ${MAX_FILE_BYTES} bytes`]);
    if (total > MAX_TOTAL_BYTES) throw new ModelFaults([`${folder}: more than ${MAX_TOTAL_BYTES} bytes`]);
    return { name, text: readFileSync(join(folder, name), 'utf8') };
  });
  const isTable = ({ name }: ModelFile): boolean => extname(name).toLowerCase() === '.csv';
  const models = files.filter((file) => !isTable(file));
  if (models.length === 0) throw new ModelFaults([`${folder}: no .yml or .yaml file`]);
  const tables = files
    .filter(isTable)
    .map((file) => [basename(file.name, extname(file.name)), file] as const);
  return { models, tables: new Map(tables) };
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  } catch (error) {
    throw new ModelFaults([
      `${folder}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    ]);
  }
}
