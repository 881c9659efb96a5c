// Lists the exceptions of all connections and targets, with advice for each.
import type { DesiredState } from '../../directory/desired-state.ts';
import { holdAdvice, isTenantHold, type Hold } from '../../directory/guard/operator-hold.ts';
import type { StandingException } from '../../directory/outbox/exception-list.ts';
import type { ExceptionReason } from '../../directory/outbox/exceptions.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { AWAITING_DECISION } from '../../directory/outbox/link-condition.ts';
import { conditionText, deletionText, isByFormerSettings } from '../../directory/outbox/condition-text.ts';
import { parseRef, type Kind } from '../../directory/records.ts';
import { readInPortions } from '../../directory/redis/portions.ts';
import { adviceFor, withdrawAdvice, type AdviceFacts } from '../advice.ts';
import { readApprovalIds, type ApprovalIds } from './approval-ids.ts';
import { withPresentCondition } from './present-condition.ts';
import { isoTime } from '../../support/sources.ts';

export interface ExceptionView extends Omit<StandingException, 'since'> {
  connection: string;
  target: string;
  /** Null for a target on hold. */
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

/** Number of exceptions whose resources are read at the same time; each takes about twenty reads. */
const PORTION = 50;

/** Returns exceptions in the order of connections and targets, then by reason (EXCEPTION_REASONS), then the oldest first. */
export async function listExceptions(
  states: readonly DesiredState[],
  { connection, target, reason, offset = 0, limit }: ExceptionFilter,
): Promise<ExceptionView[]> {
  const views: ExceptionView[] = [];
  let skip = offset;
  for (const state of states) {
    if (connection !== undefined && state.connection !== connection) continue;
    for (const [name, outbox] of state.outboxes) {
      if (target !== undefined && name !== target) continue;
      if (views.length >= limit) return views;
      const reasons = reason && [reason];
      const found = await outbox.exceptions({ limit: limit - views.length, offset: skip, reasons });
      if (found.length > 0) skip = 0;
      else if (skip > 0) {
        // The offset leaves out all exceptions of this target; its rest is for the next target.
        const { exceptions } = await outbox.backlog();
        skip = Math.max(0, skip - (reason ? exceptions[reason] : exceptions.total));
      }
      views.push(...(await toViews(state, name, outbox, found)));
    }
  }
  return views;
}

/** Adds the advice to the exceptions of one target, and replaces words of the last sync that are no longer true (`presentOf`). */
async function toViews(
  state: DesiredState,
  target: string,
  outbox: Outbox,
  found: readonly StandingException[],
): Promise<ExceptionView[]> {
  const { connection } = state;
  // The advice for these reasons names an approval.
  const approvals = found.some((each) => AWAITING_DECISION.has(each.reason))
    ? await readApprovalIds(connection, outbox)
    : undefined;
  const hold = found.some(({ ref }) => ref === null) ? await outbox.guardStore.onHold() : undefined;
  const present = await readInPortions(found, PORTION, (portion) =>
    Promise.all(portion.map((each) => presentOf(state, outbox, each, approvals))),
  );
  return found.map((exception, index) => {
    const { since, ...each } = exception;
    const { expired, ...words } = present[index] ?? {};
    return {
      connection,
      target,
      kind: each.ref === null ? null : parseRef(each.ref).kind,
      ...each,
      since: isoTime(since),
      advice: adviceOf(exception, target, { approvals, expired, hold }),
      ...words,
    };
  });
}

/** Words for a group that waited for held or rejected changes of its members, when none is held or rejected any more. */
const RELEASED: Partial<Record<string, string>> = {
  Held: 'what it waited for is no longer held',
  Rejected: 'the rejection does not stand any more',
};
const JUDGED_ANEW = 'Nothing is to be done: its next sync judges it anew.';

/** Message and advice of an exception, if they changed since the last sync. `expired` as in AdviceFacts. */
type Present = Partial<Pick<ExceptionView, 'message' | 'advice'>> & { expired?: string | undefined };

/**
 * Returns what has changed since the last sync: the approval of the held changes has expired, or a group differed only because
 * of held or rejected changes of its members, and none of these is held or rejected now. Reads nothing for other exceptions.
 */
async function presentOf(
  { links }: DesiredState,
  outbox: Outbox,
  { ref, reason }: Pick<StandingException, 'ref' | 'reason'>,
  approvals: ApprovalIds | undefined,
): Promise<Present> {
  if (ref === null) return {};
  const isHeld = reason === 'Held' || reason === 'LastAdministrator';
  const mayHaveExpired = isHeld && approvals?.hasExpired === true;
  const mayBeReleased = RELEASED[reason] !== undefined && parseRef(ref).kind === 'Group';
  if (!mayHaveExpired && !mayBeReleased) return {};
  const [link, status] = await Promise.all([links.get(outbox.target, ref), outbox.resourceStatus(ref)]);
  const { condition } = await withPresentCondition(outbox, ref, link, status);
  const wasOfReason = link.condition?.reason === reason;
  if (mayBeReleased && wasOfReason && condition?.reason !== reason)
    return { message: RELEASED[reason] ?? '', advice: JUDGED_ANEW };
  const expired = mayHaveExpired ? await approvals.expiredFor(ref, status) : undefined;
  // The present condition may have another reason: the last sync ended with the failure of another change.
  if (expired === undefined || condition?.reason !== reason) return { expired };
  const { settings, deletesLeavers } = outbox;
  return {
    expired,
    message: `${conditionText(condition, settings)}${deletionText(condition, deletesLeavers)}`,
  };
}

/**
 * Returns what an operator does about an exception.
 * @param facts `approvals`: undefined when no reason of the page needs them; `expired` as in AdviceFacts; `hold`: of the target
 */
function adviceOf(
  { ref, reason, message }: StandingException,
  target: string,
  { approvals, expired, hold }: Pick<AdviceFacts, 'approvals' | 'expired'> & { hold: Hold | undefined },
): string {
  // `ref` is null exactly for `OnHold`. The type does not say so, so the condition tests `ref` and `reason`.
  if (ref === null || reason === 'OnHold')
    return hold && isTenantHold(hold)
      ? `${holdAdvice(target, hold)}.`
      : `Order scim-bridge release --target ${target} when the platform may be written again.`;
  if (reason === 'NotAdopted' && isByFormerSettings(message))
    return `See scim-bridge sync ${ref} --dry-run for what the present settings would do, then scim-bridge dead-letters retry ${ref}.`;
  switch (reason) {
    case 'Rejected': {
      const withdraw = withdrawAdvice({ ref, approvals });
      return `If the decision was wrong: ${withdraw}. Else take the change back at the identity provider.`;
    }
    case 'Dropped':
      return `Correct the cause, then scim-bridge sync ${ref}.`;
    case 'LastAdministrator':
    case 'NotAdopted':
    case 'Protected':
    case 'Held':
      return adviceFor(reason, { ref, approvals, expired, target, message });
  }
}
