// Defines the command doctor, which checks Redis, targets, clocks, settings and derived data.
import type { Command } from 'commander';
import { openDesiredStates, runChecks } from '../app/open.ts';
import { untilReady } from '../directory/redis/connection.ts';
import type { Config } from '../config/schema.ts';
import { orUnmade, type DoctorFinding } from '../ops/doctor/doctor-finding.ts';
import { proofFindings } from '../ops/doctor/proof-findings.ts';
import { prove, type ProofProgress } from '../ops/doctor/prove.ts';
import type { Actor } from '../directory/logs/acts.ts';
import { systemClock } from '../support/sources.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, withOperator, type OperatorFlags } from './operator.ts';
import { createCommandLogger } from './command-logger.ts';
import { say, sayJson } from './output.ts';
import { createProgressLine } from './progress.ts';
import { withStore } from './store.ts';

/** Longest wait for the first answer of Redis, milliseconds. */
const REDIS_WAIT_MS = 3000;

interface Flags extends OperatorFlags {
  deep?: boolean;
  repair?: boolean;
  json?: boolean;
}

export function doctorCommand(program: Command, cli: Cli): void {
  withOperator(program.command('doctor'))
    .description('check Redis, every target, clocks and settings; exit 1 if something must be done')
    .option('--deep', 'also compare everything derived in Redis with the records; repairs nothing')
    .option('--repair', 'the same, and rebuild what differs; reconcile afterwards')
    .option('--json', 'print as JSON')
    .action(async (flags: Flags, command: Command) => {
      const config = readConfig(command, cli);
      const isDeep = flags.deep || flags.repair;
      const findings = await checkAll(config, !isDeep);
      // `orUnmade` returns an error of `proveAll` as a finding about the area `data`.
      if (isDeep)
        findings.push(
          ...(await orUnmade('data', () => proveAll(config, actorOf(cli, flags), flags.repair === true))),
        );
      if (flags.json) sayJson(findings);
      else for (const finding of findings) say(line(finding));
      if (findings.some(({ level }) => level === 'error')) cli.exit(1);
    });
}

const SIGNS: Record<DoctorFinding['level'], string> = { ok: '✔', warning: '!', error: '✘' };

const line = ({ area, level, message, advice }: DoctorFinding): string =>
  `${SIGNS[level]} ${area}: ${message}${advice === null ? '' : `. ${advice}`}`;

/** Makes all checks but the comparison of derived data. @param withLastProof whether the last comparison is reported */
async function checkAll(config: Config, withLastProof: boolean): Promise<DoctorFinding[]> {
  const { redis, checkData, ...opened } = openDesiredStates(config);
  try {
    await untilReady(redis, REDIS_WAIT_MS);
    await checkData();
    const { signal } = new AbortController();
    return await runChecks({ config, redis }, { ...opened, clock: systemClock }, { signal, withLastProof });
  } finally {
    redis.disconnect();
  }
}

/** Compares derived data with the records, and with `repair` rebuilds what differs. */
async function proveAll(config: Config, actor: Actor, repair: boolean): Promise<DoctorFinding[]> {
  const logger = createCommandLogger('info');
  const progress = createProgressLine('doctor');
  const onProgress = ({ done, total }: ProofProgress): void =>
    progress.show({ phase: 'entries', done, total });
  const order = { by: actor.by, onProgress, ...(repair ? { repairBy: actor } : {}) };
  const reports = await withStore(config, (states) =>
    prove({ clock: systemClock, logger }, states, order),
  ).finally(progress.end);
  return reports.flatMap(proofFindings);
}
