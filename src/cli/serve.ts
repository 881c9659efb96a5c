// Defines the command serve, which runs the service until a signal ends it.
import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Option, type Command } from 'commander';
import { startApp, type Role } from '../app.ts';
import { assembleAllScripts } from '../directory/redis/script-texts.ts';
import { randomIds, systemClock } from '../support/sources.ts';
import { createLogger } from '../support/logger.ts';
import { openTracing } from '../support/tracing.ts';
import { versionText } from '../support/version.ts';
import { readConfig, reportFailure, type Cli } from './cli.ts';

/** Parts of the service that a process may run; `all`: every part. */
const ROLES: Role[] = ['all', 'api', 'worker', 'scheduler'];
/** If a stop takes longer than `server.drainMs` plus this time, the process ends at once, as it does after a second signal. */
const LAST_RESORT_MS = 40_000;
/**
 * V8 collects garbage when the heap has grown by this percentage of the live objects, so that the service needs less memory; by
 * default it lets the heap grow several times as far. This is no limit of the heap: `server.limits` bounds the live objects.
 */
const HEAP_GROWTH_PERCENT = 70;

export function serveCommand(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run the service')
    .addOption(new Option('--role <role>', 'which part of the service').choices(ROLES).default('all'))
    .action(async ({ role }: { role: Role }, command: Command) => {
      const config = readConfig(command, cli);
      setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
      assembleAllScripts();
      const stopped = firstSignal(config.server.drainMs);
      const logger = createLogger(config.logging.level);
      const tracing = await openTracing(cli.env);
      const app = await startApp(config, role, {
        logger,
        clock: systemClock,
        ids: randomIds,
        random: Math.random,
        tracing,
        // The chart sets POD_NAME; other installations use the host name.
        identity: { host: cli.env.POD_NAME || hostname(), version: versionText(cli.env) },
      });
      logger.info(
        {
          port: app.port,
          adminPort: app.adminPort,
          metricsPort: app.metricsPort,
          role,
          settings: config.source ?? 'environment',
        },
        'listening',
      );
      const signal = await Promise.race([stopped, app.refused]);
      if (signal instanceof Error) {
        logger.error({ reason: signal.message }, 'stopping: the stored data must not be used');
        await app.stop();
        logger.flush();
        process.exit(reportFailure(signal));
      }
      logger.info({ signal }, 'stopping');
      // After Ctrl-C (SIGINT) an operator waits for the end, so the drain is left out.
      if (signal === 'SIGTERM') await app.drain();
      await app.stop();
      // Errors of the trace collector are ignored, because the service ends anyway.
      await tracing?.stop().catch(() => undefined);
      logger.info('stopped');
      logger.flush();
      // All parts are closed; a handle that a library forgot does not keep the process alive.
      process.exit(0);
    });
}

/**
 * Resolves with the first signal. A second signal, or too long a stop after the first, ends the process with exit code 1.
 * @param drainMs setting `server.drainMs`
 */
function firstSignal(drainMs: number): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
      setTimeout(() => process.exit(1), LAST_RESORT_MS + drainMs).unref();
      resolve(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  });
}
