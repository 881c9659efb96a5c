// Lists the exceptions of all connections and targets, with what an operator can do about each.
import type { DesiredState } from '../directory/desired-state.ts';
import type { ExceptionReason, StandingException } from '../directory/outbox/exceptions.ts';
import { parseRef, type Kind } from '../directory/records.ts';

export interface ExceptionView extends Omit<StandingException, 'since'> {
  connection: string;
  target: string;
  kind: Kind;
  /** ISO 8601. */
  since: string;
  advice: string;
}

export interface ExceptionFilter {
  connection?: string | undefined;
  target?: string | undefined;
  reason?: ExceptionReason | undefined;
  /** Largest number of exceptions. */
  limit: number;
}

/** The reasons as words of a count. */
export const EXCEPTION_WORDS: Record<ExceptionReason, string> = {
  Rejected: 'rejected',
  Protected: 'protected',
  LastAdministrator: 'last administrator',
  Dropped: 'dropped from the dead letters',
};

const ADVICE: Record<ExceptionReason, string> = {
  Rejected: 'Take the decision back with approvals withdraw, or push the person again as active.',
  Protected: 'Take the name out of users.protected of the target, or leave the account to its owner.',
  LastAdministrator: 'Make another account an administrator at the platform, then approve the deactivation.',
  Dropped: 'Correct the cause, then sync the resource.',
};

/** Returns exceptions in the order of connections and targets, the oldest of each reason first. */
export async function listExceptions(
  states: readonly DesiredState[],
  { connection, target, reason, limit }: ExceptionFilter,
): Promise<ExceptionView[]> {
  const views: ExceptionView[] = [];
  for (const state of states) {
    if ((connection ?? state.connection) !== state.connection) continue;
    for (const [name, outbox] of state.outboxes) {
      if ((target ?? name) !== name) continue;
      const found = await outbox.exceptions(limit - views.length, reason && [reason]);
      for (const { since, ...each } of found)
        views.push({
          ...{ connection: state.connection, target: name, kind: parseRef(each.ref).kind, ...each },
          since: new Date(since).toISOString(),
          advice: ADVICE[each.reason],
        });
    }
  }
  return views;
}
