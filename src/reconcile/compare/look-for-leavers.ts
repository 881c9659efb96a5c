// Looks whether the members with an unconfirmed removal have left the group: the removal was written, and no answer or read has
// shown yet that the platform made it.
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import { refOf } from '../../directory/records.ts';
import type { WireGroup } from '../../platform/wire.ts';
import { mapBounded } from '../../support/bounded.ts';
import { namesGroup } from '../../sync/diff.ts';
import { linksOfUsers } from '../../sync/group/leavers.ts';
import { isProtected, protectionAt } from './protected.ts';
import type { Member } from './group-case.ts';
import { MEMBER_READS_AT_ONCE, MOST_CONFIRMED } from './member-accounts.ts';
import { asking } from './platform-reads.ts';
import type { ScanResult } from '../scope.ts';

/**
 * Reads the accounts of up to MOST_CONFIRMED members (member-names.ts) whom the member list of a group does not show, because it
 * may be truncated. A member without account is in no group. An account decides nothing if it could not be read, or if it answered
 * 404 and no whole user list confirms that it is gone. With more members, each call begins at a random one: otherwise accounts that
 * decide nothing could take up every look, and the other members would never be read.
 * @param first members who are read before others: a reviewed plan has changes of them
 * @returns `gone`: members who are not in the group; `unlisted`: members whose account names the group, without protected ones;
 *   `undecided`: members of whom neither is known
 */
export async function lookForLeavers(
  scan: ScanResult,
  group: Pick<WireGroup, 'id' | 'members'>,
  users: string[],
  first: ReadonlySet<string> = new Set(),
): Promise<{ gone: string[]; unlisted: Member[]; undecided: ReadonlySet<string> }> {
  const undecided = new Set(users);
  const found: { gone: string[]; unlisted: Member[] } = { gone: [], unlisted: [] };
  if (users.length === 0) return { ...found, undecided };
  const { target } = scan.scope;
  const protection = protectionAt(target);
  const listed = new Set((group.members ?? []).map(({ value }) => value));
  const ordered = fromRandomPlace(users, scan.scope.random).sort(
    (a, b) => Number(first.has(b)) - Number(first.has(a)),
  );
  const links = await linksOfUsers(scan.scope, ordered);
  const unseen = ordered
    .map((user, index) => {
      const link = links[index] ?? {};
      return { user, link, id: isUnmanaged(user) ? unmanagedId(user) : link.id };
    })
    // The user may have an account that is not known yet, so the read of the group tells nothing.
    .filter(({ link, id }) => !(id === undefined && (link.mayExist ?? link.tried)))
    .filter(({ id }) => id === undefined || !listed.has(id))
    .slice(0, MOST_CONFIRMED);
  await mapBounded(unseen, MEMBER_READS_AT_ONCE, async ({ user, link, id }) => {
    const account =
      id === undefined ? 'absent' : await asking(scan, (signal) => target.client.users.get(id, { signal }));
    if (account === 'unknown') return;
    // A 404 alone does not end an unconfirmed removal: nothing else would show later that the platform did not make it.
    if (account === 'absent' && id !== undefined && (await scan.isUnlisted?.(id)) !== true) return;
    undecided.delete(user);
    if (account === 'absent' || !namesGroup(account, group.id)) found.gone.push(user);
    else if (!isProtected(link, protection))
      found.unlisted.push({
        ref: isUnmanaged(user) ? null : refOf('User', user),
        platformId: account.id,
        name: account.userName,
      });
  });
  return { ...found, undecided };
}

/** Returns the items rotated by a random number of places. */
function fromRandomPlace<T>(items: readonly T[], random: () => number): T[] {
  const start = Math.floor(random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
