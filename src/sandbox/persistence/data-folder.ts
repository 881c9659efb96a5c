// Reads and writes the folder of `--data DIR`: one snapshot file that is replaced atomically, so that a crash
// keeps the previous one.
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { isJsonObject } from '../json.ts';

export interface DataFolder {
  /** Returns the lines of the current snapshot, or undefined when there is none. */
  lines(): AsyncIterable<string> | undefined;
  /** Writes a new snapshot and replaces the current one. Throws when another process replaced it in the meantime. */
  replace(pieces: Iterable<string>): Promise<void>;
  /** Returns the text of another file of the folder, or undefined. */
  read(name: string): Promise<string | undefined>;
  /** Writes another file; `isSecret` = readable by its owner only. */
  write(name: string, text: string, options?: { readonly isSecret: boolean }): Promise<void>;
  readonly path: string;
}

/** Age beyond which a partial snapshot is a leftover, ten minutes: writing one takes far less. */
const LEFT_OVER_MS = 600_000;

const isMissing = (error: unknown): boolean => isJsonObject(error) && error['code'] === 'ENOENT';

/** Returns undefined for a file that does not exist. @throws every other error */
function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Stamp of a file that does not exist. */
const NO_FILE = 'none';

/** Returns an identifier of the file's content that changes with every replacement; NO_FILE without a file. */
async function stampOf(path: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(path);
    return `${ino}/${mtimeMs}/${size}`;
  } catch (error) {
    if (isMissing(error)) return NO_FILE;
    throw error;
  }
}

/** Makes a rename durable over a power failure, on systems that support folder handles. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

async function writeSynced(path: string, pieces: Iterable<string>): Promise<void> {
  const handle = await open(path, 'w', 0o600);
  try {
    for (const piece of pieces) {
      await handle.writeFile(piece);
      // Lets requests run while a large state is written.
      await setImmediate();
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes partial snapshots of killed processes. A snapshot that another sandbox is writing is younger. */
async function removeLeftOvers(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (!/^state\.ndjson\.\d+\.tmp$/.test(name)) continue;
    const file = join(path, name);
    // Another sandbox may rename its partial snapshot meanwhile.
    const writtenAt = (await stat(file).catch(ignoreMissing))?.mtimeMs ?? Infinity;
    if (writtenAt < Date.now() - LEFT_OVER_MS) await rm(file, { force: true });
  }
}

/** Opens the folder; creates it when missing. */
export async function openDataFolder(path: string): Promise<DataFolder> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await removeLeftOvers(path);
  const file = join(path, 'state.ndjson');
  let stamp = await stampOf(file);
  return {
    path,
    lines: () =>
      stamp === NO_FILE ? undefined : createInterface({ input: createReadStream(file), crlfDelay: Infinity }),
    async replace(pieces) {
      const fresh = `${file}.${process.pid}.tmp`;
      await writeSynced(fresh, pieces);
      if ((await stampOf(file)) !== stamp) {
        throw new Error(`Another sandbox writes to ${path}: stop it, or give this one a folder of its own`);
      }
      await rename(fresh, file);
      await syncFolder(path);
      stamp = await stampOf(file);
    },
    async read(name) {
      return readFile(join(path, name), 'utf8').catch(ignoreMissing);
    },
    write: (name, text, options) =>
      writeFile(join(path, name), text, { mode: options?.isSecret ? 0o600 : 0o644 }),
  };
}
