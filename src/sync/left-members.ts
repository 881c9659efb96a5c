// Keeps a list of members whom the source removed while the settings keep them in the group, and removes them when the settings allow it.
import type { Link } from '../directory/outbox/links.ts';
import { parseRef, refOf } from '../directory/records.ts';
import type { SyncContext } from './context.ts';
import { marked } from './members.ts';

/** Largest number of users that the link of a group out of scope notes as removed at the source. */
const MOST_LEAVERS = 1000;
/** Largest number of members that the link of a group notes as left by the policy; the link is read at each sync of the group. */
const MOST_LEFT = 10_000;

/** Notes that the group is out of scope, and whom the source removed; stored before the pending removals are dropped. */
export async function leave(context: SyncContext): Promise<void> {
  const { link } = context;
  const before = link.departed ? link.leavers : (link.leavers ?? []);
  link.departed = true;
  if (before === undefined) return;
  const removed = await pendingLeavers(context);
  const leavers = [...new Set([...before, ...removed])];
  if (leavers.length > MOST_LEAVERS) delete link.leavers;
  else link.leavers = leavers;
  if (removed.length > 0) await context.save();
}

/**
 * Returns the managed users whose removal from the group is pending: by the account, which a later record of the person may take
 * over, or by id without an account.
 */
async function pendingLeavers({ links, outbox, target, work }: SyncContext): Promise<string[]> {
  const users = marked(await outbox.pendingMembers(work.id), '-').filter((user) => !user.startsWith('@'));
  const found = await links.getMany(
    target.name,
    users.map((user) => refOf('User', user)),
  );
  return users.map((user, index) => {
    const { id } = found[index] ?? {};
    return id === undefined ? user : `@${id}`;
  });
}

/** Returns a function that tells whether the link lists a member as removed at the source; undefined: the link has no list. */
export function notedLeavers({
  leavers,
}: Link): ((user: string | undefined, platformId: string | null) => boolean) | undefined {
  if (!leavers) return undefined;
  const noted = new Set(leavers);
  return (user, platformId) => noted.has(user ?? '') || noted.has(`@${platformId ?? ''}`);
}

/** Makes the removals pending of the members whom the policy left in a group that was deleted at the source. */
export async function takeUpLeavers(context: SyncContext): Promise<void> {
  const { link, links, target } = context;
  const { leavers = [] } = link;
  if (leavers.length === 0) return;
  const users = await Promise.all(
    leavers.map(async (each) => {
      if (!each.startsWith('@')) return [each];
      const holder = await links.holderOf(target.name, 'User', each.slice(1));
      return holder === undefined ? [] : [parseRef(holder).id];
    }),
  );
  // From here on they are pending removals; noted again, each would be held again after it was written.
  link.leavers = [];
  await context.save({ surplus: users.flat() });
}

/** Notes whom the source removed and the policy leaves; stored before the pending removals are dropped. */
export async function noteLeavers(context: SyncContext): Promise<void> {
  const removed = await pendingLeavers(context);
  if (removed.length === 0) return;
  const leavers = [...new Set([...(context.link.leavers ?? []), ...removed])];
  if (leavers.length > MOST_LEFT) {
    context.logger.warn(
      { ref: context.work.ref, noted: MOST_LEFT, left: leavers.length },
      'the policy leaves more members in this group than are noted: the others stay when the policy is sync again',
    );
  }
  context.link.leavers = leavers.slice(0, MOST_LEFT);
  await context.save();
}

/**
 * Compares all members of a group that comes back into scope, or whose members the policy left, because its member
 * changes were not written. Only here the platform's member list is read. Only managed users are removed, and under
 * `groups.members: owned` only those whom the source removed meanwhile, so that members whom others added stay.
 */
export async function comeBack(context: SyncContext): Promise<void> {
  const { link, links, outbox, target, work } = context;
  const group = await target.client.groups.get(link.id ?? '', { members: true }, context.call);
  const members = await Promise.all(
    (group.members ?? []).map(async ({ value }) => {
      const holder = await links.holderOf(target.name, 'User', value);
      return holder === undefined ? [] : [{ user: parseRef(holder).id, platformId: value }];
    }),
  );
  const present = members.flat();
  const isNoted = target.policy.groups.members === 'owned' ? notedLeavers(link) : undefined;
  const surplus = present.filter(({ user, platformId }) => isNoted?.(user, platformId) ?? true);
  await context.save({ rewriteMemberships: true, surplus: surplus.map(({ user }) => user) });
  // Only now, so that a killed process compares once more.
  delete link.departed;
  delete link.leavers;
  // Members who are there already need no write.
  const users = present.map(({ user }) => user);
  if (users.length > 0) await outbox.ackMembers(work, '+', users);
}
