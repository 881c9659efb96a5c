// Finds the people of whom a pending removal from a group is stopped: the guard holds it, or the last sync of the group was
// refused. Meanwhile their additions to other groups and their attribute values wait (waiting-for-decision.ts).
import { parseLink } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { removal } from '../../sync/names/succession.ts';
import type { ReconcileScope } from '../scope.ts';
import { keptBySettings } from './left-by-settings.ts';

/**
 * Why nothing writes a pending removal of a person from a group, for which other changes of the person wait: the guard holds the
 * removal, or the last sync of the group was refused.
 */
export type RemovalStop = 'heldRemoval' | 'refusedRemoval';

/** Number of resources that are read from Redis at once. */
export const REFS_AT_ONCE = 1000;

/**
 * Returns the users with a pending removal from a group that is stopped, and the cause; a held removal counts before a refused one.
 * A removal that the present settings do not want does not count.
 * @param recreated groups that are created again; removals from the former groups end, so they are not looked up
 */
export async function removalStops(
  scope: Pick<ReconcileScope, 'outbox' | 'drifts' | 'directory' | 'target'>,
  users: readonly Ref[],
  recreated: ReadonlySet<Ref | null> = new Set(),
): Promise<Map<Ref, RemovalStop>> {
  const { drifts, outbox } = scope;
  const stops = new Map<Ref, RemovalStop>();
  const all = [...new Set(users)];
  if (all.length === 0) return stops;
  // Usually nothing is stopped: no approval is open, so nothing is held, and no group was refused. A refused group is a dead letter
  // (`blocked`), or a former one that an operator dropped, whose link keeps the refusal. The check saves many reads in a first
  // load.
  const [approval, { exceptions }, blocked] = await Promise.all([
    outbox.guardStore.open(),
    outbox.backlog(),
    outbox.blocked(),
  ]);
  const isGroupBlocked = blocked.some(({ ref }) => ref.startsWith('Group:'));
  if (approval === undefined && !isGroupBlocked && exceptions.Dropped === 0) return stops;
  for (const portion of inPortions(all, REFS_AT_ONCE)) {
    const groups = await Promise.all(portion.map((ref) => outbox.pendingRemovals(parseRef(ref).id)));
    const removals = portion.flatMap((ref, index) =>
      (groups[index] ?? []).map((group) => ({ ref, item: removal(group, parseRef(ref).id) })),
    );
    const from = [...new Set(removals.map(({ item }) => item.ref))].filter((group) => !recreated.has(group));
    const [verdicts, groupLinks, unwanted] = await Promise.all([
      outbox.guardStore.verdictsOn(removals.map(({ item }) => item)),
      drifts.readLinks(from),
      keptBySettings(scope, from),
    ]);
    const byGroup = new Map(
      groupLinks.filter(({ ref }) => !unwanted.has(ref)).map((each) => [each.ref, each]),
    );
    for (const [index, { ref, item }] of removals.entries()) {
      const group = byGroup.get(item.ref);
      if (group === undefined) continue;
      if (verdicts[index] === 'held') stops.set(ref, 'heldRemoval');
      // With a mark the group is synced again, so the earlier refusal does not count.
      else if (refusalOf(parseLink(group.text), group.marked) && !stops.has(ref))
        stops.set(ref, 'refusedRemoval');
    }
  }
  return stops;
}
