// Makes the report of a run (`toReport`). Before that, run.ts passes the end of the run through `withLoss` (makes it `unproven` after
// a loss of data), `withOpen` (adds what is not sure yet) and `withExceptions` (adds what stays different), in this order; the last
// two leave an `unproven` end as it is. A saved plan (apply-saved.ts) needs `withLoss` only. Only `withLoss` reads Redis.
import type { ExceptionCounts } from '../../directory/outbox/exceptions.ts';
import type { Outcome, RunReport } from '../../directory/outbox/runs.ts';
import { counted } from '../../support/counted.ts';
import { isChange, isLeftBy, isNotice } from '../entry.ts';
import { exceptionTotalText } from '../text/exception-words.ts';
import { countsOf, driftCounts, type Plan } from '../plan.ts';
import type { RunFindings } from '../plan/run-findings.ts';
import type { ReconcileScope } from '../scope.ts';
import { convergedBesideWaiting, type End } from './ends.ts';

/** Returns the report of a run that ended by itself. */
export function toReport(
  plan: Plan,
  startedAt: number,
  endedAt: number,
  { outcome, message }: End,
): RunReport {
  return {
    run: `plan:${plan.id}`,
    startedAt,
    endedAt,
    outcome,
    // Rejected and held changes are left out, because no run writes them.
    counts: countsOf(plan.entries.filter((entry) => isChange(entry) || isNotice(entry))),
    drift: driftCounts(plan),
    users: plan.proof.users.seen,
    groups: plan.proof.groups.seen,
    ...(message === undefined ? {} : { message }),
  };
}

/**
 * Returns the end; after Redis came back empty, `unproven` if the run converged, apart from people who wait for a refused group:
 * resources that were not pushed again are not compared.
 */
export const withLoss = async ({ isDataLost }: ReconcileScope, end: End): Promise<End> =>
  convergedBesideWaiting(end) && (await isDataLost())
    ? { outcome: 'unproven', message: withPart(end.message, DATA_LOST) }
    : end;

const DATA_LOST =
  'Redis came back empty: accounts of people and groups that were not pushed again are not compared';

/** Outcomes of a run that compared everything and waited for its changes. */
const APPLIED: readonly Outcome[] = ['converged', 'held', 'blocked'];

/**
 * Adds what is not sure yet to the message of a run that converged, or ended with held changes or dead letters: the number of
 * resources that changed during every read and were not compared, and that processes with other rules may have applied the changes.
 */
export function withOpen(end: End, { moved, rulesAgree }: RunFindings): End {
  if (!APPLIED.includes(end.outcome)) return end;
  let { message } = end;
  if (moved > 0)
    message = withPart(
      message,
      `${counted(moved, 'resource')} changed while compared: the next reconcile compares them`,
    );
  // No process has applied a change of a run that was stopped.
  if (!rulesAgree && !end.isStopped) message = withPart(message, OTHER_SETTINGS);
  return message === undefined ? end : { ...end, message };
}

/** In the message of a run with held changes or dead letters the last part, after their advice. */
export const OTHER_SETTINGS =
  'processes of the service run with other settings and may have applied changes by them: reconcile again when all have the same';

/** Adds a part to a message; undefined: there is none yet. */
export const withPart = (message: string | undefined, part: string): string =>
  message === undefined ? part : `${message}; ${part}`;

/** Returns how many differences the policy of the target leaves, in words; '' when it leaves none. */
function leftText({ policy }: ReconcileScope['target'], { entries }: Plan): string {
  const count = entries.filter((entry) => isLeftBy(policy, entry)).length;
  return count === 0 ? '' : `${counted(count, 'difference')} left alone by the policy ${policy.policy}`;
}

/** Adds the exceptions and the differences that the policy of the target leaves to the message of a run that converged. */
export function withExceptions(
  end: End,
  exceptions: ExceptionCounts,
  { target }: ReconcileScope,
  plan: Plan,
): End {
  const parts = [exceptions.total > 0 ? exceptionTotalText(exceptions) : '', leftText(target, plan)];
  const left = parts.filter((part) => part !== '');
  if (end.outcome !== 'converged' || left.length === 0) return end;
  const command = exceptions.total > 0 ? 'exceptions' : 'plan';
  return {
    ...end,
    message: withPart(end.message, `except ${left.join(' and ')}; see scim-bridge ${command}`),
  };
}
