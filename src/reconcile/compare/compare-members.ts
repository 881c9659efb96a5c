// Compares the members of a group at the source with its member list at the platform. The list may be truncated. So for each member
// at the source that the list does not show, the account is read: if it names the group, the user is a member. If the account cannot
// be read, the user counts as missing in the group, because adding a member twice does no harm.
import { unmanagedName } from '../../directory/member-names.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { fold, parseRef, refOf } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import { mapBounded } from '../../support/bounded.ts';
import { namesGroup } from '../../sync/diff.ts';
import { usersToVerify } from './desired-users.ts';
import { isProtected, protectionAt, type Protection } from './protected.ts';
import type { Member, MemberDifferences, SurplusMember } from './group-case.ts';
import { MEMBER_READS_AT_ONCE, readMemberAccounts, userNameInLink } from './member-accounts.ts';
import { unmanagedMember } from './unmanaged-member.ts';
import type { ScanResult } from '../scope.ts';

/**
 * Returns missing and surplus members without pending ones and protected users. A member whom the platform shows without a name
 * has ''. An account that is kept is left out if a member at the source has its userName.
 * `unknown`: a member may be the owner of the API key, whom the platform did not name.
 * @param sourceMembers the members at the source with their links
 * @param signs pending memberships: user id, or `@<platform id>` of an unmanaged member, to sign
 */
export async function compareMembers(
  scan: ScanResult,
  group: WireGroup,
  sourceMembers: { user: string; link: Link }[],
  signs: Map<string, string>,
): Promise<MemberDifferences | 'unknown'> {
  const listed = new Map((group.members ?? []).map((member) => [member.value, member.display ?? '']));
  const protection = protectionAt(scan.scope.target);
  /** Platform ids of all members at the source. */
  const expected = new Set<string>();
  /** Members at the source whom the list does not show. */
  const unlisted: Member[] = [];
  for (const { user, link } of sourceMembers) {
    // A user without account is no member at the platform.
    if (link.id === undefined) continue;
    expected.add(link.id);
    // A departed or protected user need not be a member, and a pending membership is no drift.
    const isDue = !link.departed && !isProtected(link, protection) && !signs.has(user);
    if (isDue && !listed.has(link.id))
      unlisted.push({ ref: refOf('User', user), platformId: link.id, name: userNameInLink(link) });
  }
  const accounts = await readMemberAccounts(scan, unlisted);
  const unexpected = [...listed].filter(([id]) => !expected.has(id) && !signs.has(unmanagedName(id)));
  const surplus = await surplusMembers(scan, unexpected, { signs, protection });
  if (surplus === 'unknown') return 'unknown';
  const pushedNames = surplus.some(({ isKept }) => isKept)
    ? await namesOfUnlinked(scan, sourceMembers)
    : new Set<string>();
  const isAtSource = ({ isKept, name }: SurplusMember): boolean => !!isKept && pushedNames.has(fold(name));
  const isMissing = (_: Member, index: number): boolean => {
    const account = accounts[index];
    return typeof account !== 'object' || !namesGroup(account, group.id);
  };
  const gone = unlisted.filter((_, index) => accounts[index] === 'absent').map(({ ref }) => ref);
  return {
    missing: unlisted.filter(isMissing),
    gone: new Set(gone),
    surplus: surplus.filter((each) => !isAtSource(each)),
  };
}

/** Returns the folded userNames of the members at the source who have no account: a protected person is never linked to one. */
async function namesOfUnlinked(
  { scope }: ScanResult,
  sourceMembers: readonly { user: string; link: Link }[],
): Promise<Set<string>> {
  const unlinked = sourceMembers.flatMap(({ user, link }) =>
    link.id === undefined ? [{ ref: refOf('User', user) }] : [],
  );
  const found = await usersToVerify(scope, unlinked);
  return new Set([...found.values()].map(({ wanted }) => fold(String(wanted.core.userName))));
}

/**
 * Returns the listed members whom the source does not have in the group: users, and unmanaged accounts.
 * @param unexpected names at the platform by platform id
 */
async function surplusMembers(
  scan: ScanResult,
  unexpected: readonly [platformId: string, name: string][],
  { signs, protection }: { signs: ReadonlyMap<string, string>; protection: Protection },
): Promise<SurplusMember[] | 'unknown'> {
  const holders = await scan.scope.drifts.linkedTo(
    'User',
    unexpected.map(([id]) => id),
  );
  const surplus = await mapBounded(
    unexpected,
    MEMBER_READS_AT_ONCE,
    async ([platformId, display], index): Promise<SurplusMember[] | 'unknown'> => {
      const holder = holders[index];
      if (!holder) return unmanagedMember(scan, platformId, display);
      const link = parseLink(holder.text);
      if (isProtected(link, protection) || signs.has(parseRef(holder.ref).id)) return [];
      return [{ ref: holder.ref, platformId, name: userNameInLink(link) || display }];
    },
  );
  if (surplus.includes('unknown')) return 'unknown';
  return surplus.flatMap((members) => (members === 'unknown' ? [] : members));
}
