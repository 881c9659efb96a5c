// Warns in status and doctor when the last complete comparison of a target is longer ago than its schedule allows.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { ExpectedRuns, RunReport } from '../../directory/outbox/runs.ts';
import { isoTime } from '../../support/sources.ts';
import { findingsByTarget, findingFor, type DoctorFinding } from './doctor-finding.ts';

interface RunTimes {
  last?: RunReport | null | undefined;
  /** Unix milliseconds; null or undefined: no run has compared everything yet. */
  lastSuccessAt?: number | null | undefined;
  /** Since when the service has had a schedule, and the time between two of its runs; null: no schedule. */
  expected?: ExpectedRuns | null | undefined;
}

/** Limit without a schedule: a day, the longest usual interval of a schedule, and two hours. */
const OLD_MS = 26 * 3_600_000;
/** Added to two intervals of the schedule, as in the alerts ScimBridgeReconcileStale and ScimBridgeReconcileNever. */
const GRACE_MS = 1_800_000;
const ADVICE = 'Run scim-bridge reconcile, and look at its reason.';

/**
 * Returns a sentence without full stop when a complete run is overdue, or when runs ended and none was complete; else undefined.
 * @param now by the clock of Redis, as the other times
 */
export function reconcileAgeText(
  { last, lastSuccessAt, expected }: RunTimes,
  now: number,
): string | undefined {
  const longest = expected ? 2 * expected.gapMs + GRACE_MS : OLD_MS;
  if (lastSuccessAt)
    return now - lastSuccessAt >= longest
      ? `nothing was compared completely since ${isoTime(lastSuccessAt)}`
      : undefined;
  if (expected && now - expected.since >= longest)
    return `no reconcile has compared everything yet, and the schedule expects one since ${isoTime(expected.since)}`;
  return last ? 'no reconcile has compared everything yet' : undefined;
}

/** Returns one warning for each target that was not compared completely for long. */
export const reconcileFindings = (states: readonly DesiredState[]): Promise<DoctorFinding[]> =>
  findingsByTarget(states, async ({ connection }, target, outbox) => {
    const { lastRun: last, lastSuccessAt, expected, now } = await outbox.backlog();
    const message = reconcileAgeText({ last, lastSuccessAt, expected }, now);
    if (message === undefined) return undefined;
    return findingFor(`reconcile ${connection} → ${target}`).warning(message, ADVICE);
  });
