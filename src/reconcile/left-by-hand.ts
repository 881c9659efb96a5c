// Finds the groups that a person has left already at the platform, although the removal waits for a decision or was rejected.
import { isStoreFailure } from '../directory/redis/why-away.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import { compareOne } from './compare-one.ts';
import type { ReconcileScope } from './scope.ts';

/** Largest number of members of a group that are compared; a call returns 100 of them. */
export const COMPARED_MEMBERS = 1000;
/** Largest number of groups of one person whose members are read, to see whether somebody took the person out. */
const MOST_LEFT = 5;

/**
 * Returns those of the groups that the user is no longer in at the platform, or that the platform no longer has.
 * @param groups groups with a held or rejected removal of the user
 */
export async function groupsLeftByHand(
  scope: ReconcileScope,
  user: Ref,
  groups: readonly Ref[],
  signal: AbortSignal,
): Promise<Ref[]> {
  const { id } = parseRef(user);
  const left: Ref[] = [];
  try {
    for (const group of groups.slice(0, MOST_LEFT)) {
      const { users } = await scope.directory.membersOf(parseRef(group).id);
      // The members of such a large group are not compared.
      if (users.length > COMPARED_MEMBERS) continue;
      const { done, entries = [] } = (await compareOne(scope, group, { signal })) ?? {};
      const isGone = entries.some(({ action, ref }) => action === 'create' && ref === group);
      const own = (done?.items ?? []).filter(
        ({ kind, subject }) => kind === 'removeMembers' && subject === id,
      );
      const [verdict] = await scope.outbox.guardStore.verdictsOn(own);
      if (isGone || verdict) left.push(group);
    }
  } catch (error) {
    if (!signal.aborted && !isStoreFailure(error)) throw error;
  }
  return left;
}
