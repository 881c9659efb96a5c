// Lists the exceptions of all connections and targets, with advice for each.
import type { DesiredState } from '../directory/desired-state.ts';
import type { ExceptionReason, StandingException } from '../directory/outbox/exceptions.ts';
import { parseRef, type Kind } from '../directory/records.ts';

export interface ExceptionView extends Omit<StandingException, 'since'> {
  connection: string;
  target: string;
  /** Null for an order of hold. */
  kind: Kind | null;
  /** ISO 8601. */
  since: string;
  advice: string;
}

export interface ExceptionFilter {
  connection?: string | undefined;
  target?: string | undefined;
  reason?: ExceptionReason | undefined;
  /** Number of exceptions that are left out at the beginning. */
  offset?: number | undefined;
  /** Largest number of exceptions. */
  limit: number;
}

const ADVICE: Record<ExceptionReason, string> = {
  Rejected:
    'Take the decision back with scim-bridge approvals withdraw, or take the change back at the identity provider.',
  Protected: 'Take the name out of users.protected of the target, or leave the account to its owner.',
  LastAdministrator: 'Make another account an administrator at the platform, then approve the deactivation.',
  Dropped: 'Correct the cause, then scim-bridge sync REF.',
  NotAdopted:
    'Set adopt to exact if it is not, or rename or delete one of the two, then scim-bridge dead-letters retry.',
  Held: 'See scim-bridge approvals list, then approve or reject.',
  OnHold: 'Order scim-bridge release when the platform may be written again.',
};

/** The owner of the platform key is protected without an entry in the settings. */
const KEY_OWNER_ADVICE =
  'Leave the account to its owner, or give the target a platform key of another account.';

const adviceOf = ({ ref, reason, message }: StandingException): string =>
  reason === 'Protected' && message.startsWith('owner of the platform key')
    ? KEY_OWNER_ADVICE
    : ADVICE[reason].replace('REF', () => ref ?? '');

/** Returns exceptions in the order of connections and targets, the oldest of each reason first. */
export async function listExceptions(
  states: readonly DesiredState[],
  { connection, target, reason, offset = 0, limit }: ExceptionFilter,
): Promise<ExceptionView[]> {
  const views: ExceptionView[] = [];
  let skip = offset;
  for (const state of states) {
    if ((connection ?? state.connection) !== state.connection) continue;
    for (const [name, outbox] of state.outboxes) {
      if ((target ?? name) !== name) continue;
      if (views.length >= limit) return views;
      const reasons = reason && [reason];
      const found = await outbox.exceptions({ limit: limit - views.length, offset: skip, reasons });
      if (found.length > 0) skip = 0;
      else if (skip > 0) {
        const { exceptions } = await outbox.backlog();
        skip = Math.max(0, skip - (reason ? exceptions[reason] : exceptions.total));
      }
      for (const { since, ...each } of found)
        views.push({
          ...{
            connection: state.connection,
            target: name,
            kind: each.ref === null ? null : parseRef(each.ref).kind,
            ...each,
          },
          since: new Date(since).toISOString(),
          advice: adviceOf({ since, ...each }),
        });
    }
  }
  return views;
}
