// Runs the sync of one resource at one target under a lease, which it keeps alive until the outcome is stored. Parts:
// begin_sync.lua reads the work, user/sync-user.ts or group/sync-group.ts writes the differences, calls/failed-call.ts converts an
// error to an outcome, and `storeOutcome` ends the sync: it logs the outcome, ends the sync for the guard, saves the link, and
// clears or delays the mark (`ack`, ack_dirty.lua). `ack` also makes those resources due that wait for a name or account of this
// one, or for its decision (`namesOf`, `isDecided`). Flags of the link: directory/outbox/link.ts.
import { ACCOUNT_NUMBER, forgetObserved } from '../directory/outbox/link.ts';
import { LeaseLost, type NameWait } from '../directory/outbox/work.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import type { Priority, Ref } from '../directory/records.ts';
import type { TraceCall } from '../platform/client.ts';
import type { Step, Tracing } from '../support/tracing.ts';
import type { SyncContext } from './context.ts';
import { type ContextDeps, createContext, type Lease } from './create-context.ts';
import { outcomeOfError } from './calls/failed-call.ts';
import type { SyncOutcome, Unfinished } from './outcome.ts';
import { syncGroup } from './group/sync-group.ts';
import { syncUser } from './user/sync-user.ts';
import { linkedTwice } from './names/taken-by-connection.ts';
import { type Condition, isTriedAgain } from '../directory/outbox/link-condition.ts';
import { behindHold, besideDecisions, isRefused, wasBehindHold } from './gate.ts';
import { behindPending } from './names/succession.ts';

interface SyncDeps extends ContextDeps {
  random: () => number;
  /**
   * Called when a sync with the outcome `synced` has cleared the mark. `lagMs`: time from accepting the change to applying it;
   * `writes`: number of writes of the sync.
   */
  onApplied?: ((lagMs: number, priority: Priority, writes: number) => void) | undefined;
  /** Starts the span of one sync, under the correlation id of its push. */
  trace?: Tracing['caused'] | undefined;
}

/** Syncs one resource. Resolves when the outcome is stored or the lease is lost; rejects on bugs and when Redis is unavailable. */
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
  // Each save extends the lease. With a save in every third of its time, a second save follows before the lease ends if one fails.
  const keepAlive = setInterval(() => {
    context.save().catch((error: unknown) => {
      if (error instanceof LeaseLost) lease.lost = true;
    });
  }, deps.outbox.leaseMs / 3);
  try {
    // Outside of `catch`: the two functions only read Redis, and `outcomeOfError` is for failed calls to the platform.
    const conflict = (await heldElsewhere(context)) ?? (await linkedTwice(context));
    const outcome = await syncByKind(context, conflict).catch((error: unknown) =>
      outcomeOfError(context, error, deps.random),
    );
    await storeOutcome(context, outcome, deps.onApplied);
    end = outcome.kind;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    const fields = { ref, request: work.request, reason: error.message };
    deps.logger.info(fields, 'the sync ended, because it lost its lease: the next one goes on');
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
 * @param conflict the outcome, returned without a write, if another connection holds the target (`heldElsewhere`) or is linked to
 *   the same account or group (`linkedTwice`); undefined: there is no conflict
 */
async function syncByKind(context: SyncContext, conflict: Unfinished | undefined): Promise<SyncOutcome> {
  if (conflict) return conflict;
  return context.work.kind === 'User' ? syncUser(context) : syncGroup(context);
}

/**
 * Returns an outcome while another connection holds the target because of another tenant. Asked under the lease, which a later hold
 * ends. The relay delivers the mark again when the hold has ended.
 */
async function heldElsewhere({ outbox }: SyncContext): Promise<Unfinished | undefined> {
  return (await outbox.guardStore.tenantHoldElsewhere()) && { kind: 'later', afterMs: 0 };
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
  // The numeric account id is found again before the next value is written.
  forgetObserved(link, ACCOUNT_NUMBER);
  delete link.account;
}

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
  delete link.failingSince;
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
  // `heldHolder` null: this sync asked the guard, which holds no change of the awaited resource. Undefined: it did not ask.
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
