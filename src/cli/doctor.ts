// doctor: is everything around the bridge as it must be? One line per finding, with what to do.
import type { Command } from 'commander';
import { configWarnings } from '../config/warnings.ts';
import type { Config } from '../config/schema.ts';
import type { Finding } from '../ops/doctor.ts';
import type { Actor } from '../directory/acts.ts';
import { systemClock } from '../support/clock.ts';
import { actorOf, readConfig, type Cli } from './cli.ts';
import { say, sayJson } from './output.ts';
import { createProgressLine } from './progress.ts';
import { withStore } from './store.ts';

const REDIS_WAIT_MS = 3000;

interface Flags {
  deep?: boolean;
  repair?: boolean;
  json?: boolean;
}

export function doctor(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .description('check Redis, every target, clocks and settings; exit 1 if something must be done')
    .option('--deep', 'also compare everything derived in Redis with the records; changes nothing')
    .option('--repair', 'the same, and rebuild what differs; reconcile afterwards')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      const findings = await examineAll(config);
      if (flags.deep || flags.repair)
        findings.push(...(await proveAll(config, flags.repair ? actorOf(cli) : undefined)));
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

async function proveAll(config: Config, repairBy: Actor | undefined): Promise<Finding[]> {
  const { prove } = await import('../ops/prove.ts');
  const progress = createProgressLine('doctor');
  return withStore(config, async (states) => {
    const counts = await Promise.all(
      states.flatMap(({ directory }) => [directory.count('User'), directory.count('Group')]),
    );
    // Of most people there are a record, a place, a name, a link, a way back and a membership in both directions.
    const total = 8 * counts.reduce((sum, count) => sum + count, 0);
    const onLooked = (done: number): void =>
      progress.show({ phase: 'entries', done, total: Math.max(done, total) });
    return prove(states, { onLooked, ...(repairBy ? { repairBy } : {}) });
  }).finally(progress.end);
}
