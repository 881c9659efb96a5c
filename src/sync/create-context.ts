// Creates the context of one sync: how it saves its link, sends each write under the lease, and logs it. context.ts describes each
// function for its callers.
import { MEMBERSHIP_SIGN } from '../directory/outbox/pending-memberships.ts';
import { takeObserved, type Link } from '../directory/outbox/link.ts';
import { LeaseLost, type SaveOptions } from '../directory/outbox/work.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import { NO_REQUEST } from '../directory/records.ts';
import { PlatformError } from '../platform/errors.ts';
import type { SyncContext } from './context.ts';
import { outcomeOfFailure } from './calls/failures.ts';
import { openGate } from './gate.ts';
import { WriteIgnored } from './outcome.ts';
import { createProvisioningWriter } from './provisioning-writer.ts';
import { namePathOf } from './diff.ts';

/** Outcome of a write for the metrics. `failed`: a retry may succeed; `refused`: it will not. */
export type WriteOutcome = 'applied' | 'refused' | 'failed';

export interface ContextDeps extends Pick<
  SyncContext,
  'target' | 'directory' | 'outbox' | 'links' | 'handovers' | 'clock' | 'logger'
> {
  /** Called for every write, such as `activate user`. */
  onWrite?: ((operation: string, outcome: WriteOutcome) => void) | undefined;
}

/** The right of this process to write the resource. */
export interface Lease {
  /** True: a save found that the lease is gone: another worker has it, or the target was put on hold. */
  lost: boolean;
  /** Time at which the lease expires unless a save extends it, Unix milliseconds. */
  heldUntil: number;
}

/** Creates the context of a sync, which writes only while `lease` holds. Each save extends the lease. */
export function createContext(
  deps: ContextDeps,
  work: DueWork,
  signal: AbortSignal,
  lease: Lease,
): SyncContext {
  const { outbox, target, links, handovers, clock, directory, onWrite } = deps;
  const context: SyncContext = {
    work,
    link: work.link,
    target,
    outbox,
    links,
    handovers,
    directory,
    clock,
    logger: deps.logger.child({ target: target.name, request: work.request }),
    gate: openGate(),
    provisioning: createProvisioningWriter(work, target.policy.policy),
    call: {
      signal,
      // A call may wait long for its turn: for a slot, the rate limit, a pause of all calls, or the breaker.
      beforeWrite: () => checkLease(work, lease, clock),
      // An urgent call does not wait for a slot (`gate` in target.ts).
      ...(work.priority === 'deactivation' && { urgent: true }),
      ...(work.request === NO_REQUEST ? {} : { correlationId: work.request }),
    },
    writes: 0,
    save: (options = {}) => saveLink(context, lease, options),
    attempt: (names, operation, run, options = {}) => attemptWrite(context, names, operation, run, options),
    write: (operation, run, detail) => sendWrite(context, { lease, onWrite }, operation, run, detail),
  };
  return context;
}

/** Implements `SyncContext.save`. */
async function saveLink(
  { clock, link, outbox, provisioning, work }: SyncContext,
  lease: Lease,
  options: SaveOptions,
): Promise<void> {
  const renewedAt = clock.now();
  if (options.linked) delete link.mayExist;
  provisioning.append();
  const linkEntries = options.linked ? provisioning.linked() : [];
  await outbox.save(work, link, { ...options, linkEntries });
  lease.heldUntil = renewedAt + outbox.leaseMs;
  // Makes the changes to `work.pendingGroups` that `outbox.save` made to the stored pending memberships.
  if (options.isNew) work.pendingGroups.clear();
  if (options.rewriteMemberships)
    for (const group of work.groups) work.pendingGroups.set(group.id, MEMBERSHIP_SIGN.toAdd);
  // A new link makes removals pending (save_link.lua): unconfirmed ones, and those of the account's former user.
  if (options.linked && !options.isNew && work.kind === 'User')
    for (const group of await outbox.pendingRemovals(work.id))
      work.pendingGroups.set(group, MEMBERSHIP_SIGN.toRemove);
}

/** Implements `SyncContext.attempt`: notes the names as unsure, sends the write, and judges by its end which names stay unsure. */
async function attemptWrite<T>(
  context: SyncContext,
  names: string[],
  operation: string,
  run: () => Promise<T>,
  { why, ignoredText }: NonNullable<Parameters<typeof context.attempt<T>>[3]>,
): Promise<T> {
  const { link, work } = context;
  // The state before the attempt, to which a refusal returns.
  const { unsure: unsureBefore = [], observed: observedBefore } = link;
  setUnsure(link, [...new Set([...unsureBefore, ...names])]);
  if (names.includes('userName')) {
    delete context.shownAccount;
    link.renamedAt = context.clock.now();
  }
  // Once the write is sent, observed values from before it are out of date, even if no answer arrives.
  const observed = takeObserved(link, names);
  await context.save();
  let isAnswered = false;
  try {
    let ignored: string | undefined;
    const result = await context.write(operation, run, async (answer) => {
      isAnswered = true;
      ignored = await ignoredText?.(answer);
      return ignored === undefined ? { names, observed, ...(why && { why }) } : 'ignored';
    });
    if (ignored !== undefined) throw new WriteIgnored(ignored);
    if (names.includes(namePathOf(work.kind))) context.hasWrittenName = true;
    const isUnsureStill = (name: string): boolean => !names.includes(name);
    setUnsure(link, unsureBefore.filter(isUnsureStill));
    return result;
  } catch (error) {
    const { failedWrite } = context;
    if (failedWrite && failedWrite.error === error) failedWrite.names = names;
    // A refused write changed nothing; values that were unsure before stay unsure. An error after the answer is about a
    // later read, and not about the write.
    const isRefused = !isAnswered && error instanceof PlatformError && !error.mayHaveCommitted;
    if (isRefused) {
      setUnsure(link, unsureBefore);
      if (observedBefore) link.observed = observedBefore;
    }
    throw error;
  }
}

/** Stores the names of unsure values in the link, which has no empty list. */
function setUnsure(link: Link, names: string[]): void {
  if (names.length > 0) link.unsure = names;
  else delete link.unsure;
}

/**
 * Returns if the process still has the lease. A process that was suspended meanwhile notices by `heldUntil` that another one may
 * have the lease.
 * @throws LeaseLost
 */
function checkLease({ ref }: DueWork, lease: Lease, clock: ContextDeps['clock']): void {
  if (lease.lost || clock.now() >= lease.heldUntil) throw new LeaseLost(`lost the lease of ${ref}`);
}

/** Implements `SyncContext.write`: sends the write under the lease, then logs and counts its end. */
async function sendWrite<T>(
  context: SyncContext,
  { lease, onWrite }: { lease: Lease; onWrite: ContextDeps['onWrite'] },
  operation: string,
  run: () => Promise<T>,
  detail: Parameters<typeof context.write<T>>[2],
): Promise<T> {
  const { call, clock, link, logger, provisioning, work } = context;
  call.signal.throwIfAborted();
  checkLease(work, lease, clock);
  const startedAt = clock.now();
  const result = await run().catch((error: unknown) => {
    provisioning.failed(operation, error);
    context.failedWrite = { operation, error };
    if (error instanceof PlatformError) onWrite?.(operation, outcomeOfFailure(error));
    throw error;
  });
  const durationMs = clock.now() - startedAt;
  context.writes++;
  link.writtenAt = clock.now();
  const logged = typeof detail === 'function' ? await detail(result) : detail;
  const line = { ref: work.ref, operation, durationMs };
  if (logged === 'ignored') {
    provisioning.ignored(operation);
    onWrite?.(operation, 'failed');
    logger.warn(line, 'the platform answered success and did not carry out the write');
    return result;
  }
  provisioning.wrote(operation, durationMs, logged);
  onWrite?.(operation, 'applied');
  logger.info(line, 'applied');
  return result;
}
