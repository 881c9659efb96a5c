// doctor: is everything around the bridge as it must be? One line per finding, with what to do.
import type { Command } from 'commander';
import { configWarnings } from '../config/warnings.ts';
import type { Config } from '../config/schema.ts';
import type { Finding } from '../ops/doctor.ts';
import { systemClock } from '../support/clock.ts';
import { readConfig, type Cli } from './cli.ts';
import { say, sayJson } from './output.ts';

const REDIS_WAIT_MS = 3000;

export function doctor(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .description('check Redis, every target, clocks and settings; exit 1 if something must be done')
    .option('--json', 'print as JSON')
    .action(async (flags: { json?: boolean }, command: Command) => {
      const findings = await examineAll(readConfig(command, cli));
      if (flags.json) sayJson(findings);
      else for (const finding of findings) say(line(finding));
      if (findings.some(({ level }) => level === 'error')) cli.exit(1);
    });
}

const SIGNS: Record<Finding['level'], string> = { ok: '✔', warning: '!', error: '✘' };

const line = ({ area, level, message, advice }: Finding): string =>
  `${SIGNS[level]} ${area}: ${message}${advice === null ? '' : `. ${advice}`}`;

async function examineAll(config: Config): Promise<Finding[]> {
  const [{ openDesiredStates }, { checkStore, readStoreFacts, untilReady }, { examine }] = await Promise.all([
    import('../app.ts'),
    import('../directory/connection.ts'),
    import('../ops/examine.ts'),
  ]);
  const { redis } = openDesiredStates(config);
  const { durability } = config.redis;
  try {
    await untilReady(redis, REDIS_WAIT_MS);
    const store = {
      health: () => checkStore(redis, { durability }),
      facts: () => readStoreFacts(redis, () => systemClock.now()),
    };
    const targets = Object.values(config.targets);
    const settings = { durability, targets, warnings: configWarnings(config) };
    return await examine({ store, clock: systemClock }, settings, new AbortController().signal);
  } finally {
    redis.disconnect();
  }
}
