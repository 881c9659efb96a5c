// Checks the hash chains of all logs of a connection, those of former targets too, and removes entries that are too old.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { LogCheck } from '../../directory/logs/last-log-check.ts';
import { counted } from '../../support/counted.ts';
import { verifyActs } from '../log/acts.ts';
import { findingFor, type DoctorFinding } from './doctor-finding.ts';
import { verifyLogs } from '../log/provisioning-log.ts';

/** Checks the audit log (`acts`) and the provisioning log of each target (`log <target>`). */
async function checkLogs(state: DesiredState): Promise<LogCheck[]> {
  const [acts, logs] = [await verifyActs([state]), await verifyLogs([state])];
  return [
    ...acts.map(({ entries, broken }) => ({ log: 'acts', entries, broken })),
    ...logs.map(({ target, entries, broken }) => ({ log: `log ${target}`, entries, broken })),
  ];
}

/**
 * Removes entries that are too old, then checks the logs and stores the result. A write removes old entries too, so this
 * matters for logs to which nothing is written, such as those of former targets.
 */
export async function tendLogs(state: DesiredState, now: number): Promise<LogCheck[]> {
  await state.acts.trim();
  for (const { log } of (await state.allLogs()).values()) await log.trim();
  const checks = await checkLogs(state);
  await state.logChecks.keep({ at: now, checks });
  return checks;
}

/** Returns one finding for each broken chain, and one for each connection without a broken chain. */
export async function logFindings(states: readonly DesiredState[]): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const state of states) {
    const { ok, error } = findingFor(`log ${state.connection}`);
    const checks = await checkLogs(state);
    const broken = checks.filter((check) => check.broken !== null);
    const entries = checks.reduce((sum, check) => sum + check.entries, 0);
    const count = `${counted(entries, 'entry', 'entries')} of ${counted(checks.length, 'log')}`;
    if (broken.length === 0) findings.push(ok(`${count}, none altered or taken out`));
    const advice = 'Find out who writes to Redis: see ScimBridgeLogBroken in docs/alerts.md.';
    for (const { log, broken: place } of broken)
      findings.push(error(`${log}: an entry was altered or taken out at ${String(place)}`, advice));
  }
  return findings;
}
