// Runs the sync of a resource again and again, until it has ended or cannot go on.
import { refOf, type Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { syncResource } from '../../sync/sync-resource.ts';
import type { Logger } from '../../support/logger.ts';

/**
 * Runs the sync, and the syncs of groups that it waits for, until no mark is left, the rest waits for a decision, or the time is over.
 * @param holders people whose accounts have the userName, and are synced too
 */
export async function syncNow(
  scope: ReconcileScope,
  ref: Ref,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
  onRound: () => Promise<void>,
  holders: readonly Ref[] = [],
): Promise<void> {
  const { clock, outbox } = scope;
  const deps = { ...scope, logger };
  while (!signal.aborted) {
    const { pendingMemberships } = await outbox.resourceStatus(ref);
    await syncResource(deps, ref, 'edit', signal);
    if (ref.startsWith('User:'))
      for (const group of pendingMemberships.keys())
        await syncResource(deps, refOf('Group', group), 'edit', signal);
    for (const holder of holders) await syncResource(deps, holder, 'edit', signal);
    await onRound();
    const { mark, pendingMemberships: left } = await outbox.resourceStatus(ref);
    const groups = ref.startsWith('User:') ? [...left.keys()].map((id) => refOf('Group', id)) : [];
    const waitedFor = mark ?? (await firstMarkOf(scope, [...groups, ...holders]));
    if (!waitedFor || mark?.isBehindHeld || (await outbox.guardStore.onHold())) return;
    const untilDue = waitedFor.dueAt === null ? 0 : waitedFor.dueAt - clock.now();
    await clock.sleep(Math.max(POLL_MS, untilDue), signal);
  }
}

/** Shortest wait before the next sync of a resource that is not at its end. */
const POLL_MS = 100;

/** Returns the mark of the first marked resource; null: there is none. */
async function firstMarkOf({ outbox }: ReconcileScope, refs: readonly Ref[]) {
  for (const ref of refs) {
    const { mark } = await outbox.resourceStatus(ref);
    if (mark) return mark;
  }
  return null;
}
