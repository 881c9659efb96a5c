// serve: runs the service until a signal ends it.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Option, type Command } from 'commander';
import type { Role } from '../app.ts';
import { readConfig, type Cli } from './cli.ts';
import type { ServeTask } from './serve-thread.ts';

const ROLES: Role[] = ['all', 'api', 'worker', 'scheduler'];
/** A second signal, or this long after the first and `server.drainMs`, ends the process at once. */
const LAST_RESORT_MS = 40_000;
/**
 * The service runs in a thread because only there its memory can be bounded from within: left to itself the heap grows
 * to several hundred megabytes of garbage before anybody collects it.
 */
const MEMORY = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 160 };

export function serve(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run the service')
    .addOption(new Option('--role <role>', 'which part of the service').choices(ROLES).default('all'))
    .action(async ({ role }: { role: Role }, command: Command) => {
      const workerData: ServeTask = { config: readConfig(command, cli), role };
      const file = new URL(`./serve-thread${extname(import.meta.url)}`, import.meta.url);
      const thread = new Worker(file, { workerData, resourceLimits: MEMORY });
      stopOnSignal(thread, LAST_RESORT_MS + workerData.config.server.drainMs);
      cli.exit(await ended(thread));
    });
}

/** @returns the exit code; rejects with what ended the thread when it failed */
function ended(thread: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    thread.once('error', reject);
    thread.once('exit', resolve);
  });
}

function stopOnSignal(thread: Worker, lastResortMs: number): void {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      thread.postMessage(signal);
      setTimeout(() => process.exit(1), lastResortMs).unref();
    });
  }
}
