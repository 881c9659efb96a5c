// Runs the bridge as a child process with its own command line, as an operator would: `serve` runs until `stop`, and each
// `command` is a further process with the same settings file.
import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface BridgeProcess {
  url: string;
  /** Newest log lines, oldest first. */
  lastLines(): string[];
  /**
   * Runs one command with the settings of the bridge and the additional variables `moreEnv`.
   * @returns its standard output @throws Error when the command fails without output
   */
  command(args: readonly string[], moreEnv: NodeJS.ProcessEnv): Promise<string>;
  stop(): Promise<void>;
}

interface BridgeProcessOptions {
  settings: object;
  env: NodeJS.ProcessEnv;
  /** Called when the process ends unexpectedly. */
  onLost: (reason: Error) => void;
  signal: AbortSignal;
}

/** Returns the command-line script of the bridge, which runs this demo too. */
const script = (): string => process.argv[1] ?? '';
/** Number of log lines that are kept for messages. */
const KEPT_LINES = 12;
/** Longest time from the start of `serve` until it listens. */
const START_MS = 20_000;
/** Longest run of one command. */
const COMMAND_MS = 30_000;
/** Time for a regular stop, milliseconds; afterwards the process is killed. */
const STOP_MS = 10_000;
/** Environment variables of the bridge; they would override the settings file. */
const OWN_VARIABLES =
  /^(PORT|HOST|PUBLIC_URL|LOG_LEVEL|REDIS_URL|(ADMIN|SCIM|PLATFORM)_[A-Z_]+|SCIM_BRIDGE_CONFIG)$/;

/** Starts `serve` and resolves when it listens. @throws Error with the newest log lines when the bridge does not start */
export async function startBridge(options: BridgeProcessOptions): Promise<BridgeProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-demo-'));
  const file = join(folder, 'bridge.json');
  writeFileSync(file, JSON.stringify(options.settings, null, 2), { mode: 0o600 });
  const env = Object.fromEntries(Object.entries(options.env).filter(([name]) => !OWN_VARIABLES.test(name)));
  const child = spawn(process.execPath, [script(), '--config', file, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group: Ctrl-C reaches the demo only, which stops the processes in the right order.
    detached: true,
  });
  const ended = once(child, 'exit');
  // Ends the bridge when this process exits without calling `stop`.
  const killAtExit = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', killAtExit);
  const { lines, listening } = readLog(child);
  let isStopping = false;
  const stop = async (): Promise<void> => {
    isStopping = true;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    }
    process.off('exit', killAtExit);
    rmSync(folder, { recursive: true, force: true });
  };
  const lost = ended.then(
    ([code, signal]) => new Error(`The bridge ended unexpectedly (${code ?? signal}).`),
  );
  void lost.then((reason) => {
    if (!isStopping) options.onLost(reason);
  });
  const { signal } = options;
  const late = new Error(`The bridge did not come up within ${START_MS / 1000} s.`);
  try {
    signal.throwIfAborted();
    // The first of: the port, or an Error why there is none.
    const port = await Promise.race([
      listening,
      lost,
      delay(START_MS, late, { ref: false }),
      once(signal, 'abort').then(() => signal.reason as Error),
    ]);
    if (port instanceof Error) throw port;
    return {
      url: `http://127.0.0.1:${port}`,
      lastLines: () => [...lines],
      command: (args, moreEnv) => runCommand(['--config', file, ...args], { ...env, ...moreEnv }, signal),
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error([(error as Error).message, ...lines].join('\n  '), { cause: error });
  }
}

/** Collects the output of the bridge. @returns its newest lines; `listening`: resolves to the port when the bridge listens */
function readLog(child: ChildProcessByStdio<null, Readable, Readable>): {
  lines: string[];
  listening: Promise<number>;
} {
  const lines: string[] = [];
  const listening = new Promise<number>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > KEPT_LINES) lines.shift();
        const port = portOf(line);
        if (port !== undefined) resolve(port);
      });
    }
  });
  return { lines, listening };
}

/** Returns the port of the log line `listening`, or undefined for every other line. */
function portOf(line: string): number | undefined {
  if (!line.includes('"listening"')) return undefined;
  const { port } = JSON.parse(line) as { port?: number };
  return port;
}

async function runCommand(args: string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const options = { env, signal, timeout: COMMAND_MS };
  try {
    return (await promisify(execFile)(process.execPath, [script(), ...args], options)).stdout;
  } catch (error) {
    // A command with a bad result exits with code 2 and still prints the result to standard output.
    const { stdout } = error as { stdout?: string };
    if (stdout) return stdout;
    throw error;
  }
}
