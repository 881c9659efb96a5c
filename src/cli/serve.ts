// serve: runs the service until a signal ends it.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Option, type Command } from 'commander';
import type { Role } from '../app.ts';
import type { Cli } from './cli.ts';
import type { Announcement, ServeTask } from './serve-thread.ts';

const ROLES: Role[] = ['all', 'api', 'worker', 'scheduler'];
/** A second signal, or this long after the first and `server.drainMs`, ends the process at once. */
const LAST_RESORT_MS = 40_000;
/**
 * The service runs in a thread because only there its memory can be bounded from within: left to itself the heap grows
 * to several hundred megabytes of garbage before anybody collects it. All of it does, settings included: what is loaded
 * here as well would be in memory twice.
 */
const OLD_GENERATION_MB = 160;
/** Garbage of requests costs less in a larger young generation; where workers are in the same process they need the room. */
const youngGenerationMb = (role: Role): number => (role === 'api' ? 48 : 24);

export function serve(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run the service')
    .addOption(new Option('--role <role>', 'which part of the service').choices(ROLES).default('all'))
    .action(async ({ role }: { role: Role }, command: Command) => {
      const { config: file } = command.optsWithGlobals<{ config?: string }>();
      const workerData: ServeTask = { role, cwd: cli.cwd, ...(file === undefined ? {} : { file }) };
      const script = new URL(`./serve-thread${extname(import.meta.url)}`, import.meta.url);
      const resourceLimits = {
        maxYoungGenerationSizeMb: youngGenerationMb(role),
        maxOldGenerationSizeMb: OLD_GENERATION_MB,
      };
      const thread = new Worker(script, { workerData, env: cli.env, resourceLimits });
      stopOnSignal(thread);
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

function stopOnSignal(thread: Worker): void {
  let stopping = false;
  let drainMs = 0;
  thread.on('message', (announced: Announcement) => void ({ drainMs } = announced));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      thread.postMessage(signal);
      setTimeout(() => process.exit(1), LAST_RESORT_MS + drainMs).unref();
    });
  }
}
