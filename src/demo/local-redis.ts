// Starts a private Redis server for one run, on a free loopback port, with its own data folder.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LocalRedis {
  url: string;
  /** Undefined when an existing server is used (REDIS_URL). */
  process: ChildProcess | undefined;
  /** Stops the server and removes its data; does nothing for an existing server. */
  stop(): Promise<void>;
}

interface LocalRedisOptions {
  env: NodeJS.ProcessEnv;
  /** When a write is flushed to disk: at each write, or every second. */
  appendfsync?: 'always' | 'everysec';
  /** Default: a free port. */
  port?: number;
  /** Data folder, which is kept after `stop`; default: a temporary folder, which is removed. */
  folder?: string;
  /** Runs the server in its own process group, so that Ctrl-C on the terminal does not reach it; `stop` ends it. */
  ownGroup?: boolean;
}

const SERVERS = ['redis-server', 'valkey-server'];
const START_MS = 10_000;
/** Pause between two attempts to reach the server. */
const RETRY_MS = 20;
/** Longest wait for the answer to one attempt. */
const ANSWER_MS = 500;

/**
 * Starts the server and resolves when it answers; returns the server of REDIS_URL when that variable is set.
 * @throws Error that says what to do when no Redis server is installed
 */
export async function startLocalRedis(options: LocalRedisOptions): Promise<LocalRedis> {
  const given = options.env.REDIS_URL;
  if (given) return { url: given, process: undefined, stop: () => Promise.resolve() };
  const server = SERVERS.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
  if (server === undefined) {
    throw new Error(
      'No redis-server or valkey-server is installed: run npm run demo, which installs one, or set REDIS_URL.',
    );
  }
  const port = options.port ?? (await freePort());
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'scim-bridge-redis-'));
  // `--save ''`: no snapshots; the data is in the append-only file alone. The arguments of `concat` are not split at blanks: the
  // folder may contain blanks, and the value of `--save` is empty.
  const child = spawn(
    server,
    [
      `--port ${port} --bind 127.0.0.1 --appendonly yes --appendfsync ${options.appendfsync ?? 'everysec'}`,
      '--maxmemory-policy noeviction --loglevel warning',
    ]
      .flatMap((words) => words.split(' '))
      .concat('--dir', folder, '--save', ''),
    { stdio: 'ignore', detached: options.ownGroup ?? false },
  );
  // Ends the server and removes its data when this process exits without calling `stop`.
  const killAtExit = (): void => {
    child.kill('SIGKILL');
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', killAtExit);
  const ended = once(child, 'exit');
  await untilListening(port, child);
  return {
    url: `redis://127.0.0.1:${port}`,
    process: child,
    stop: async () => {
      process.off('exit', killAtExit);
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await ended;
      }
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a loopback port that is free at the time of the call. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Resolves when the server answers. @throws Error when it ends or does not answer in time */
async function untilListening(port: number, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The Redis server ended at once (exit ${child.exitCode}).`);
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  throw new Error(`The Redis server did not answer within ${START_MS / 1000} s.`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(ANSWER_MS, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (reply) => {
      socket.destroy();
      resolve(reply.toString().startsWith('+PONG'));
    });
  });
}
