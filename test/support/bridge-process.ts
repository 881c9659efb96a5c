// Starts the built bridge as a process that tests can kill.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { freePort } from '../../src/demo/local-redis.ts';
import { eventually } from './eventually.ts';

export interface BridgeProcess {
  port: number;
  /** Id of the running process; undefined after its end. */
  pid(): number | undefined;
  baseUrl: string;
  /** Kills the process with kill -9 and starts it with the same settings. */
  killAndRestart(pauseMs?: number): Promise<void>;
  /** Stops the process with SIGTERM and starts it with other settings. */
  restartWith(settings: object): Promise<void>;
  /** Stops the process with SIGTERM. @returns the exit code */
  terminate(): Promise<number | null>;
  /** Kills the process and removes its files. */
  stop(): Promise<void>;
  output(): string;
}

/** A start needs one second of processor time; several starts on a busy machine run one after the other. */
const START_MS = 45_000;
/** Characters of the output that are kept for the message of a failure. */
const MOST_OUTPUT = 200_000;
const MAIN = join(import.meta.dirname, '../../dist/main.js');

/** @param env variables added to the environment of the tests @param main the program; default: that of the last build */
export async function startBridgeProcess(
  settings: object,
  role = 'all',
  env: Record<string, string> = {},
  main = MAIN,
): Promise<BridgeProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  const file = join(folder, 'bridge.json');
  let port = await freePort();
  writeSettings(settings);
  let output = '';
  let child: ChildProcess;
  let hasServed = false;

  function writeSettings(next: object): void {
    const server = { ...(next as { server?: object }).server, port, host: '127.0.0.1' };
    writeFileSync(file, JSON.stringify({ ...next, server }), { mode: 0o600 });
  }

  /** Starts the process. @returns what it has printed since this start */
  function spawnBridge(): () => string {
    let printed = '';
    child = spawn(process.execPath, [main, '--config', file, 'serve', '--role', role], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const keep = (data: Buffer): void => {
      printed = (printed + data.toString()).slice(-2000);
      output = (output + data.toString()).slice(-MOST_OUTPUT);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    return () => printed;
  }

  async function start(): Promise<void> {
    let printed = spawnBridge();
    await eventually(
      'the bridge is ready',
      async () => {
        if (child.exitCode !== null) {
          const error = new Error(`ended with ${child.exitCode}: ${printed()}`);
          if (!printed().includes('EADDRINUSE')) throw error;
          // Another process took the port before the bridge did. After the first start the port stays, because tests know it.
          if (!hasServed) {
            port = await freePort();
            writeSettings(settings);
          }
          printed = spawnBridge();
          throw error;
        }
        const answer = await request(`http://127.0.0.1:${port}/readyz`);
        await answer.body.dump();
        return answer.statusCode === 200;
      },
      START_MS,
    ).catch(async (error: Error) => {
      await end('SIGKILL');
      throw error;
    });
    hasServed = true;
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  }

  await start();
  return {
    port,
    pid: () => (child.exitCode === null && child.signalCode === null ? child.pid : undefined),
    baseUrl: `http://127.0.0.1:${port}/scim/v2`,
    killAndRestart: async (pauseMs = 0) => {
      await end('SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await start();
    },
    restartWith: async (next) => {
      await end('SIGTERM');
      writeSettings(next);
      await start();
    },
    terminate: () => end('SIGTERM'),
    stop: async () => {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
    output: () => output,
  };
}
