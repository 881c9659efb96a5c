// Stores the outcome of a sync: the condition, the log, what the guard still holds, and the mark.
import type { Condition } from '../directory/outbox/links.ts';
import type { Priority } from '../directory/records.ts';
import type { SyncContext } from './context.ts';
import { behindHold, besideDecisions, isRefused, wasBehindHold } from './gate.ts';
import type { SyncOutcome } from './outcome.ts';

/** Called for every cleared mark; `lagMs`: time from accepting the change to applying it. */
export type OnApplied = (lagMs: number, priority: Priority, writes: number) => void;

/** Time after which a waiting resource is synced again, in case the notification was lost. */
const WAITING_MS = 15_000;

/** Stores the outcome: logs it, ends the sync for the guard, and clears or delays the mark. */
export async function storeOutcome(
  context: SyncContext,
  outcome: SyncOutcome,
  onApplied: OnApplied | undefined,
): Promise<void> {
  const { work, link, outbox } = context;
  // No call failed and no name was taken, so the counts of consecutive failures end.
  if (outcome.kind === 'synced' || outcome.kind === 'held' || outcome.kind === 'waiting') {
    delete link.attempts;
    delete link.successionAttempts;
    delete link.transientRefusals;
  }
  context.provisioning.ended(outcome);
  context.provisioning.append();
  if (outcome.kind === 'synced' || outcome.kind === 'held') {
    logCondition(context, outcome.condition);
    const isForgotten = outcome.kind === 'synced' && outcome.forget === true;
    // The guard drops the changes of this resource that the sync would no longer make.
    if (work.held) {
      const refused = context.gate.refused.map(({ item }) => item);
      await outbox.guardStore.endSync(work.ref, refused, {
        isGone: isForgotten,
        unasked: context.gate.unasked,
      });
    }
    const ack = await outbox.ack(work, link, { ...outcome, decided: isForgotten || isDecided(context) });
    if (ack.kind === 'cleared' && outcome.kind === 'synced')
      onApplied?.(ack.lagMs, work.priority, outcome.writes);
    return;
  }
  if (outcome.kind === 'waiting') {
    await outbox.ack(work, link, { kind: 'later', afterMs: outcome.afterMs ?? WAITING_MS });
    return;
  }
  if (outcome.kind === 'later') {
    const why = outcome.condition ?? behindHold(context);
    // False, not undefined: this sync looked at the resource it waits for, and the guard holds nothing of that any more.
    const isHoldOver = context.gate.isBehindHold === false && wasBehindHold(link);
    if (why || isHoldOver) logCondition(context, why);
    await outbox.ack(work, link, { kind: 'later', afterMs: outcome.afterMs });
    return;
  }
  link.condition = besideDecisions(context, outcome.condition);
  context.logger.error(
    { ref: work.ref, reason: outcome.condition.reason, status: outcome.condition.status },
    'needs a person: see scim-bridge dead-letters list',
  );
  // A retry waits for the former holder of the name anew.
  delete link.successionAttempts;
  await outbox.ack(work, link, { kind: 'blocked' });
}

/**
 * Returns whether groups may go on that wait to remove the user: the account is closed, or the deactivation is held, rejected, or
 * not desired (any more).
 */
const isDecided = ({ gate, work, link }: SyncContext): boolean =>
  work.kind === 'User' && (link.core?.active === false || work.held || isRefused(gate, 'deactivate'));

/** Stores the condition in the link and logs it when it changed; undefined clears it. */
function logCondition({ link, logger, work }: SyncContext, condition: Condition | undefined): void {
  if (condition && link.condition?.reason !== condition.reason) {
    logger.warn({ ref: work.ref, reason: condition.reason }, 'not as desired');
  }
  if (condition) link.condition = condition;
  else delete link.condition;
}
