// Gathers the findings of doctor that come from data in Redis: processes, reconcile runs, holds, tokens, logs, notices.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Clock } from '../support/sources.ts';
import { logFindings } from './check-logs.ts';
import type { DoctorFinding } from './doctor-finding.ts';
import { failingFindings } from './failing.ts';
import { fleetFindings, type ReadFleet } from './fleet.ts';
import { reconcileFindings } from './reconcile-age.ts';
import { tokenFindings, type TokenPlaces } from './token-findings.ts';
import { unfinishedForgetFindings } from './unfinished-forgets.ts';
import { orUnmade } from './unmade-check.ts';

/** Sources of the findings. */
export interface StoredSubject extends TokenPlaces {
  states: readonly DesiredState[];
  readFleet: ReadFleet;
  notices: { findings: () => Promise<DoctorFinding[]> };
  clock: Clock;
}

/** Returns the findings of every check. A check that fails has one finding with the reason. */
export async function storedFindings(subject: StoredSubject): Promise<DoctorFinding[]> {
  const { states, readFleet, notices, clock } = subject;
  const checks = await Promise.all([
    orUnmade('fleet', async () => fleetFindings(await readFleet())),
    orUnmade('hold', () => holdFindings(states)),
    orUnmade('sync', () => failingFindings(states)),
    orUnmade('reconcile', () => reconcileFindings(states, clock.now())),
    orUnmade('forget', () => unfinishedForgetFindings(states, clock.now())),
    orUnmade('tokens', () => tokenFindings(subject, clock)),
    ...states.map((state) => orUnmade(`log ${state.connection}`, () => logFindings([state]))),
    orUnmade('notices', () => notices.findings()),
  ]);
  return checks.flat();
}

/** Returns one warning for each target to which nothing is written, because an operator or a reconcile stopped it. */
async function holdFindings(states: readonly DesiredState[]): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const { connection, outboxes } of states)
    for (const [target, outbox] of outboxes) {
      const hold = await outbox.guardStore.onHold();
      if (!hold) continue;
      const note = hold.note ? ` (${hold.note})` : '';
      findings.push({
        area: `hold ${connection} → ${target}`,
        level: 'warning',
        message: `on hold since ${new Date(hold.since).toISOString()} by ${hold.by}${note}: nothing is written`,
        advice: `scim-bridge status says what is decided there; scim-bridge release --target ${target} ends it.`,
      });
    }
  return findings;
}
