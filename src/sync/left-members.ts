// Notes in the link of a group which members the source removed while the bridge takes nobody out, and removes them later.
import { parseRef } from '../directory/records.ts';
import type { SyncContext } from './context.ts';
import { marked } from './members.ts';

/** Largest number of users that the link of a group out of scope notes as removed at the source. */
const MOST_LEAVERS = 1000;

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

/** Returns the managed users whose removal from the group is pending. */
const pendingLeavers = async ({ outbox, work }: SyncContext): Promise<string[]> =>
  marked(await outbox.pendingMembers(work.id), '-').filter((user) => !user.startsWith('@'));

/** Notes whom the source removed and the policy leaves; stored before the pending removals are dropped. */
export async function noteLeavers(context: SyncContext): Promise<void> {
  const removed = await pendingLeavers(context);
  if (removed.length === 0) return;
  context.link.leavers = [...new Set([...(context.link.leavers ?? []), ...removed])];
  await context.save();
}

/**
 * Compares all members of a group that comes back into scope, or whose members the policy left, because its member
 * changes were not written. Only here the
 * platform's member list is read. Only managed users are removed, and under `groups.members: owned` only those whom the
 * source removed meanwhile, so that members whom others added stay.
 */
export async function comeBack(context: SyncContext): Promise<void> {
  const { link, links, outbox, target, work } = context;
  const group = await target.client.groups.get(link.id ?? '', { members: true }, context.call);
  const holders = await Promise.all(
    (group.members ?? []).map(({ value }) => links.holderOf(target.name, 'User', value)),
  );
  const present = holders.flatMap((ref) => (ref === undefined ? [] : [parseRef(ref).id]));
  const noted = target.policy.groups.members === 'owned' && link.leavers ? new Set(link.leavers) : undefined;
  const surplus = noted ? present.filter((user) => noted.has(user)) : present;
  delete link.departed;
  delete link.leavers;
  await context.save({ rewriteMemberships: true, surplus });
  // Members who are there already need no write.
  if (present.length > 0) await outbox.ackMembers(work, '+', present);
}
