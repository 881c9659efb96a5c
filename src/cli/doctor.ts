// doctor: is everything around the bridge as it must be? One line per finding, with what to do.
import { request } from 'node:http';
import { request as requestByTls } from 'node:https';
import type { Command } from 'commander';
import type { Config } from '../config/schema.ts';
import type { DoctorTarget, Finding } from '../ops/doctor.ts';
import { createPlatformClient } from '../platform/client.ts';
import { systemClock } from '../support/clock.ts';
import { readConfig, type Cli } from './cli.ts';

const REDIS_WAIT_MS = 3000;
const TIME_LIMIT_MS = 5000;

export function doctor(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .description('check Redis, every target, clocks and settings; exit 1 if something must be done')
    .option('--json', 'print as JSON')
    .action(async (flags: { json?: boolean }, command: Command) => {
      const findings = await examine(readConfig(command, cli));
      if (flags.json) console.log(JSON.stringify(findings));
      else for (const finding of findings) console.log(line(finding));
      if (findings.some(({ level }) => level === 'error')) cli.exit(1);
    });
}

const SIGNS: Record<Finding['level'], string> = { ok: '✔', warning: '!', error: '✘' };

const line = ({ area, level, message, advice }: Finding): string =>
  `${SIGNS[level]} ${area}: ${message}${advice === null ? '' : `. ${advice}`}`;

/** Redis and the platforms are asked apart from each other: one that is away must not hide the other. */
async function examine(config: Config): Promise<Finding[]> {
  const [{ openDesiredStates }, { checkStore, readStoreFacts, untilReady }, ops] = await Promise.all([
    import('../app.ts'),
    import('../directory/connection.ts'),
    import('../ops/doctor.ts'),
  ]);
  const { redis } = openDesiredStates(config);
  const targets = Object.values(config.targets).map(toTarget);
  const { durability } = config.redis;
  try {
    await untilReady(redis, REDIS_WAIT_MS);
    return await ops.doctor({
      store: {
        health: () => checkStore(redis, { durability }),
        facts: () => readStoreFacts(redis, () => Date.now()),
      },
      durability,
      targets,
      now: () => Date.now(),
      signal: new AbortController().signal,
    });
  } finally {
    redis.disconnect();
    await Promise.all(targets.map(({ client }) => client.close()));
  }
}

function toTarget(settings: Config['targets'][string]): DoctorTarget {
  const { name, url, token, scimToken, allowLoopbackHttp, timeoutMs, attributes } = settings;
  const client = createPlatformClient({
    ...{ url, token, allowLoopbackHttp, timeoutMs, connections: 2, clock: systemClock },
    ...(scimToken === null ? {} : { scimToken }),
  });
  const types = Object.fromEntries(Object.entries(attributes).map(([each, { type }]) => [each, type]));
  return { name, client, types, time: () => timeOf(url) };
}

/** By the Date header of any answer, over a connection of its own; no credential is sent for it. */
function timeOf(url: string): Promise<number | undefined> {
  const send = url.startsWith('https:') ? requestByTls : request;
  return new Promise((resolve, reject) => {
    const call = send(url, { method: 'HEAD', agent: false, timeout: TIME_LIMIT_MS }, (answer) => {
      answer.resume();
      const date = Date.parse(answer.headers.date ?? '');
      resolve(Number.isNaN(date) ? undefined : date);
    });
    call.on('timeout', () => call.destroy(new Error('no answer in time')));
    call.on('error', reject);
    call.end();
  });
}
