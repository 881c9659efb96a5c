// Writes files with personal data, readable by the owner only and never through a symbolic link, and opens files or standard input.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { link, lstat, mkdtemp, open, realpath, rename, rm, type FileHandle } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Lets `write` fill a file that no other user may read. The file has its name only when it is complete; a file that `write` or a
 * signal leaves incomplete is removed. With `overwrite` it replaces an existing file; a symbolic link is replaced, not followed.
 * @param options.overwrite undefined: the command has no such option
 * @throws Error when the name is taken and `overwrite` is not true, or is of a device, a pipe or a folder
 */
export async function writePrivately<T>(
  file: string,
  { overwrite }: { overwrite: boolean | undefined },
  write: (out: FileHandle) => Promise<T>,
): Promise<T> {
  const former = await lstat(file).catch(() => undefined);
  // The rename would replace a device such as /dev/null, or a link such as /dev/stdout, for every program of the machine.
  const isDevice = former && !former.isFile() && !former.isSymbolicLink();
  if (isDevice || (former?.isSymbolicLink() && (await realpath(dirname(file))) === '/dev'))
    throw new Error(`${file} is no regular file: name a file${former.isDirectory() ? ' in it' : ''}.`);
  if (!overwrite && former) throw taken(file, overwrite);
  const path = `${file}.${randomBytes(6).toString('hex')}.part`;
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    rmSync(path, { force: true });
    process.kill(process.pid, signal);
    // The kernel lets process 1 of a container live on.
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of signals) process.once(signal, onSignal);
  try {
    const result = await closing(await open(path, 'wx', 0o600), async (out) => {
      const written = await write(out);
      await out.sync();
      return written;
    });
    if (overwrite) await rename(path, file);
    else await takeName(path, file, overwrite);
    return result;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}

/** Gives the file at `path` the name `file`, which replaces no file of somebody else. */
async function takeName(path: string, file: string, overwrite: false | undefined): Promise<void> {
  try {
    await link(path, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      renameToFreeName(path, file);
    });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? taken(file, overwrite) : error;
  }
  await rm(path, { force: true });
}

/** For file systems without hard links: an empty file keeps the name free. Synchronous, so that no signal is handled in between. */
function renameToFreeName(path: string, file: string): void {
  closeSync(openSync(file, 'wx', 0o600));
  try {
    renameSync(path, file);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

const taken = (file: string, overwrite: false | undefined): Error =>
  new Error(
    `${file} is there already: name another file${overwrite === undefined ? '' : ', or say --overwrite'}.`,
  );

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
  return closing(await openNameless(), async (spool) => {
    for await (const chunk of process.stdin) await spool.writeFile(chunk as Buffer);
    return use(spool);
  });
}

/** Opens a file without a name, which is gone when it is closed, also if the process is killed. */
async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'scim-bridge-'));
  try {
    return await open(join(folder, 'input'), 'wx+', 0o600);
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
