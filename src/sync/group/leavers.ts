// Decides for members whom the source removed from a group whether the bridge removes them at the platform (`toLeavers`). A member
// is a user of the bridge, whose link names the account, or an unmanaged account, which the platform alone knows.
import type { Link } from '../../directory/outbox/link.ts';
import type { Links } from '../../directory/outbox/links.ts';
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import { fold, parseRef, refOf } from '../../directory/records.ts';
import { readInPortions } from '../../directory/redis/portions.ts';
import { isGone } from '../calls/failures.ts';
import type { SyncContext } from '../context.ts';
import type { Target } from '../target.ts';
import { mayBeActive } from '../user/account-state.ts';
import type { LinkedMember } from './member-writes.ts';
import { isProtectedName } from '../user/protected-user.ts';

/** Most members whose state one command reads from Redis. */
export const MEMBERS_PER_READ = 1000;

/** A member to be removed; `isOpen`: the account may be active, so the removal takes access away. */
export interface Leaver extends LinkedMember {
  isOpen: boolean;
  /** The platform answered the last change of the account with success, but did not apply it. */
  isIgnored?: boolean;
}

/**
 * `protected`: `users.protected` lists the user, so the membership stays. `sought`: the user may have an account that is not found
 * yet (`isSought`). Undefined: no membership is to be removed, such as for a user without account.
 */
type MaybeLeaver = [user: string, leaver: Leaver | 'protected' | 'sought' | undefined];

/** Returns for each user (id, or `@<platform id>` of an unmanaged member), in this order, the member to be removed, if any. */
export async function toLeavers(context: SyncContext, users: string[]): Promise<MaybeLeaver[]> {
  return readInPortions(users, MEMBERS_PER_READ, (portion) => toLeaversAtOnce(context, portion));
}

/** Returns the links of users, in their order. @param users ids of the users */
export const linksOfUsers = (
  { links, target }: { links: Pick<Links, 'getMany'>; target: Pick<Target, 'name'> },
  users: readonly string[],
): Promise<Link[]> =>
  links.getMany(
    target.name,
    users.map((user) => refOf('User', user)),
  );

/** Does the work of `toLeavers` for at most MEMBERS_PER_READ users. */
async function toLeaversAtOnce(context: SyncContext, users: string[]): Promise<MaybeLeaver[]> {
  const found = await linksOfUsers(context, users);
  return Promise.all(
    users.map(async (user, index): Promise<MaybeLeaver> => {
      if (isUnmanaged(user)) return [user, await toUnmanagedLeaver(context, user)];
      const link = found[index];
      return [user, link && (await toManagedLeaver(context, user, link))];
    }),
  );
}

/** Returns a user of the bridge as a leaver, or why the membership is not removed. */
async function toManagedLeaver(context: SyncContext, user: string, link: Link): Promise<MaybeLeaver[1]> {
  const platformId = link.id ?? (await leftId(context, link));
  if (platformId === undefined) return isSought(link) ? 'sought' : undefined;
  if (isProtectedName(context, String(link.core?.userName ?? ''))) return 'protected';
  const isIgnored = link.condition?.isIgnored === true;
  return { user, platformId, isOpen: mayBeActive(link), isIgnored };
}

/**
 * Returns whether a user without platform id may have an account that is not known: a restore lost the id, or the answer to a
 * create was lost (also if the create was sent before the backup of a restore).
 */
const isSought = ({ mayExist, tried }: Link): boolean =>
  tried !== undefined || (mayExist !== undefined && mayExist.id === undefined);

/**
 * Returns the id of the account that a user without link had before (`mayExist`): by it, the user may still be a member. Undefined:
 * there is no such id, or the account is linked to a member at the source or to a resource of another connection.
 */
async function leftId(context: SyncContext, link: Link): Promise<string | undefined> {
  const id = link.mayExist?.id;
  if (id === undefined) return undefined;
  const { links, target } = context;
  if (await isHeldByMember(context, id)) return undefined;
  return (await links.elsewhere.holderOf(target.name, 'User', id)) ? undefined : id;
}

/** Returns whether the user who is linked to the account is a member of the group at the source. */
async function isHeldByMember(
  { directory, links, target, work }: SyncContext,
  platformId: string,
): Promise<boolean> {
  const holder = await links.holderOf(target.name, 'User', platformId);
  const [groups = []] = holder === undefined ? [] : await directory.groupsOf([parseRef(holder).id]);
  return groups.some(({ id }) => id === work.id);
}

/**
 * Returns an unmanaged member as a leaver. Undefined when the account must not be removed: a member at the source is linked to it
 * by now, it is protected or gone, or `groups.members` is no longer authoritative. Stores the userName, because the bridge keeps no
 * other name of an unmanaged account.
 * @param user `@<platform id>`
 */
async function toUnmanagedLeaver(context: SyncContext, user: string): Promise<Leaver | undefined> {
  const { clock, outbox, target, call } = context;
  if (target.policy.groups.members !== 'authoritative') return undefined;
  const platformId = unmanagedId(user);
  if (await isHeldByMember(context, platformId)) return undefined;
  try {
    const account = await target.client.users.get(platformId, call);
    const isKeyOwner = (await target.catalogue.keyOwner(call.signal)) === fold(account.userName);
    if (isKeyOwner || isProtectedName(context, account.userName)) return undefined;
    await outbox.unmanagedNames.note(user, account.userName, clock.now());
    return { user, platformId, isOpen: account.active !== false };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
