// Syncs one resource at one target: takes the lease, compares desired and applied state, writes the difference, and stores
// the outcome.
import { ACCOUNT_NUMBER, forgetObserved, type Condition } from '../directory/outbox/links.ts';
import { LeaseLost, type DueWork } from '../directory/outbox/work.ts';
import type { Priority, Ref } from '../directory/records.ts';
import type { TraceCall } from '../platform/client.ts';
import type { Step, Tracing } from '../support/tracing.ts';
import type { SyncContext } from './context.ts';
import { createContext, type ContextDeps, type Lease } from './create-context.ts';
import { outcomeOfError } from './calls/failed-call.ts';
import { behindHold, besideDecisions, isRefused, wasBehindHold } from './gate.ts';
import type { SyncOutcome } from './outcome.ts';
import { syncGroup } from './group/sync-group.ts';
import { syncUser } from './user/sync-user.ts';
import { linkedTwice, type NotOurs } from './names/taken-by-connection.ts';

/** Time after which a waiting resource is synced again, in case the notification was lost. */
const WAITING_MS = 15_000;

export interface SyncDeps extends ContextDeps {
  random: () => number;
  /** Called for every cleared mark. `lagMs`: time from accepting the change to applying it; `writes`: their number. */
  onApplied?: ((lagMs: number, priority: Priority, writes: number) => void) | undefined;
  /** Starts the span of one sync, under the correlation id of its push. */
  trace?: Tracing['caused'] | undefined;
}

/** Syncs one resource. Resolves when the outcome is stored; rejects only on bugs and when Redis is unavailable. */
export async function syncResource(
  deps: SyncDeps,
  ref: Ref,
  priority: Priority,
  signal: AbortSignal,
): Promise<void> {
  const begin = await deps.outbox.begin(ref, priority);
  // The ref has no mark, another sync of it is running, or the target is stopped.
  if (begin.kind !== 'begun') return;
  const { work } = begin;
  addSuspectedDrift(work);
  const lease: Lease = { lost: false, heldUntil: deps.clock.now() + deps.outbox.leaseMs };
  const step = deps.trace?.(`sync ${work.kind}`, work.request, {
    'bridge.target': deps.target.name,
    'bridge.ref': ref,
    'bridge.priority': priority,
  });
  const context = createContext(deps, work, signal, lease);
  if (step) context.call.trace = traceCalls(step);
  /** `lost`: no outcome is stored, because of a lost lease or an error that is no failure of the platform. */
  let end: SyncOutcome['kind'] | 'lost' = 'lost';
  // Each save extends the lease. With a save in every third of its time, the lease outlives two saves that fail.
  const keepAlive = setInterval(() => {
    context.save().catch((error: unknown) => {
      if (error instanceof LeaseLost) lease.lost = true;
    });
  }, deps.outbox.leaseMs / 3);
  try {
    // Not inside `syncByKind`: while the process stops, `outcomeOfError` would hide an error of Redis.
    const conflict = await linkedTwice(context);
    const outcome = await syncByKind(context, conflict).catch((error: unknown) =>
      outcomeOfError(context, error, deps.random),
    );
    await storeOutcome(context, outcome, deps.onApplied);
    end = outcome.kind;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    deps.logger.info({ ref, request: work.request }, 'lease lost, another worker goes on');
  } finally {
    clearInterval(keepAlive);
    // A first argument ends the span as failed.
    step?.end(end === 'blocked' || end === 'lost' ? end : undefined, {
      'bridge.outcome': end,
      'bridge.writes': context.writes,
    });
    context.provisioning.append();
    // Entries remain here only if the sync ended with an error.
    await deps.outbox.log.append(work.logEntries.splice(0)).catch(() => undefined);
  }
}

/**
 * Syncs the resource.
 * @param conflict result of `linkedTwice`: the outcome if another connection is linked to the same account or group, which is
 *   returned without a write; undefined: no conflict prevents the sync
 */
async function syncByKind(context: SyncContext, conflict: NotOurs | undefined): Promise<SyncOutcome> {
  if (conflict) return { ...conflict, writes: 0 };
  return context.work.kind === 'User' ? syncUser(context) : syncGroup(context);
}

/** Logs the outcome, ends the sync for the guard, stores the link, and clears or delays the mark (`ack`). */
async function storeOutcome(
  context: SyncContext,
  outcome: SyncOutcome,
  onApplied: SyncDeps['onApplied'],
): Promise<void> {
  const { work, link, outbox } = context;
  // No call failed and no name was taken, so the counts of consecutive failures end. A group that collects additions (`afterMs`)
  // has not sent them yet, so the sync proves nothing about a write that failed before.
  const isCollecting =
    outcome.kind === 'waiting' && outcome.for === 'members' && outcome.afterMs !== undefined;
  if (outcome.kind === 'synced' || outcome.kind === 'held' || (outcome.kind === 'waiting' && !isCollecting)) {
    delete link.attempts;
    delete link.lastFailure;
    delete link.successionAttempts;
    delete link.transientRefusals;
    if (link.condition?.reason === 'NotApplied') delete link.condition;
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
    const { afterMs = WAITING_MS, behindHeld, isRefused } = outcome;
    await outbox.ack(work, link, { kind: 'later', afterMs, behindHeld, isRefused });
    return;
  }
  if (outcome.kind === 'later') {
    const why = outcome.condition ? besideDecisions(context, outcome.condition) : behindHold(context);
    // Null, not undefined: this sync looked at the resource it waits for, and the guard holds nothing of that any more.
    const isHoldOver = context.gate.heldHolder === null && wasBehindHold(link);
    if (why || isHoldOver) logCondition(context, why);
    // `behindHeld`: the resource only waits for the decision, and for no removal from a group ([]). After a failed call
    // (`attempts`) the resource waits for the platform too.
    const behindHeld = context.gate.heldHolder && link.attempts === undefined ? [] : undefined;
    await outbox.ack(work, link, { kind: 'later', afterMs: outcome.afterMs, behindHeld });
    return;
  }
  if (work.held && link.id === undefined) await endUnlinked(context);
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
 * Ends the held and approved changes of a resource without account or group, because there is nothing to take away: an approval would
 * write nothing. A rejection stays, so that no sync makes the rejected change after the resource is linked again.
 */
async function endUnlinked({ outbox, work: { ref } }: SyncContext): Promise<void> {
  const { guard } = await outbox.resourceStatus(ref);
  const rejected = guard.filter(({ state }) => state === 'rejected');
  await outbox.guardStore.endSync(
    ref,
    rejected.map(({ kind, subject }) => ({ kind, ref, ...(subject !== null && { subject }) })),
  );
}

/**
 * Returns whether groups that wait to remove this user may go on: the account is closed, or the deactivation is held or rejected,
 * or `held` says that there was such a decision, which may have ended in this sync.
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

/** Returns a function that starts a child span for a platform call, whose trace context the call sends. */
function traceCalls(step: Step): TraceCall {
  return (method, route) => {
    const call = step.call(`${method} ${route}`, { 'http.request.method': method, 'url.template': route });
    return {
      traceparent: call.traceparent,
      // 0: the call got no answer.
      end: (status, error) => call.end(error, status === 0 ? {} : { 'http.response.status_code': status }),
    };
  };
}

/** Makes values with suspected drift unsure, so that they are written again. Both notes are JSON, or '' without drift. */
function addSuspectedDrift({ suspectedDrift, observedDrift, link }: DueWork): void {
  if (suspectedDrift === '') return;
  const names = JSON.parse(suspectedDrift) as string[];
  link.unsure = [...new Set([...(link.unsure ?? []), ...names])];
  if (observedDrift !== '') link.observed = { ...link.observed, ...(JSON.parse(observedDrift) as object) };
  if (!names.includes(ACCOUNT_NUMBER)) return;
  // The number is found again before the next value is written.
  forgetObserved(link, ACCOUNT_NUMBER);
  delete link.account;
}
