// Finds the additions to groups that the sync of the group leaves out, because the sync of the member comes first.
import { parseRef, type Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { isChange, NEWLY_LINKED, reportedAs, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { REFS_AT_ONCE } from './removal-stops.ts';

/**
 * Returns the entries of one group; an addition that the sync of the group does not write gets the effect `report`, with the
 * command that writes the addition. The added member is not ready (`outbox.readiness`), and has a mark or first has to leave
 * another group, which the member's sync does.
 * @param entries also those of the members whose account the command makes anew: the additions of these members are written
 */
export async function withUnreadyMembersReported(
  { outbox }: Pick<ReconcileScope, 'outbox'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  const anew = new Set(entries.flatMap(({ action, ref }) => (NEWLY_LINKED.has(action) ? [ref] : [])));
  const addedIn = (entry: PlanEntry): Ref | undefined =>
    entry.action === 'addMember' && isChange(entry) && entry.member?.ref && !anew.has(entry.member.ref)
      ? entry.member.ref
      : undefined;
  const users = [...new Set(entries.flatMap((entry) => addedIn(entry) ?? []))].map((ref) => parseRef(ref).id);
  const unready = new Set<string>();
  for (const portion of inPortions(users, REFS_AT_ONCE))
    for (const { user, ready, underWay } of await outbox.readiness(portion))
      if (!ready && (underWay || (await outbox.pendingRemovals(user)).length > 0)) unready.add(user);
  return entries.map((entry) => {
    const member = addedIn(entry);
    if (member === undefined || !unready.has(parseRef(member).id)) return entry;
    return reportedAs(entry, `; waits for the sync of the member: scim-bridge sync ${member}`);
  });
}
