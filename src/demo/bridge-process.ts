// Runs the bridge as a child process with its own command line, as an operator would.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export interface BridgeProcess {
  url: string;
  /** Newest log lines, oldest first. */
  lastLines(): string[];
  /** Runs one command with the same settings. @returns its output @throws Error when it reports a failure */
  command(args: readonly string[], more: NodeJS.ProcessEnv): Promise<string>;
  stop(): Promise<void>;
}

export interface BridgeProcessOptions {
  settings: object;
  env: NodeJS.ProcessEnv;
  /** Called when the process ends unexpectedly. */
  onLost: (reason: Error) => void;
  signal: AbortSignal;
}

const KEPT_LINES = 12;
const START_MS = 20_000;
const COMMAND_MS = 30_000;
/** Time for a regular stop, milliseconds; afterwards the process is killed. */
const STOP_MS = 10_000;
/** Environment variables of the bridge; they would override the settings file. */
const OWN_VARIABLES =
  /^(PORT|HOST|PUBLIC_URL|LOG_LEVEL|REDIS_URL|(ADMIN|SCIM|PLATFORM)_[A-Z_]+|SCIM_BRIDGE_CONFIG)$/;

/** @throws Error with the newest log lines when the bridge does not start */
export async function startBridge(options: BridgeProcessOptions): Promise<BridgeProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-demo-'));
  const file = join(folder, 'bridge.json');
  writeFileSync(file, JSON.stringify(options.settings, null, 2), { mode: 0o600 });
  const env = Object.fromEntries(Object.entries(options.env).filter(([name]) => !OWN_VARIABLES.test(name)));
  const child = spawn(process.execPath, [process.argv[1] ?? '', '--config', file, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group: Ctrl-C reaches the demo only, which stops the processes in the right order.
    detached: true,
  });
  const ended = once(child, 'exit');
  // Ends the bridge when this process exits without cleaning up.
  const last = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', last);
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
  const command: BridgeProcess['command'] = async (args, more) => {
    const run = promisify(execFile);
    const { signal } = options;
    const settings = { env: { ...env, ...more }, signal, timeout: COMMAND_MS };
    // Exit code 2 is a result, and its text is on standard output.
    return run(process.execPath, [process.argv[1] ?? '', '--config', file, ...args], settings).then(
      ({ stdout }) => stdout,
      (error: Error & { stdout?: string }) => {
        if (error.stdout) return error.stdout;
        throw error;
      },
    );
  };
  let asked = false;
  const stop = async (): Promise<void> => {
    asked = true;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    }
    process.off('exit', last);
    rmSync(folder, { recursive: true, force: true });
  };
  const lost = ended.then(
    ([code, signal]) => new Error(`The bridge ended unexpectedly (${code ?? signal}).`),
  );
  void lost.then((reason) => {
    if (!asked) options.onLost(reason);
  });
  try {
    const port = await Promise.race([listening, lost, late(), aborted(options.signal)]);
    if (port instanceof Error) throw port;
    return { url: `http://127.0.0.1:${port}`, lastLines: () => [...lines], command, stop };
  } catch (error) {
    await stop();
    throw new Error([(error as Error).message, ...lines].join('\n  '), { cause: error });
  }
}

function portOf(line: string): number | undefined {
  if (!line.includes('"listening"')) return undefined;
  const { port } = JSON.parse(line) as { port?: number };
  return port;
}

function late(): Promise<Error> {
  return new Promise((resolve) => {
    const reason = new Error(`The bridge did not come up within ${START_MS / 1000} s.`);
    setTimeout(() => resolve(reason), START_MS).unref();
  });
}

function aborted(signal: AbortSignal): Promise<Error> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason as Error);
    signal.addEventListener('abort', () => resolve(signal.reason as Error), { once: true });
  });
}
