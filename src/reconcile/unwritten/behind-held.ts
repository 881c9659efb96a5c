// Finds the changes of resources that wait for a name or account which another resource still has: the guard holds the change by
// which the other resource would give it up.
import { parseLink } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import { wasBehindHold } from '../../sync/gate.ts';
import { isChange, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Returns the pending changes of resources whose last sync ended because the guard holds the change of the resource that has their
 * name or account. Their mark stays, so a sync writes them after the decision. A resource that is not linked yet waits with all its
 * changes, also its memberships; a linked one with its new name and the changes that are written after it.
 */
export async function behindHeld(
  { outbox, drifts }: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  entries: readonly PlanEntry[],
): Promise<PlanEntry[]> {
  const pending = entries.flatMap((entry) => {
    const refs = [entry.ref, entry.member?.ref].flatMap((ref) => ref ?? []);
    return isChange(entry) && entry.attribution.cause === 'source changed' ? [{ entry, refs }] : [];
  });
  const asked = [...new Set(pending.flatMap(({ refs }) => refs))];
  if (asked.length === 0 || (await outbox.guardStore.open()) === undefined) return [];
  const behind = new Map<Ref, 'new' | 'linked'>();
  for (const { ref, text, marked } of await drifts.readLinks(asked)) {
    const link = parseLink(text);
    if (marked && wasBehindHold(link)) behind.set(ref, link.id === undefined ? 'new' : 'linked');
  }
  return pending.flatMap(({ entry, refs }) => {
    const waits =
      refs.some((ref) => behind.get(ref) === 'new') ||
      (entry.ref !== null && behind.get(entry.ref) === 'linked' && isBehindName(entry));
    return waits ? [entry] : [];
  });
}

/** Returns whether the sync of a linked resource writes the change with the new name or after it (sync-user.ts, sync-group.ts). */
const isBehindName = ({ action, kind }: PlanEntry): boolean =>
  action === 'update' || action === (kind === 'User' ? 'reactivate' : 'addMember');
