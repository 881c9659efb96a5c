// serve: runs the service until a signal ends it.
import { Option, type Command } from 'commander';
import { startApp, type Role } from '../app.ts';
import { systemClock } from '../support/clock.ts';
import { randomIds } from '../support/ids.ts';
import { createLogger } from '../support/logger.ts';
import { readConfig, type Cli } from './cli.ts';

const ROLES: Role[] = ['all', 'api', 'worker', 'scheduler'];
/** A second signal, or this long after the first, ends the process at once. */
const LAST_RESORT_MS = 40_000;

export function serve(program: Command, cli: Cli): void {
  program
    .command('serve')
    .description('run the service')
    .addOption(new Option('--role <role>', 'which part of the service').choices(ROLES).default('all'))
    .action(async (options: { role: Role }, command: Command) => {
      const config = readConfig(command, cli);
      const logger = createLogger(config.logging.level);
      for (const path of config.notYetInEffect)
        logger.warn({ path }, 'setting accepted, but not in effect yet');
      if (options.role === 'scheduler') logger.warn('the scheduler has nothing to do yet');
      const stopped = signalled();
      const app = await startApp(config, options.role, {
        logger,
        clock: systemClock,
        ids: randomIds,
        random: Math.random,
      });
      logger.info(
        { port: app.port, role: options.role, settings: config.source ?? 'environment' },
        'listening',
      );
      const signal = await stopped;
      logger.info({ signal }, 'stopping');
      setTimeout(() => process.exit(1), LAST_RESORT_MS).unref();
      process.once('SIGINT', () => process.exit(1));
      process.once('SIGTERM', () => process.exit(1));
      await app.stop();
      logger.info('stopped');
      cli.exit(0);
    });
}

function signalled(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });
}
