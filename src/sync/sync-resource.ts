// Runs the sync of one resource at one target under a lease, which it keeps alive until the outcome is stored. Parts:
// begin_sync.lua reads the work, user/sync-user.ts or group/sync-group.ts writes the differences, calls/failed-call.ts converts an
// error to an outcome, store-outcome.ts ends the sync (ack_dirty.lua).
import { ACCOUNT_NUMBER, forgetObserved } from '../directory/outbox/link.ts';
import { LeaseLost } from '../directory/outbox/work.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import type { Priority, Ref } from '../directory/records.ts';
import type { TraceCall } from '../platform/client.ts';
import type { Step, Tracing } from '../support/tracing.ts';
import type { SyncContext } from './context.ts';
import { createContext, type ContextDeps, type Lease } from './create-context.ts';
import { outcomeOfError } from './calls/failed-call.ts';
import type { SyncOutcome, Unfinished } from './outcome.ts';
import { syncGroup } from './group/sync-group.ts';
import { syncUser } from './user/sync-user.ts';
import { linkedTwice } from './names/taken-by-connection.ts';
import { storeOutcome } from './store-outcome.ts';

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
  // Each save extends the lease. With a save in every third of its time, the lease outlives two saves that fail.
  const keepAlive = setInterval(() => {
    context.save().catch((error: unknown) => {
      if (error instanceof LeaseLost) lease.lost = true;
    });
  }, deps.outbox.leaseMs / 3);
  try {
    // Not inside `syncByKind`, because `outcomeOfError` hides errors of Redis while the process stops.
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
