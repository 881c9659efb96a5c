// Runs the sync of a resource again and again, until it has ended or cannot go on.
import { refOf, type Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { syncResource } from '../../sync/sync-resource.ts';
import type { Logger } from '../../support/logger.ts';
import { stopText } from './sync-stops.ts';

/**
 * Runs the sync, and the syncs of groups that it waits for, until no mark is left, the rest waits for a decision, the target is on
 * hold or at a new address, or `signal` aborts.
 * @param onRound called after each round of syncs
 * @param holders people to sync too, because their accounts have the userName of this person at the platform
 */
export async function syncNow(
  scope: ReconcileScope,
  ref: Ref,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
  onRound: () => Promise<void>,
  holders: readonly Ref[] = [],
): Promise<void> {
  const { clock, outbox } = scope;
  const syncOnce = (each: Ref): Promise<void> => syncResource({ ...scope, logger }, each, 'edit', signal);
  /** Returns the groups with a pending membership of a person; none for a group. */
  const groupsIn = (pending: ReadonlyMap<string, unknown>): Ref[] =>
    ref.startsWith('User:') ? [...pending.keys()].map((id) => refOf('Group', id)) : [];
  while (!signal.aborted) {
    const before = await outbox.resourceStatus(ref);
    await syncOnce(ref);
    for (const group of groupsIn(before.pendingMemberships)) await syncOnce(group);
    for (const holder of holders) await syncOnce(holder);
    await onRound();
    const after = await outbox.resourceStatus(ref);
    const waitedFor =
      after.mark ?? (await firstUnheldMarkOf(scope, [...groupsIn(after.pendingMemberships), ...holders]));
    // Behind a held change: the mark waits for a decision.
    if (!waitedFor || waitedFor.isBehindHeld || (await stopText(scope)) !== undefined) return;
    const untilDue = waitedFor.dueAt === null ? 0 : waitedFor.dueAt - clock.now();
    await clock.sleep(Math.max(POLL_MS, untilDue), signal);
  }
}

/** Shortest wait before the next sync of a resource that is not at its end. */
const POLL_MS = 100;

/** Returns the first mark that waits for no decision; null: there is none. */
async function firstUnheldMarkOf({ outbox }: ReconcileScope, refs: readonly Ref[]) {
  for (const ref of refs) {
    const { mark } = await outbox.resourceStatus(ref);
    if (mark && !mark.isBehindHeld) return mark;
  }
  return null;
}
