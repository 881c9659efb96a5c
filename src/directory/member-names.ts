// Names the members of a group as the outbox stores them: the user's id, or `@<platform id>` for an unmanaged member.
import type { Destruction } from './guard/held-changes.ts';
import { refOf, type Ref } from './records.ts';

/** Returns whether a member is unmanaged: an account at the platform that no identity provider pushed. */
export const isUnmanaged = (member: string): boolean => member.startsWith('@');

/** Returns the stored name of an unmanaged member. */
export const unmanagedName = (platformId: string): string => `@${platformId}`;

/** Returns the platform id in the stored name of an unmanaged member. */
export const unmanagedId = (member: string): string => member.slice(1);

/** Returns the user whom a change removes from a group; undefined for an unmanaged member and for another change. */
export const removedUser = ({ kind, subject }: Destruction): Ref | undefined =>
  kind !== 'removeMembers' || subject === undefined || isUnmanaged(subject)
    ? undefined
    : refOf('User', subject);
