// Makes the plan entries about the memberships of one user: in groups that the bridge manages, by the comparison of such a group
// (plan-groups.ts), and in groups that it leaves alone.
import { hashOfLink, type ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { nameInRecord, parseRef, type Ref } from '../../directory/records.ts';
import { leftBy, NO_BASIS, ONLY_TOLD, MEMBER_REMOVED, type PlanEntry } from '../entry.ts';
import type { ComparedUser } from './group-reads.ts';
import type { Member } from './group-case.ts';
import { groupEntries } from './plan-groups.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import type { GroupOfAccount } from './verified.ts';

/** Reason of an entry for a group that the settings exclude: the bridge no longer changes it, and its memberships stay. */
export const LEFT_OUT = 'groups.include or groups.exclude leave this group out';

/**
 * Returns the entries about this user that a comparison of each whole group would contain.
 * @param links stored links of the groups; undefined ones are left out
 * @param side whether the user is missing in these groups, or surplus there
 */
export async function managedEntries(
  { scope }: Pick<ScanResult, 'scope'>,
  links: readonly (ObservedResource | undefined)[],
  side: 'missing' | 'surplus',
  { ref: user, link, unconfirmed }: Pick<ComparedUser, 'ref' | 'link' | 'unconfirmed'>,
): Promise<PlanEntry[]> {
  const groups = links.filter((each) => each !== undefined);
  // Infinity, unless the target was out of the settings: changes of the source since then may be unwritten.
  const unwrittenSince = await scope.runs.unwrittenSince();
  const ids = groups.map(({ ref }) => parseRef(ref).id);
  const records = new Map((await scope.directory.getMany('Group', ids)).map((each) => [each.id, each]));
  const unsent = new Set(await scope.outbox.unsentGroups(parseRef(user).id, ids));
  const member = { ref: user, platformId: link.id ?? null, name: String(link.core?.userName ?? '') };
  const isSurplus = side === 'surplus';
  return groups.flatMap(({ ref, text, marked }) => {
    const record = records.get(parseRef(ref).id);
    const group = parseLink(text);
    // The source deleted the group, so only a membership that the platform still has is a difference.
    if (!record) return isSurplus ? [inDeletedGroup(scope, { ref, link: group, member })] : [];
    const displayName = nameInRecord(record);
    // A damaged record does not show whether the user is a member.
    if (displayName === undefined) return [];
    const name = scope.target.mapping.groupName(displayName);
    // The settings leave the group out.
    if (name === undefined) {
      const known = { id: group.id ?? '', name: String(group.core?.displayName ?? displayName) };
      return isSurplus ? [unmanagedEntry(user, known, LEFT_OUT)] : [];
    }
    const entries = groupEntries(
      {
        ref,
        link: group,
        basis: { version: record.version, link: hashOfLink(text) },
        marked,
        isLost: record.lastModified > unwrittenSince,
        needsMemberReview: false,
        isDeleted: false,
        wantedName: name,
        unconfirmed: new Set(unconfirmed.has(parseRef(ref).id) ? [parseRef(user).id] : []),
        unsent: new Set(unsent.has(parseRef(ref).id) ? [parseRef(user).id] : []),
        pending: [],
        // The desired name is passed as the observed one too, so that only memberships can differ.
        observed: { id: group.id ?? '', displayName: name },
        members: { missing: [], surplus: [], [side]: [member] },
      },
      { policy: scope.target.policy, now: scope.clock.now() },
    );
    return entries.filter((entry) => entry.member);
  });
}

/** Returns an entry for the membership in a group that was deleted at the source and that the policy leaves. */
const inDeletedGroup = (
  { target }: ReconcileScope,
  { ref, link, member }: { ref: Ref; link: Link; member: Member },
): PlanEntry => ({
  ...MEMBER_REMOVED,
  kind: 'Group',
  ref,
  platformId: link.id ?? null,
  name: String(link.core?.displayName ?? ref),
  member,
  effect: 'report',
  reason: `the group was deleted at the source${leftBy(target.policy)}`,
  attribution: { cause: 'source changed' },
  basis: NO_BASIS,
});

/**
 * Returns an entry for an unmanaged group, which gives the person access too. `withNames` replaces the empty name of the member.
 */
export const unmanagedEntry = (ref: Ref, { id, name }: GroupOfAccount, reason: string): PlanEntry => ({
  ...ONLY_TOLD,
  ...{ action: 'unmanaged', kind: 'Group', ref: null, platformId: id, name },
  member: { ref, platformId: null, name: '' },
  before: { member: true },
  after: { member: true },
  reason,
});
