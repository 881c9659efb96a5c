// Syncs one resource at one target: takes the lease, compares desired and applied state, writes the difference, and stores
// the outcome.
import type { Directory } from '../directory/resources/directory.ts';
import { takeObserved, type Condition, type Links } from '../directory/outbox/links.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import { LeaseLost, type DueWork } from '../directory/outbox/work.ts';
import type { Priority, Ref } from '../directory/records.ts';
import type { TraceCall } from '../platform/client.ts';
import { PlatformError, PlatformResponse } from '../platform/errors.ts';
import { backoffMs } from '../support/backoff.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { Step, Tracing } from '../support/tracing.ts';
import { answersOtherwise } from './absence.ts';
import { condition as toCondition } from './condition.ts';
import type { SyncContext } from './context.ts';
import { existsIn } from './find-user.ts';
import { mayBeTransient, judgeFailure, outcomeOfFailure } from './failures.ts';
import { behindHold, besideDecisions, isRefused, openGate, wasBehindHold } from './gate.ts';
import { createProvisioningWriter } from './provisioning-writer.ts';
import { WriteIgnored, type SyncOutcome } from './outcome.ts';
import { syncGroup } from './sync-group.ts';
import { syncUser } from './sync-user.ts';
import { linkedTwice } from './taken-by-connection.ts';
import type { Target } from './target.ts';

export interface SyncDeps {
  target: Target;
  directory: Directory;
  outbox: Outbox;
  links: Links;
  clock: Clock;
  logger: Logger;
  random: () => number;
  /** Called for every cleared mark; `lagMs`: time from accepting the change to applying it. */
  onApplied?: ((lagMs: number, priority: Priority, writes: number) => void) | undefined;
  /** Starts the span of one sync, under the correlation id of its push. */
  trace?: Tracing['caused'] | undefined;
  /** Called for every write, such as `activate user`. */
  onWrite?: ((operation: string, outcome: WriteOutcome) => void) | undefined;
}

export type WriteOutcome = 'applied' | 'refused' | 'failed';

/** Time after which a waiting resource is synced again, in case the notification was lost. */
const WAITING_MS = 15_000;

/** Waits between attempts of a write that the platform answers with success and does not carry out. */
const IGNORED_BACKOFF = { baseMs: 1000, maxMs: 60_000 };

/** Interval of attempts while a refusal may come from a proxy, because the platform answers no other call. */
const UNREACHABLE_MS = 30_000;

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
  const lease = { lost: false, heldUntil: deps.clock.now() + deps.outbox.leaseMs };
  const step = deps.trace?.(`sync ${work.kind}`, work.request, {
    'bridge.target': deps.target.name,
    'bridge.ref': ref,
    'bridge.priority': priority,
  });
  const context = createContext(deps, work, signal, lease);
  if (step) context.call.trace = traceCalls(step);
  let end: SyncOutcome['kind'] | 'lost' = 'lost';
  const keepAlive = setInterval(() => {
    context.save().catch((error: unknown) => {
      if (error instanceof LeaseLost) lease.lost = true;
    });
  }, deps.outbox.leaseMs / 3);
  try {
    const exists = existsIn(deps.directory);
    const twice = await linkedTwice(context);
    const outcome = await (
      twice
        ? Promise.resolve({ ...twice, writes: 0 })
        : work.kind === 'User'
          ? syncUser(context, exists)
          : syncGroup(context, exists)
    ).catch((error: unknown) => toOutcome(context, deps, error));
    await finish(deps, context, outcome);
    end = outcome.kind;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    deps.logger.info({ ref, request: work.request }, 'lease lost, another worker goes on');
  } finally {
    clearInterval(keepAlive);
    step?.end(end === 'blocked' || end === 'lost' ? end : undefined, {
      'bridge.outcome': end,
      'bridge.writes': context.writes,
    });
    context.provisioning.append();
    // Entries remain here only if the sync ended with an error.
    await deps.outbox.log.append(work.logEntries.splice(0)).catch(() => undefined);
  }
}

/** Returns a function that starts a child span for a platform call, whose trace context the call sends. */
function traceCalls(step: Step): TraceCall {
  return (method, route) => {
    const call = step.call(`${method} ${route}`, { 'http.request.method': method, 'url.template': route });
    return {
      traceparent: call.traceparent,
      end: (status, error) => call.end(error, status === 0 ? {} : { 'http.response.status_code': status }),
    };
  };
}

/** Marks values with suspected drift as unsure, so that they are written again, and notes what the platform had. */
function addSuspectedDrift({ suspectedDrift, observedDrift, link }: DueWork): void {
  const hasDriftNote = suspectedDrift !== '';
  if (!hasDriftNote) return;
  link.unsure = [...new Set([...(link.unsure ?? []), ...(JSON.parse(suspectedDrift) as string[])])];
  if (observedDrift !== '') link.observed = { ...link.observed, ...(JSON.parse(observedDrift) as object) };
}

/** Creates the context of a sync. Each save extends the lease. */
function createContext(
  deps: SyncDeps,
  work: DueWork,
  signal: AbortSignal,
  lease: { lost: boolean; heldUntil: number },
): SyncContext {
  const { outbox, target, links, clock } = deps;
  const logger = deps.logger.child({ target: target.name, request: work.request });
  const provisioning = createProvisioningWriter(work, target.policy.policy);
  const context: SyncContext = {
    work,
    link: work.link,
    target,
    outbox,
    links,
    directory: deps.directory,
    clock,
    logger,
    gate: openGate(),
    provisioning,
    call: {
      signal,
      ...(work.priority === 'deactivation' && { urgent: true }),
      ...(work.request === '-' ? {} : { correlationId: work.request }),
    },
    writes: 0,
    save: async (options = {}) => {
      const renewedAt = clock.now();
      if (options.linked) provisioning.linked();
      provisioning.append();
      await outbox.save(work, context.link, options);
      lease.heldUntil = renewedAt + outbox.leaseMs;
      if (options.rewriteMemberships) for (const group of work.groups) work.pendingGroups.set(group.id, '+');
    },
    attempt: async (names, operation, run, { why, ignoredText } = {}) => {
      const { unsure: before = [], observed } = context.link;
      const clearUnsure = (): void => {
        const others = before.filter((name) => !names.includes(name));
        if (others.length > 0) context.link.unsure = others;
        else delete context.link.unsure;
      };
      context.link.unsure = [...new Set([...before, ...names])];
      // Once the write is sent, observed values from before it are out of date, even if no answer arrives.
      const seen = takeObserved(context.link, names);
      await context.save();
      let isAnswered = false;
      try {
        let ignored: string | undefined;
        const result = await context.write(operation, run, async (answer) => {
          isAnswered = true;
          ignored = await ignoredText?.(answer);
          return ignored === undefined ? { names, observed: seen, ...(why && { why }) } : 'ignored';
        });
        if (ignored !== undefined) throw new WriteIgnored(ignored);
        clearUnsure();
        return result;
      } catch (error) {
        // A refused write changed nothing; values that were unsure before stay unsure. An error after the answer is about a
        // later read, and not about the write.
        if (!isAnswered && error instanceof PlatformError && !error.mayHaveCommitted) {
          context.link.unsure = before;
          if (observed) context.link.observed = observed;
        }
        throw error;
      }
    },
    write: async (operation, run, detail) => {
      signal.throwIfAborted();
      // A process that was suspended notices the lost lease before it writes.
      if (lease.lost || clock.now() >= lease.heldUntil) throw new LeaseLost(`lost the lease of ${work.ref}`);
      const startedAt = clock.now();
      const result = await run().catch((error: unknown) => {
        provisioning.failed(operation, error);
        context.failedWrite = { operation, error };
        if (error instanceof PlatformError) deps.onWrite?.(operation, outcomeOfFailure(error));
        throw error;
      });
      const durationMs = clock.now() - startedAt;
      context.writes++;
      context.link.writtenAt = clock.now();
      const told = typeof detail === 'function' ? await detail(result) : detail;
      const line = { ref: work.ref, operation, durationMs };
      if (told === 'ignored') {
        provisioning.ignored(operation);
        deps.onWrite?.(operation, 'failed');
        logger.warn(line, 'the platform answered success and did not carry out the write');
        return result;
      }
      provisioning.wrote(operation, durationMs, told);
      deps.onWrite?.(operation, 'applied');
      logger.info(line, 'applied');
      return result;
    },
  };
  return context;
}

/** Stores the outcome: logs it, ends the sync for the guard, and clears or delays the mark. */
async function finish(deps: SyncDeps, context: SyncContext, outcome: SyncOutcome): Promise<void> {
  const { work, link } = context;
  const { outbox } = deps;
  if (outcome.kind === 'synced' || outcome.kind === 'held' || outcome.kind === 'waiting') {
    delete link.attempts;
    delete link.successionAttempts;
    delete link.transientRefusals;
  }
  context.provisioning.ended(outcome);
  context.provisioning.append();
  if (outcome.kind === 'synced' || outcome.kind === 'held') {
    logCondition(context, outcome.condition);
    // The guard drops the changes of this resource that the sync would no longer make.
    if (work.held) {
      const refused = context.gate.refused.map(({ item }) => item);
      const isGone = outcome.kind === 'synced' && outcome.forget === true;
      await outbox.guardStore.endSync(work.ref, refused, { isGone, unasked: context.gate.unasked });
    }
    const ack = await outbox.ack(work, link, { ...outcome, decided: isDecided(context) });
    if (ack.kind === 'cleared' && outcome.kind === 'synced')
      deps.onApplied?.(ack.lagMs, work.priority, outcome.writes);
    return;
  }
  if (outcome.kind === 'waiting') {
    await outbox.ack(work, link, { kind: 'later', afterMs: outcome.afterMs ?? WAITING_MS });
    return;
  }
  if (outcome.kind === 'later') {
    const why = outcome.condition ?? behindHold(context);
    // The last sync waited for a held change of another resource. That change is decided, so the condition ends.
    const isDecidedNow = context.gate.isBehindHold === false && wasBehindHold(link);
    if (why || isDecidedNow) logCondition(context, why);
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

/** Returns whether the account's deactivation is decided, for groups that wait for it before removing the user. */
const isDecided = ({ gate, work }: SyncContext): boolean =>
  work.kind === 'User' && (gate.closed || work.held || isRefused(gate, 'deactivate'));

/** Stores the condition in the link and logs it when it changed; undefined clears it. */
function logCondition({ link, logger, work }: SyncContext, condition: Condition | undefined): void {
  if (condition && link.condition?.reason !== condition.reason) {
    logger.warn({ ref: work.ref, reason: condition.reason }, 'not as desired');
  }
  if (condition) link.condition = condition;
  else delete link.condition;
}

/** The writes that take access away. */
const TAKING: ReadonlyMap<string, NonNullable<Condition['write']>> = new Map([
  ['deactivate user', 'deactivate'],
  ['delete user', 'delete'],
  ['delete group', 'delete'],
]);

/** Converts a failed call to an outcome. @throws LeaseLost, and errors that are not of the platform */
async function toOutcome(context: SyncContext, deps: SyncDeps, error: unknown): Promise<SyncOutcome> {
  const { link, work } = context;
  const { writes } = context;
  if (error instanceof LeaseLost) throw error;
  // The process stops: another one goes on at once.
  if (context.call.signal.aborted) return { kind: 'later', writes, afterMs: 0 };
  if (!(error instanceof PlatformError) && !(error instanceof WriteIgnored)) throw error;
  context.provisioning.failed('', error);
  link.attempts = (link.attempts ?? 0) + 1;
  if (error instanceof WriteIgnored) {
    const afterMs = backoffMs(link.attempts, IGNORED_BACKOFF, deps.random);
    return { kind: 'later', writes, afterMs, condition: toCondition(context, 'NotApplied', error.message) };
  }
  if (mayBeTransient(error)) link.transientRefusals = (link.transientRefusals ?? 0) + 1;
  else delete link.transientRefusals;
  const verdict = judgeFailure(error, link.attempts, deps.random, link.transientRefusals);
  const mayBeProxy =
    verdict.kind === 'refused' && mayBeTransient(error) && !(await answersOtherwise(context, error));
  if (verdict.kind === 'refused' && !mayBeProxy) {
    const condition = toCondition(context, verdict.reason, verdict.message, verdict.status);
    const { failedWrite } = context;
    const write = failedWrite?.error === error ? TAKING.get(failedWrite.operation) : undefined;
    return { kind: 'blocked', writes, condition: { ...condition, ...(write && { write }) } };
  }
  const { afterMs, pauseMs } = verdict.kind === 'later' ? verdict : { afterMs: UNREACHABLE_MS, pauseMs: 0 };
  if (pauseMs > 0 && error instanceof PlatformResponse) {
    const { status, retryAfterMs } = error;
    // The pause after a 401 is the bridge's own choice (failures.ts), also with a Retry-After.
    await deps.target.budget.pause(pauseMs, { status, asked: status !== 401 && retryAfterMs !== undefined });
  }
  context.logger.warn(
    { ref: work.ref, attempt: link.attempts, afterMs, reason: verdict.message },
    'platform failed, trying again',
  );
  return { kind: 'later', writes, afterMs };
}
