// Tells when a target was not compared completely for long, for status and doctor.
import type { DesiredState } from '../directory/desired-state.ts';
import type { RunReport } from '../directory/outbox/runs.ts';
import type { DoctorFinding } from './doctor.ts';

interface RunTimes {
  last?: RunReport | null | undefined;
  /** Unix milliseconds. */
  lastSuccessAt?: number | null | undefined;
}

/** A schedule of once a day is the longest that is usual. */
const OLD_MS = 26 * 3_600_000;
const ADVICE = 'Run scim-bridge reconcile, and look at its reason.';

/** Returns a sentence without full stop; undefined before the first run, and after a complete run of the last 26 h. */
export function reconcileAgeText({ last, lastSuccessAt }: RunTimes, now: number): string | undefined {
  if (!lastSuccessAt) return last ? 'no reconcile has compared everything yet' : undefined;
  if (now - lastSuccessAt < OLD_MS) return undefined;
  return `nothing was compared completely since ${new Date(lastSuccessAt).toISOString()}`;
}

/** One warning for each target that was not compared completely for long. */
export async function reconcileFindings(
  states: readonly DesiredState[],
  now: number,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const { connection, outboxes } of states)
    for (const [target, outbox] of outboxes) {
      const { lastRun, lastSuccessAt } = await outbox.backlog();
      const message = reconcileAgeText({ last: lastRun, lastSuccessAt }, now);
      if (message === undefined) continue;
      findings.push({
        area: `reconcile ${connection} → ${target}`,
        level: 'warning',
        message,
        advice: ADVICE,
      });
    }
  return findings;
}
