// The thread that the service runs in: started by serve.ts, ended by the name of a signal.
import { once } from 'node:events';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { startApp, type Role } from '../app.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../support/clock.ts';
import { randomIds } from '../support/ids.ts';
import { createLogger } from '../support/logger.ts';
import { openTracing } from '../support/tracing.ts';
import { readSettings, reportFailure } from './cli.ts';

export interface ServeTask {
  /** The settings file that was named. */
  file?: string;
  cwd: string;
  role: Role;
}

/** What the thread tells when it knows its settings. */
export interface Announcement {
  drainMs: number;
}

if (parentPort) {
  const { role, ...place } = workerData as ServeTask;
  try {
    await run(readSettings({ env: process.env, ...place }), role, parentPort);
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
  parentPort.close();
}

async function run(config: Config, role: Role, parent: MessagePort): Promise<void> {
  const stopped = once(parent, 'message');
  parent.postMessage({ drainMs: config.server.drainMs } satisfies Announcement);
  const logger = createLogger(config.logging.level);
  const tracing = await openTracing(process.env);
  const app = await startApp(config, role, {
    logger,
    clock: systemClock,
    ids: randomIds,
    random: Math.random,
    tracing,
  });
  logger.info(
    { port: app.port, metricsPort: app.metricsPort, role, settings: config.source ?? 'environment' },
    'listening',
  );
  const [signal] = (await stopped) as [string];
  logger.info({ signal }, 'stopping');
  // Ctrl-C is pressed by somebody who waits.
  if (signal === 'SIGTERM') await app.drain();
  await app.stop();
  // A collector that does not answer does not hold up the end.
  await tracing?.stop().catch(() => undefined);
  logger.info('stopped');
  logger.flush();
  // Ends this thread alone; `serve` keeps its exit code. All of ours is closed, and what a library forgot does not hold it up.
  process.exit();
}
