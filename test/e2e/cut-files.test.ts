// Tests the files of commands that are killed, or that run into a limit of the file system, as real processes.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { findTool, testWith } from '../support/needs.ts';
import { openPlace, type Place } from '../support/situation.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const PRLIMIT = findTool('prlimit');
/** Makes a command process 1, as in a container without an init. */
const AS_PROCESS_1 = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
const canBeProcess1 = spawnSync('unshare', [...AS_PROCESS_1.slice(1), 'true']).status === 0;
/** Stands for a file system that has no hard links. */
const NO_LINKS = `import fs from 'node:fs/promises'; import { syncBuiltinESMExports } from 'node:module';
fs.link = () => Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM' })); syncBuiltinESMExports();`;

/** Time for up to five backups, each by a process of its own, on a busy machine. */
const LONG_MS = 120_000;

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
  await place.idp.createUser('ann@acme.example');
  await place.idle();
  await place.stopApps();
}, 60_000);
afterAll(() => place.stop());

const path = (name: string): string => join(place.commands.folder, name);

function started(words: string[], env: NodeJS.ProcessEnv = {}, wrap: string[] = []): ChildProcess {
  const [program = '', ...args] = [
    ...wrap,
    process.execPath,
    MAIN,
    '--config',
    path('bridge.json'),
    ...words,
  ];
  const stdio = ['pipe', 'ignore', 'ignore'] as const;
  return spawn(program, args, { stdio: [...stdio], env: { ...process.env, ...env } });
}

const ended = async (child: ChildProcess): Promise<[number | null, string | null]> =>
  (await once(child, 'close')) as [number | null, string | null];

/** Returns the files in the folder of the commands whose names begin with this one. */
const files = (name: string): string[] =>
  readdirSync(place.commands.folder).filter((each) => each.startsWith(name));

/**
 * Starts a backup and ends it once its file is begun. On a busy machine the backup may be whole before the signal arrives; then
 * another one is tried.
 * @returns the name of the backup that was ended, and how its process ended
 */
async function cutBackup(
  signal: NodeJS.Signals,
  { first, start, kill }: { first: string; start: typeof started; kill: (child: ChildProcess) => void },
): Promise<{ name: string; end: [number | null, string | null] }> {
  for (let attempt = 1; attempt <= 5; attempt++) {
    const name = `${first}-${signal}-${attempt}.backup`;
    const child = start(['backup', path(name)]);
    // Before the wait: the backup may be whole, and its process gone, when the file is seen.
    const closed = ended(child);
    await eventually('the file is begun', () => files(name).length > 0);
    kill(child);
    const end = await closed;
    if (!existsSync(path(name))) return { name, end };
  }
  throw new Error('each backup was whole before the signal');
}

test.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s ends a backup → its name is still free, and the next backup under this name is whole',
  async (signal) => {
    const kill = (child: ChildProcess) => child.kill(signal);
    const { name, end } = await cutBackup(signal, { first: 'cut', start: started, kill });
    expect(end).toEqual([null, signal]);
    if (signal !== 'SIGKILL') expect(files(name)).toEqual([]);
    expect(await ended(started(['backup', path(name)]))).toEqual([0, null]);
    expect(statSync(path(name)).mode & 0o777).toBe(0o600);
    expect((await place.commands.run('restore', path(name), '--replace', '--yes')).code).toBe(0);
  },
  LONG_MS,
);

testWith(canBeProcess1, 'unshare with namespaces').each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends a backup that is process 1 of a container → its name is still free, and no file stays',
  async (signal) => {
    const start = (args: string[]) => started(args, {}, AS_PROCESS_1);
    const kill = ({ pid }: ChildProcess) => {
      const children = `/proc/${pid}/task/${pid}/children`;
      const inside = existsSync(children) ? Number(readFileSync(children, 'utf8')) : 0;
      // 0: the backup has ended. Sent to 0, the signal would end the tests.
      if (inside > 0) process.kill(inside, signal);
    };
    const { name, end } = await cutBackup(signal, { first: 'process-1', start, kill });
    expect(end).toEqual([128 + constants.signals[signal], null]);
    expect(files(name)).toEqual([]);
  },
  LONG_MS,
);

test('a backup on a file system without hard links is whole, and replaces no file', async () => {
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(NO_LINKS)}` };
  expect(await ended(started(['backup', path('unlinked')], env))).toEqual([0, null]);
  expect(await ended(started(['backup', path('unlinked')], env))).toEqual([1, null]);
  expect(files('unlinked')).toEqual(['unlinked']);
  expect((await place.commands.run('restore', path('unlinked'), '--replace', '--yes')).code).toBe(0);
});

test('a backup under the name of an existing file is refused, and the file stays as it is', async () => {
  writeFileSync(path('there'), 'mine');
  const { code, errors } = await place.commands.run('backup', path('there'));
  expect([code, errors]).toEqual([1, expect.stringContaining('is there already')]);
  expect(statSync(path('there')).size).toBe(4);
  expect(files('there')).toEqual(['there']);
});

testWith(PRLIMIT !== undefined, 'prlimit on PATH')(
  'the file system takes only a part of the last line of a backup → the backup fails and leaves no file',
  async () => {
    expect(await ended(started(['backup', path('whole')]))).toEqual([0, null]);
    const limit = statSync(path('whole')).size - 10;
    const child = started(['backup', path('short')], {}, [PRLIMIT ?? '', `--fsize=${limit}`]);
    expect(await ended(child)).toEqual([1, null]);
    expect(files('short')).toEqual([]);
  },
);

test('SIGTERM ends `restore -` while it reads standard input → nothing of the input stays on the disk', async () => {
  const spool = path('spool');
  mkdirSync(spool);
  const child = started(['restore', '-'], { TMPDIR: spool });
  // More than a pipe holds, so the command has read some of it.
  await new Promise((resolve) => child.stdin?.write(randomBytes(1_000_000).toString('hex'), resolve));
  child.kill('SIGTERM');
  expect(await ended(child)).toEqual([null, 'SIGTERM']);
  expect(readdirSync(spool)).toEqual([]);
});

test('`plan --out` and `backup --overwrite` name a pipe → it stays, exit 1', async () => {
  // Stands for a device such as /dev/null.
  const name = path('pipe');
  spawnSync('mkfifo', [name]);
  for (const words of [
    ['plan', '--out', name],
    ['backup', name, '--overwrite'],
  ]) {
    const { code, errors } = await place.commands.run(...words);
    expect([code, errors]).toEqual([1, `${name} is no regular file: name a file.`]);
    expect(statSync(name).isFIFO()).toBe(true);
  }
});
