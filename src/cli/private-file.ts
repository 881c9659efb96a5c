// Writes files with personal data, readable by the owner only and never through a symbolic link, and opens files or standard input.
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Lets `write` fill a file that no other user may read, and removes the file if `write` fails. With `overwrite` the complete file
 * replaces an existing file of that name; a symbolic link is replaced, not followed.
 * @throws Error when the name is taken and `overwrite` is false
 */
export async function writePrivately<T>(
  file: string,
  { overwrite }: { overwrite: boolean },
  write: (out: FileHandle) => Promise<T>,
): Promise<T> {
  const path = overwrite ? `${file}.${randomBytes(6).toString('hex')}.part` : file;
  const out = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new Error(`${file} is there already: name another file, or say --overwrite.`);
  });
  try {
    const result = await write(out);
    await out.sync();
    if (overwrite) await rename(path, file);
    return result;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await out.close();
  }
}

/** Returns the error of a file that cannot be opened; for a missing file it is a plain sentence. */
export const unreadable = (file: string, error: NodeJS.ErrnoException): Error =>
  error.code === 'ENOENT' ? new Error(`There is no file ${file}.`) : error;

/** Opens a file for several readings; `-` is standard input, which is kept in a private file meanwhile. */
export async function withInput<T>(file: string, use: (input: FileHandle) => Promise<T>): Promise<T> {
  if (file !== '-') {
    const input = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
      throw unreadable(file, error);
    });
    return closing(input, use);
  }
  const folder = await mkdtemp(join(tmpdir(), 'scim-bridge-'));
  try {
    return await closing(await open(join(folder, 'input'), 'wx+', 0o600), async (spool) => {
      for await (const chunk of process.stdin) await spool.write(chunk as Buffer);
      return use(spool);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs `use` with a file, and closes the file in any case. */
async function closing<T>(file: FileHandle, use: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
