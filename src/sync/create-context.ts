// Creates the context of one sync: how it saves its link, sends each write under the lease, and logs it. context.ts describes each
// function for its callers.
import { MEMBERSHIP_SIGN } from '../directory/outbox/pending-memberships.ts';
import { takeObserved } from '../directory/outbox/link.ts';
import { LeaseLost } from '../directory/outbox/work.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import { NO_REQUEST } from '../directory/records.ts';
import { PlatformError } from '../platform/errors.ts';
import type { SyncContext } from './context.ts';
import { outcomeOfFailure } from './calls/failures.ts';
import { openGate } from './gate.ts';
import { namePathOf } from './names/name-circle.ts';
import { WriteIgnored } from './outcome.ts';
import { createProvisioningWriter } from './provisioning-writer.ts';

/** Outcome of a write for the metrics. `failed`: a retry may succeed; `refused`: it will not. */
export type WriteOutcome = 'applied' | 'refused' | 'failed';

export interface ContextDeps extends Pick<
  SyncContext,
  'target' | 'directory' | 'outbox' | 'links' | 'clock' | 'logger'
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
      // An urgent call does not wait for a slot (target-calls.ts).
      ...(work.priority === 'deactivation' && { urgent: true }),
      ...(work.request === NO_REQUEST ? {} : { correlationId: work.request }),
    },
    writes: 0,
    save: async (options = {}) => {
      const renewedAt = clock.now();
      if (options.linked) delete context.link.mayExist;
      provisioning.append();
      const linkEntries = options.linked ? provisioning.linked() : [];
      await outbox.save(work, context.link, { ...options, linkEntries });
      lease.heldUntil = renewedAt + outbox.leaseMs;
      // `save` has changed the stored pending memberships in the same way. `+`: to be added.
      if (options.isNew) work.pendingGroups.clear();
      if (options.rewriteMemberships)
        for (const group of work.groups) work.pendingGroups.set(group.id, MEMBERSHIP_SIGN.toAdd);
      // Removals that were unconfirmed, or that a former user of the account had, are pending now.
      if (options.linked && !options.isNew && work.kind === 'User')
        for (const group of await outbox.pendingRemovals(work.id))
          work.pendingGroups.set(group, MEMBERSHIP_SIGN.toRemove);
    },
    attempt: async (names, operation, run, { why, ignoredText } = {}) => {
      const { unsure: before = [], observed } = context.link;
      const setUnsure = (unsure: string[]): void => {
        if (unsure.length > 0) context.link.unsure = unsure;
        else delete context.link.unsure;
      };
      context.link.unsure = [...new Set([...before, ...names])];
      if (names.includes('userName')) {
        delete context.shownAccount;
        context.link.renamedAt = clock.now();
      }
      // Once the write is sent, observed values from before it are out of date, even if no answer arrives.
      const observedBefore = takeObserved(context.link, names);
      await context.save();
      let isAnswered = false;
      try {
        let ignored: string | undefined;
        const result = await context.write(operation, run, async (answer) => {
          isAnswered = true;
          ignored = await ignoredText?.(answer);
          return ignored === undefined ? { names, observed: observedBefore, ...(why && { why }) } : 'ignored';
        });
        if (ignored !== undefined) throw new WriteIgnored(ignored);
        if (names.includes(namePathOf(work.kind))) context.hasWrittenName = true;
        setUnsure(before.filter((name) => !names.includes(name)));
        return result;
      } catch (error) {
        const { failedWrite } = context;
        if (failedWrite && failedWrite.error === error) failedWrite.names = names;
        // A refused write changed nothing; values that were unsure before stay unsure. An error after the answer is about a
        // later read, and not about the write.
        if (!isAnswered && error instanceof PlatformError && !error.mayHaveCommitted) {
          setUnsure(before);
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
      const logged = typeof detail === 'function' ? await detail(result) : detail;
      const line = { ref: work.ref, operation, durationMs };
      if (logged === 'ignored') {
        provisioning.ignored(operation);
        deps.onWrite?.(operation, 'failed');
        logger.warn(line, 'the platform answered success and did not carry out the write');
        return result;
      }
      provisioning.wrote(operation, durationMs, logged);
      deps.onWrite?.(operation, 'applied');
      logger.info(line, 'applied');
      return result;
    },
  };
  return context;
}
