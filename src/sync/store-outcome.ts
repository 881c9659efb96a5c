// Stores the outcome of a sync: logs it, ends the sync for the guard, saves the link, and clears or delays the mark (`ack`). `ack`
// also makes those resources due that wait for a name or account of this one, or for its decision (`namesOf`, `isDecided`).
// Flags of the link: directory/outbox/link.ts.
import { isTriedAgain, type Condition } from '../directory/outbox/link-condition.ts';
import type { NameWait } from '../directory/outbox/work.ts';
import type { Priority } from '../directory/records.ts';
import type { SyncContext } from './context.ts';
import { behindHold, besideDecisions, isRefused, wasBehindHold } from './gate.ts';
import { behindPending } from './names/succession.ts';
import type { SyncOutcome } from './outcome.ts';

/** Time after which a waiting resource is synced again, in case the notification was lost. */
const WAITING_MS = 15_000;

type OutcomeOf<K extends SyncOutcome['kind']> = Extract<SyncOutcome, { kind: K }>;

/** Stores the outcome. @param onApplied as in SyncDeps (sync-resource.ts) */
export async function storeOutcome(
  context: SyncContext,
  outcome: SyncOutcome,
  onApplied: ((lagMs: number, priority: Priority, writes: number) => void) | undefined,
): Promise<void> {
  endCounts(context, outcome);
  context.provisioning.ended(outcome, context.writes);
  context.provisioning.append();
  switch (outcome.kind) {
    case 'synced':
    case 'held':
      return storeEnded(context, outcome, onApplied);
    case 'waiting':
      return storeWaiting(context, outcome);
    case 'later':
      return storeLater(context, outcome);
    case 'blocked':
      return storeBlocked(context, outcome);
  }
}

/**
 * Ends the counts of consecutive failures, unless a call failed or a name is taken (`later`, `blocked`). A group that collects
 * additions (`afterMs`) has not sent them yet, so its sync proves nothing about a write that failed before.
 */
function endCounts({ link }: SyncContext, outcome: SyncOutcome): void {
  if (outcome.kind === 'later' || outcome.kind === 'blocked') return;
  const isCollecting =
    outcome.kind === 'waiting' && outcome.for === 'members' && outcome.afterMs !== undefined;
  if (isCollecting) return;
  delete link.attempts;
  delete link.lastFailure;
  delete link.transientRefusals;
  endSuccession(link);
  if (isTriedAgain(link.condition)) delete link.condition;
}

async function storeEnded(
  context: SyncContext,
  outcome: OutcomeOf<'synced' | 'held'>,
  onApplied: Parameters<typeof storeOutcome>[2],
): Promise<void> {
  const { gate, link, outbox, work } = context;
  setCondition(context, outcome.condition);
  const isForgotten = outcome.kind === 'synced' && outcome.forget === true;
  // The guard drops the changes of this resource that the sync would no longer make: before `ack` ends the lease, because changes
  // that the next sync holds must not be dropped.
  if (work.hasGuardItem) {
    const refused = gate.refused.map(({ item }) => item);
    await outbox.guardStore.endSync(work, refused, { isGone: isForgotten, postponed: gate.postponed });
  }
  const decided = isForgotten || isDecided(context);
  const ack = await outbox.ack(work, link, { ...outcome, decided }, namesOf(context, outcome));
  if (ack.kind === 'cleared' && outcome.kind === 'synced')
    onApplied?.(ack.lagMs, work.priority, context.writes);
}

/**
 * Returns whether groups that wait to remove this user may go on: the account is closed, or the deactivation is held or rejected,
 * or the guard had a change of the user at the start of the sync (`hasGuardItem`), which may have ended.
 */
const isDecided = ({ gate, work, link }: SyncContext): boolean =>
  work.kind === 'User' && (link.core?.active === false || work.hasGuardItem || isRefused(gate, 'deactivate'));

async function storeWaiting(context: SyncContext, outcome: OutcomeOf<'waiting'>): Promise<void> {
  const { link, outbox, work } = context;
  const { afterMs = WAITING_MS, behindHeld, isRefused: isGroupRefused } = outcome;
  const later = { kind: 'later', afterMs, behindHeld, isRefused: isGroupRefused } as const;
  await outbox.ack(work, link, later, namesOf(context, outcome));
}

async function storeLater(context: SyncContext, outcome: OutcomeOf<'later'>): Promise<void> {
  const { gate, link, outbox, work } = context;
  const why = outcome.condition
    ? besideDecisions(context, outcome.condition)
    : (behindHold(context) ?? behindPending(context));
  const wasBehindOther = wasBehindHold(link) || link.condition?.reason === 'NameTaken';
  // Null: this sync asked, and the guard holds nothing of the resource that it waits for. Undefined: it did not ask.
  const isWaitOver = wasBehindOther && gate.heldHolder === null;
  if (why || isWaitOver) setCondition(context, why);
  // With `behindHeld` the resource waits for the decision only; the list is empty, because no removal from a group is awaited.
  // After a failed call (`attempts`) the platform is awaited too.
  const behindHeld = gate.heldHolder && link.attempts === undefined ? [] : undefined;
  const later = { kind: 'later', afterMs: outcome.afterMs, behindHeld } as const;
  await outbox.ack(work, link, later, namesOf(context, outcome));
}

async function storeBlocked(context: SyncContext, outcome: OutcomeOf<'blocked'>): Promise<void> {
  const { link, logger, outbox, work } = context;
  if (work.hasGuardItem && link.id === undefined) await endUnlinked(context);
  link.condition = besideDecisions(context, outcome.condition);
  const { reason, status } = outcome.condition;
  logger.error({ ref: work.ref, reason, status }, 'needs a person: see scim-bridge dead-letters list');
  // A retry waits for the former holder of the name anew.
  endSuccession(link);
  await outbox.ack(work, link, { kind: 'blocked' }, namesOf(context, outcome));
}

/**
 * Ends the held and approved changes of a resource without account or group, because there is nothing to take away: an approval
 * would write nothing. A rejection stays, so that no sync makes the rejected change after the resource is linked again.
 */
async function endUnlinked({ outbox, work }: SyncContext): Promise<void> {
  const { ref } = work;
  const { guard } = await outbox.resourceStatus(ref);
  const rejected = guard.filter(({ state }) => state === 'rejected');
  await outbox.guardStore.endSync(
    work,
    rejected.map(({ kind, subject }) => ({ kind, ref, ...(subject !== null && { subject }) })),
  );
}

/** Ends the counts of a resource that waited for a name. */
function endSuccession(link: SyncContext['link']): void {
  delete link.successionAttempts;
  delete link.hasRetriedCircle;
  delete link.askedForName;
}

/** Returns what `ack` needs to make resources due that wait for the name of another one. */
function namesOf({ gate, hasWrittenName }: SyncContext, { kind }: SyncOutcome): NameWait {
  const isWaiting = kind === 'later' || kind === 'blocked';
  return {
    ...(isWaiting && gate.holder && { holder: gate.holder.ref, awaitsMark: gate.holder.isMarked }),
    // If this resource waits, only a written name or a closed account counts: two dead letters that wait for each other's names
    // would make each other due without end.
    mayBeFree: kind === 'synced' || kind === 'held' || hasWrittenName === true || gate.closed,
  };
}

/** Stores the condition in the link and logs it when it changed; undefined clears it. */
function setCondition({ link, logger, work }: SyncContext, condition: Condition | undefined): void {
  if (condition && link.condition?.reason !== condition.reason) {
    logger.warn({ ref: work.ref, reason: condition.reason }, 'not as desired');
  }
  if (condition) link.condition = condition;
  else delete link.condition;
}
