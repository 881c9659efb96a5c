// Defines the names of members of a group in the outbox: the user's id, or `@<platform id>` for an unmanaged member.
import type { Destruction } from './guard/held-changes.ts';
import { parseRef, refOf, type Ref } from './records.ts';

/** Start of the stored name of an unmanaged member. No id of a user has it. */
const UNMANAGED_SIGN = '@';

/** Returns whether a member is unmanaged: an account at the platform that no identity provider pushed. */
export const isUnmanaged = (member: string): boolean => member.startsWith(UNMANAGED_SIGN);

/** Returns the stored name of an unmanaged member. */
export const unmanagedName = (platformId: string): string => UNMANAGED_SIGN + platformId;

/** Returns the stored name of a member. @param member `ref` null: an unmanaged member, which has a `platformId` */
export const storedNameOf = ({ ref, platformId }: { ref: Ref | null; platformId: string | null }): string =>
  ref ? parseRef(ref).id : unmanagedName(platformId ?? '');

/** Returns the platform id in the stored name of an unmanaged member. */
export const unmanagedId = (member: string): string => member.slice(UNMANAGED_SIGN.length);

/** Returns the user whom a change removes from a group; undefined for an unmanaged member and for another change. */
export const removedUser = ({ kind, subject }: Destruction): Ref | undefined =>
  kind !== 'removeMembers' || subject === undefined || isUnmanaged(subject)
    ? undefined
    : refOf('User', subject);
