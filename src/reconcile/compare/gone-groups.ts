// Compares the memberships of one user in groups at the source that the platform no longer has. The sync of such a group makes
// the group anew, or links it to another group of the name, and adds the members.
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import { counted } from '../../support/counted.ts';
import { isChange, leftBy, type PlanEntry } from '../entry.ts';
import {
  READ_AT_ONCE,
  readLinksOf,
  readMembership,
  type ComparedUser,
  type GroupAtSource,
} from './group-reads.ts';
import { WAITS_FOR_GROUP } from './group-case.ts';
import { comparedGroups } from './group-names.ts';
import { managedEntries } from './membership-entries.ts';
import { isProtected, protectionAt } from './protected.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';

/**
 * Returns the entries about groups that the platform no longer has, and about the user's membership in each.
 * - A group is made anew, linked to another group of its name (`relink`), or has a conflict.
 * - The membership is written by the sync of the group (`follows`). It has no entry if the user is in the other group already. Its
 *   entry is only reported if the group has a conflict, or if the policy leaves the group.
 * @returns entries of the groups, then of the memberships; `linkedIds`: platform ids of the groups that are linked by `relink`
 */
export async function membershipsOfGoneGroups(
  scan: ScanResult,
  user: ComparedUser,
  atSource: readonly GroupAtSource[],
): Promise<{ entries: PlanEntry[]; linkedIds: ReadonlySet<string> }> {
  const gone = await readLinksOf(scan.scope, atSource, 'noGroup');
  const refs = gone.map(({ ref }) => ref);
  const ofGroups = (await comparedGroups(scan, refs)).flatMap(({ entries }) => entries.filter(isAboutGroup));
  const linked = ofGroups.filter((entry) => entry.action === 'relink' && isChange(entry));
  const present = new Set<Ref | null>();
  for (const { ref, after } of linked) {
    const id = String(after?.id);
    const isNamed = user.memberOf.some((group) => group.id === id);
    if (isNamed || (await readMembership(scan, id, user)).state === 'member') present.add(ref);
  }
  const lacking = gone.filter(({ ref }) => !present.has(ref));
  const memberships = await managedEntries(scan, lacking, 'missing', user);
  // The policy `create-only` makes no group anew.
  const left = `member at the source; the group is gone at the platform${leftBy(scan.scope.target.policy)}`;
  const added = await mapBounded(memberships, READ_AT_ONCE, async (entry): Promise<PlanEntry> => {
    const follower = { ...entry, ...(entry.ref && { follows: entry.ref }) };
    const action = ofGroups.find(({ ref }) => ref === entry.ref)?.action;
    if (action === 'conflict')
      return { ...follower, effect: 'report', reason: `member at the source${WAITS_FOR_GROUP}` };
    if (!isChange(entry)) return { ...entry, reason: left };
    const how = action === 'relink' ? 'linked anew' : `made with ${await membersMade(scan.scope, entry)}`;
    return { ...follower, reason: `member at the source; the group is ${how}` };
  });
  const linkedIds = new Set(linked.map(({ after }) => String(after?.id)));
  return { entries: [...ofGroups, ...added], linkedIds };
}

/**
 * Returns words for the members that a group gets when its sync makes it anew: those with an account who are neither departed nor
 * protected, and whose last sync was not refused.
 */
async function membersMade({ drifts, target }: ReconcileScope, { ref }: PlanEntry): Promise<string> {
  const members = ref === null ? [] : await drifts.membersOf(parseRef(ref).id);
  const written = members.filter(
    ({ link }) =>
      link.id !== undefined && !link.departed && !refusalOf(link) && !isProtected(link, protectionAt(target)),
  );
  return written.length === 1 ? 'this member' : `all its ${counted(written.length, 'member')}`;
}

/** Returns whether the entry is about the group itself, and not about a member. */
const isAboutGroup = ({ member }: PlanEntry): boolean => member === undefined;
