// Finds what the adoption of a group means for its members: the sync that adopts the group adds only members whom the group
// lacks, and leaves the members whom the source does not have.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { fold, refOf, type Ref } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import { compareMembers } from './compare-members.ts';
import { usersToVerify } from './desired-users.ts';
import type { GroupCase, Member } from './group-case.ts';
import type { MemberChanges } from './made-changes.ts';
import type { ScanResult } from '../scope.ts';

/**
 * Returns the pending memberships that the sync still has to write: without those that the platform shows as done, and without
 * additions of accounts that the adopted group had before.
 * @param adopted the group that the sync adopts, with its members
 */
export function pendingWrites(
  { pending, pendingDone }: MemberChanges,
  {
    adopted,
    signs,
    policy,
  }: { adopted: WireGroup | undefined; signs: ReadonlyMap<string, string>; policy: string },
): GroupCase['pending'] {
  // An unmanaged member has the ref null, which this set never contains.
  const done = new Set<Ref | null>(pendingDone);
  // The sync of an adopted group adds only members whom the group lacks, but all members if it removes some first.
  const isRemoving = policy === 'sync' && [...signs.values()].includes(MEMBERSHIP_SIGN.toRemove);
  const membersBefore = new Set(isRemoving ? [] : adopted?.members?.map(({ value }) => value));
  return pending.filter(({ member: { ref, platformId }, sign }) => {
    const isMemberBefore = platformId !== null && membersBefore.has(platformId);
    const isAddedBefore = sign === MEMBERSHIP_SIGN.toAdd && isMemberBefore;
    return !done.has(ref) && !isAddedBefore;
  });
}

/**
 * Returns the members of a group that is to be adopted whom the source does not have. If the source has a member without account,
 * an account of that member's name is left out: the sync of the member adopts it. `unknown`: the platform could not be read.
 */
export async function surplusAtAdoption(
  scan: ScanResult,
  id: string,
  { adopted, signs }: { adopted: WireGroup | undefined; signs: Map<string, string> },
): Promise<Member[] | 'unknown'> {
  if (!adopted) return [];
  const sourceMembers = await scan.scope.drifts.membersOf(id);
  const differing = await compareMembers(scan, adopted, sourceMembers, signs);
  if (differing === 'unknown') return 'unknown';
  if (differing.surplus.length === 0) return [];
  const unlinked = sourceMembers.flatMap(({ user, link }) =>
    link.id === undefined ? [{ ref: refOf('User', user) }] : [],
  );
  const wanted = [...(await usersToVerify(scan.scope, unlinked)).values()].map((each) => each.wanted);
  const names = new Set(
    wanted.flatMap(({ inScope, core }) => (inScope ? [fold(String(core.userName))] : [])),
  );
  return differing.surplus.filter(
    ({ ref, name, isKept }) => !isKept && (ref !== null || !names.has(fold(name))),
  );
}
