// Starts and stops the child processes of a measurement: a private Redis and the servers, each pinned to a core.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { clearTimeout, setTimeout as startTimer } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { URL } from 'node:url';

export const SERVER_CORE = 0;
export const LOAD_CORE = 1;
export const TOKEN = 'a-token-for-measurements-0123456789';

/** Guard limits so high that no deactivation is held for approval. */
const UNLIMITED_GUARD = { deactivate: { count: 1_000_000, percent: 100 } };

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;
/** Unit of the processor times in /proc. */
const TICKS_PER_SECOND = 100;
const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 15_000;
/** A platform for processes that never call it: nothing listens on this port. */
const NO_PLATFORM = { url: 'http://127.0.0.1:9', token: 'a-key-that-nobody-asks-for' };

/** Pins all threads of this process to a core. @returns whether pinning is possible on this machine */
export function pinSelf(core) {
  return canPin && spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]).status === 0;
}

/** @returns {Promise<number>} a port that was free at the time of the call */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function isOpen(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/**
 * Returns functions that start processes, and `stop`, which ends them in reverse order and removes their files.
 */
export function createStage() {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-bench-'));
  const children = [];

  /** Starts a process on a core, if this machine can pin. @returns {import('node:child_process').ChildProcess} */
  function start(core, command, args, options = {}) {
    const pinned = canPin ? ['taskset', '-c', String(core), command, ...args] : [command, ...args];
    const child = spawn(pinned[0], pinned.slice(1), {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      ...options,
    });
    children.push(child);
    return child;
  }

  async function untilOpen(child, port) {
    for (const end = Date.now() + START_LIMIT_MS; Date.now() < end; await sleep(20)) {
      if (child.exitCode !== null)
        throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`);
      if (await isOpen(port)) return;
    }
    throw new Error(`${child.spawnargs.join(' ')} does not listen on port ${port}`);
  }

  async function startRedis() {
    const port = await freePort();
    const address = ['--bind', '127.0.0.1', '--port', String(port)];
    const persistence = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];
    // A rewrite of the append-only file would disturb the measurement.
    const files = ['--auto-aof-rewrite-percentage', '0', '--dir', folder, '--loglevel', 'warning'];
    const args = [...address, ...persistence, ...files];
    const child = start(LOAD_CORE, 'redis-server', args);
    await untilOpen(child, port);
    return { port, url: `redis://127.0.0.1:${port}`, pid: child.pid };
  }

  /** Starts the comparison server (ceiling.mjs). */
  async function startCeiling(node, redisUrl) {
    const port = await freePort();
    const file = new URL('./ceiling.mjs', import.meta.url).pathname;
    const child = start(SERVER_CORE, node, [file, redisUrl, String(port)]);
    await untilOpen(child, port);
    return { port, pid: child.pid };
  }

  /**
   * Starts the bridge as an operator does, with a settings file, and waits until it listens.
   * @param {{ node: string, nodeArguments?: string[], main: string, role: string, name: string, redisUrl: string,
   *           platform?: { url: string, token: string }, requestsPerSecond?: number, target?: object }} options
   */
  async function startBridge({
    node,
    nodeArguments = [],
    main,
    role,
    name,
    redisUrl,
    platform,
    requestsPerSecond = 50,
    target = {},
  }) {
    const port = await freePort();
    const { url, token } = platform ?? NO_PLATFORM;
    const settings = {
      server: { host: '127.0.0.1', port },
      redis: { url: redisUrl, prefix: name },
      connections: { default: { tokens: [{ name: 'bench', secret: TOKEN }] } },
      targets: {
        main: {
          url,
          token,
          allowLoopbackHttp: true,
          rateLimit: { requestsPerSecond },
          guard: UNLIMITED_GUARD,
          ...target,
        },
      },
      logging: { level: process.env.BENCH_LEVEL ?? 'info' },
    };
    const file = join(folder, `${name}-${port}.json`);
    writeFileSync(file, JSON.stringify(settings));
    const args = [...nodeArguments, main, 'serve', '--role', role, '--config', file];
    const child = start(SERVER_CORE, node, args);
    await untilOpen(child, port);
    return { port, pid: child.pid };
  }

  /** Starts the sandbox of a build of the bridge. @returns its ready line */
  async function startSandbox(node, main) {
    const child = start(LOAD_CORE, node, [main, 'sandbox', '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    for await (const chunk of child.stdout) {
      text += chunk;
      if (text.includes('\n')) break;
    }
    return JSON.parse(text);
  }

  /** Starts a script of this folder that serves `port`. */
  async function startScript(file, args, port) {
    const child = start(LOAD_CORE, process.execPath, [new URL(file, import.meta.url).pathname, ...args]);
    await untilOpen(child, port);
    return { port, pid: child.pid };
  }

  /** Runs a script of this folder until it exits. */
  async function runToEnd(node, file, args) {
    const child = start(SERVER_CORE, node, [new URL(file, import.meta.url).pathname, ...args]);
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(`${file} ended with ${code}`);
  }

  async function end(child) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const timer = startTimer(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(timer);
  }

  async function stop() {
    for (let child = children.pop(); child; child = children.pop()) await end(child);
    rmSync(folder, { recursive: true, force: true });
  }

  return { folder, start, startRedis, startCeiling, startBridge, startSandbox, startScript, runToEnd, stop };
}

/** Returns the processor seconds that a process has used; NaN on systems that do not report them. */
export function processorSeconds(pid) {
  try {
    // Without pid and name the times are the fields 11 (utime, in the program) and 12 (stime, in the kernel).
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return NaN;
  }
}

/** Returns current and peak resident memory in MB; NaN on systems that do not report them. */
export function residentMegabytes(pid) {
  const read = (name) => {
    try {
      const line = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(
        readFileSync(`/proc/${pid}/status`, 'utf8'),
      );
      return Math.round(Number(line?.[1] ?? NaN) / 1024);
    } catch {
      return NaN;
    }
  };
  return { now: read('VmRSS'), peak: read('VmHWM') };
}
