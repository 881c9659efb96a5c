// Reads the accounts of members of one group. The member list of a group may be truncated, so a member whom it does not show may
// still be in the group. An account names its groups, so the account of the member tells; one that could not be read proves
// nothing.
import type { Link } from '../../directory/outbox/link.ts';
import { mapBounded } from '../../support/bounded.ts';
import type { Member } from './group-case.ts';
import { asking } from './platform-reads.ts';
import type { ScanResult } from '../scope.ts';

/** Number of accounts that are read at the same time for one group; few, because several groups are compared at once. */
export const MEMBER_READS_AT_ONCE = 2;
/**
 * Largest number of accounts that one comparison of a group reads to see whether a removal was made, because each takes a call.
 * Further members keep the sign of their pending or unconfirmed removal until a later comparison.
 */
export const MOST_CONFIRMED = 100;

/** Reads the accounts of members who have one, in the order of the members. */
export const readMemberAccounts = (scan: ScanResult, members: readonly Pick<Member, 'platformId'>[]) =>
  mapBounded(members, MEMBER_READS_AT_ONCE, ({ platformId }) =>
    asking(scan, (signal) => scan.scope.target.client.users.get(platformId ?? '', { signal })),
  );

/** Returns the userName that the bridge last wrote or read. */
export const userNameInLink = (link: Link): string => String(link.core?.userName ?? '');
