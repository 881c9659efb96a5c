// Compares one user or group with the platform; writes nothing.
import { parseRef, refOf, type Ref } from '../directory/records.ts';
import type { PlanEntry } from './entry.ts';
import { NEWLY_LINKED, withFollowers } from './followers.ts';
import { createNarrowScan } from './narrow-scan.ts';
import type { ReconcileScope, ScanResult } from './scope.ts';
import { verifyGroups } from './verify-groups.ts';
import { verifyUsers, type GroupOfAccount } from './verify-users.ts';

/**
 * @param members whether the members of a group are compared too
 * @returns the differences; null when the platform could not be read
 */
export async function compareOne(
  scope: ReconcileScope,
  ref: Ref,
  { signal, members = true }: { signal: AbortSignal; members?: boolean },
): Promise<PlanEntry[] | null> {
  const scan = createNarrowScan(scope, signal);
  const verified = ref.startsWith('User:')
    ? await verifyUsers(scan, [ref], { withValues: () => true })
    : await verifyGroups(scan, [ref], { withMembers: () => members });
  const [first] = verified;
  if (!first) return null;
  const entries = await withFollowers(scan, first.entries, verified);
  // The memberships of an account that is linked anew, or comes back, follow from that.
  const isLinked = entries.every(({ action }) => !NEWLY_LINKED.has(action)) && first.isReturning !== true;
  const memberships = isLinked ? await membershipsOf(scan, ref, first.memberOf ?? []) : [];
  return memberships && [...entries, ...memberships];
}

/** Number of groups that are read again, because the account shows another membership than its record. */
const MOST_GROUPS = 20;

/**
 * Returns the differences of a user's memberships. The account names its groups; only those that differ are read.
 * @param memberOf the groups that the account names; a platform may leave out an empty list
 * @returns null when such a group could not be read
 */
async function membershipsOf(
  scan: ScanResult,
  ref: Ref,
  memberOf: readonly GroupOfAccount[],
): Promise<PlanEntry[] | null> {
  const { kind, id } = parseRef(ref);
  if (kind === 'Group') return [];
  const { directory, links, drifts, target } = scan.scope;
  const [joined = []] = await directory.groupsOf([id]);
  const wanted = joined.map((group) => refOf('Group', group.id));
  const known = await links.getMany(target.name, wanted);
  const isIn = new Set(memberOf.map((group) => group.id));
  const missing = wanted.filter((_, index) => {
    const link = known[index];
    return link?.id !== undefined && link.departed !== true && !isIn.has(link.id);
  });
  const ids = new Set(known.map((link) => link.id));
  const strange = memberOf.filter((group) => !ids.has(group.id));
  const linked = await drifts.counterparts(
    'Group',
    strange.map((group) => group.id),
  );
  const surplus = linked.flatMap((each) => (each ? [each.ref] : []));
  const suspects = [...missing, ...surplus].slice(0, MOST_GROUPS);
  const verified = await verifyGroups(scan, suspects, { withMembers: () => true });
  if (verified.length < suspects.length) return null;
  return [
    ...verified.flatMap(({ entries }) => entries.filter((entry) => isMembershipOf(entry, ref))),
    ...strange.filter((_, index) => !linked[index]).map((group) => membershipOfUnmanaged(ref, group)),
  ];
}

/** Pending memberships are no difference: their changes are on the way. */
const isMembershipOf = ({ member, attribution }: PlanEntry, ref: Ref): boolean =>
  member?.ref === ref && attribution.cause !== 'source changed';

/** A group that the bridge does not manage counts for what the person sees, too. */
const membershipOfUnmanaged = (ref: Ref, { id, name }: GroupOfAccount): PlanEntry => ({
  ...{ action: 'unmanaged', kind: 'Group', ref: null, platformId: id, name },
  member: { ref, platformId: null, name: '' },
  ...{ before: { member: true }, after: { member: true }, effect: 'report' },
  ...{ reason: 'the bridge does not manage this group', attribution: { cause: 'none' } },
  basis: { version: 0, link: '' },
});
