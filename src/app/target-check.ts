// Checks one target for the health report: counts what waits, and words what an operator should know.
import type { DesiredState } from '../directory/desired-state.ts';
import {
  holdAdvice,
  isTenantHold,
  OLDER_DATA_HOLDER,
  type OperatorHold,
} from '../directory/guard/operator-hold.ts';
import { isKeyRefused, type BreakerState } from '../directory/outbox/breaker.ts';
import { isForKey } from '../directory/outbox/budget.ts';
import { addExceptionCounts, type ExceptionCounts } from '../directory/outbox/exceptions.ts';
import type { Check } from '../http/health.ts';
import {
  answerWords,
  breakerWords,
  failureAdvice,
  newKeyAdvice,
  pauseWords,
} from '../reconcile/breaker-words.ts';
import { movedText } from '../reconcile/tenant/tenant.ts';
import { exceptionTotalText } from '../reconcile/text/exception-words.ts';
import { counted, total } from '../support/counted.ts';
import { outboxesOf } from './targets.ts';

/** Content of Redis about one target, over all connections that feed it. */
interface TargetCounts {
  /** Marked resources, whose changes wait for a sync (`dirty` of backlog.ts). */
  dirty: number;
  /** Marked resources that are in the queue, or whose sync is running. */
  inflight: number;
  /** Dead letters. */
  blocked: number;
  /** Removals that the guard holds. */
  held: number;
  exceptions: ExceptionCounts;
  /** Desired users and groups that the last reconcile did not find at the platform. */
  missing: number;
  /** Conflicts of the last reconcile. */
  conflicts: number;
  /**
   * Time since the last successful reconcile, milliseconds. Of several connections the longest time counts; null: the reconcile of
   * one of them has never succeeded.
   */
  reconcileAgeMs: number | null;
  /** Whether the target has a new address in the settings, at which no linked account was recognised yet. */
  hasMoved: boolean;
  /** One for each connection that has the target on hold. */
  holds: OperatorHold[];
}

/** Returns the check of a target. It is always `ok`, because a platform that fails is no fault of the process. */
export async function checkTargetHealth(
  states: DesiredState[],
  name: string,
  breaker: BreakerState,
): Promise<Check> {
  const counts = await countTarget(states, name);
  const { dirty, inflight, blocked, held, exceptions, missing, reconcileAgeMs } = counts;
  const findings = [
    ...breakerFindings(name, breaker),
    ...countFindings(name, counts),
    ...holdFindings(name, counts.holds),
  ];
  return { ok: true, findings, dirty, inflight, blocked, held, exceptions, missing, reconcileAgeMs, breaker };
}

async function countTarget(states: DesiredState[], name: string): Promise<TargetCounts> {
  const outboxes = [...outboxesOf(states, name).values()];
  const runStores = states.flatMap(({ runs }) => runs.get(name) ?? []);
  const [backlogs, runs, moved, holds] = await Promise.all([
    Promise.all(outboxes.map((outbox) => outbox.backlog())),
    Promise.all(runStores.map((store) => store.read())),
    Promise.all(outboxes.map((outbox) => outbox.hasMoved())),
    Promise.all(outboxes.map(({ guardStore }) => guardStore.onHold())),
  ]);
  const coverages = runs.flatMap(({ last }) => last?.coverage ?? []);
  const oldestSuccess = Math.min(...runs.map(({ lastSuccessAt }) => lastSuccessAt ?? -Infinity));
  return {
    dirty: total(backlogs.map((backlog) => backlog.dirty)),
    inflight: total(backlogs.map((backlog) => backlog.inflight)),
    blocked: total(backlogs.map((backlog) => backlog.blocked)),
    held: total(backlogs.flatMap((backlog) => Object.values(backlog.held))),
    exceptions: addExceptionCounts(backlogs.map((backlog) => backlog.exceptions)),
    missing: total(coverages.map(({ users, groups }) => users.missing + groups.missing)),
    conflicts: total(runs.map(({ last }) => last?.conflicts?.count ?? 0)),
    reconcileAgeMs: Number.isFinite(oldestSuccess)
      ? Math.max(...backlogs.map(({ now }) => now)) - oldestSuccess
      : null,
    hasMoved: moved.some(Boolean),
    holds: holds.flatMap((hold) => hold ?? []),
  };
}

function breakerFindings(name: string, breaker: BreakerState): string[] {
  const findings: string[] = [];
  if (breaker.open) {
    // The advice about a refused key has a finding of its own, because it is given before the breaker opens.
    const advice = isKeyRefused(breaker) ? undefined : failureAdvice(name, { status: breaker.status ?? 0 });
    findings.push(
      `calls fail (${answerWords(breaker.status)}): only probes are sent${advice === undefined ? '' : `; ${advice}`}`,
    );
  }
  if (isKeyRefused(breaker)) {
    // `isKeyRefused` is true for status 401 only.
    const refusal = breakerWords({ ...breaker, status: 401 });
    findings.push(`the platform ${refusal}: ${newKeyAdvice(name, breaker)}`);
  }
  // The finding about a refused key covers its pause.
  if (breaker.pause && !isForKey(breaker.pause)) findings.push(pauseWords(breaker.pause));
  return findings;
}

function countFindings(
  name: string,
  { blocked, held, exceptions, conflicts, hasMoved, missing }: TargetCounts,
): string[] {
  const findings: string[] = [];
  if (blocked > 0) findings.push(`${counted(blocked, 'dead letter')}: see scim-bridge dead-letters list`);
  if (held > 0) findings.push(`the guard holds ${counted(held, 'removal')}: see scim-bridge approvals list`);
  if (exceptions.total > 0) findings.push(`${exceptionTotalText(exceptions)}: see scim-bridge exceptions`);
  if (conflicts > 0)
    findings.push(`${counted(conflicts, 'conflict')} since the last reconcile: see scim-bridge plan`);
  if (hasMoved) findings.push(movedText(name));
  if (missing > 0) findings.push(`${missing} desired users or groups are missing since the last reconcile`);
  return findings;
}

/** Returns one sentence for each different hold: connections with the same reason share a sentence. */
function holdFindings(name: string, holds: OperatorHold[]): string[] {
  const sentences = holds.map((hold) => `on hold by ${holderText(hold)}: ${holdAdvice(name, hold)}`);
  return [...new Set(sentences)];
}

function holderText(hold: OperatorHold): string {
  if (isTenantHold(hold)) return 'reconcile, because the target may be another tenant';
  return hold.by === OLDER_DATA_HOLDER
    ? 'scim-bridge, because Redis came back with older data'
    : 'order of an operator';
}
