// Adds members to a group (`addMembers`). A member is ready when the account is linked and its attributes are applied; a member
// who is not ready marks the group later. If few members are ready and others are under way, the sync waits shortly, so that one
// PATCH adds them together. Members whom the group lists already gain nothing by the addition, so the log must not name them: a
// group under adoption does not add them, any other group adds them without naming them in the log (`lacking`).
// Flags of the link: directory/outbox/link.ts.
import { platformIdOf } from '../../directory/outbox/link.ts';
import { MEMBERSHIP_SIGN, withSign, type Readiness } from '../../directory/outbox/pending-memberships.ts';
import { inPortions, readInPortions } from '../../directory/redis/portions.ts';
import type { SyncContext } from '../context.ts';
import { MEMBERS_PER_READ } from './leavers.ts';
import { writeMembers, type Ignored, type LinkedMember } from './member-writes.ts';
import { PORTION, type PendingMembers } from './members.ts';

/** Longest time for which few ready members wait for others that are not ready yet, so that one PATCH adds them together. */
const COALESCE_LIMIT_MS = 3000;

/**
 * Adds members whose attributes are applied; other members mark this group when they are ready.
 * @returns `coalesceMs`: time to wait until a portion is full, 0 when the ready members were added; `underWay`:
 *   number of members that are not ready and whose sync is to come; `ignored`: sentences about members that the platform did not
 *   add
 */
export async function addMembers(
  context: SyncContext,
  pending: PendingMembers,
): Promise<{ coalesceMs: number; underWay: number; ignored: Ignored }> {
  const { link, clock, outbox } = context;
  const added = withSign(pending, MEMBERSHIP_SIGN.toAdd);
  const states = await readInPortions(added, MEMBERS_PER_READ, outbox.readiness);
  const ready = states.filter((state) => state.ready);
  const underWay = states.filter((state) => !state.ready && state.underWay).length;
  // After a refusal the sync ends blocked, so the ready members do not wait.
  const isBlocked = context.refusedMembers !== undefined;
  const hasFewReady = ready.length > 0 && ready.length < PORTION && underWay > 0;
  if (!isBlocked && hasFewReady) {
    link.coalescingSince ??= clock.now();
    const left = link.coalescingSince + COALESCE_LIMIT_MS - clock.now();
    if (left > 0) return { coalesceMs: left, underWay, ignored: [] };
  }
  delete link.coalescingSince;
  const ignored: Ignored = [];
  for (const portion of inPortions(await lacking(context, ready), PORTION)) {
    const members = portion.map(({ user, link: account, isListed }) => ({
      user,
      platformId: platformIdOf(account), // a ready member has an account
      isListed,
    }));
    ignored.push(...(await writeMembers(context, MEMBERSHIP_SIGN.toAdd, members)));
  }
  return { coalesceMs: 0, underWay, ignored };
}

/**
 * Returns the members to be added, with whether the group lists them already: the log must not tell of access that they had before.
 * Members whom a group under adoption (`adopting`) lists are left out, and their additions cleared. The member list is read only
 * for such a group, and if a member comes back (`rejoining`); if the read fails, all members are returned.
 */
async function lacking(
  context: SyncContext,
  ready: Readiness[],
): Promise<(Readiness & Pick<LinkedMember, 'isListed'>)[]> {
  const { link, target, call, outbox, work, logger } = context;
  const isRead = ready.some((state) => link.adopting ?? state.link.rejoining);
  if (!isRead) return ready;
  let present: Set<string>;
  try {
    const { members = [] } = await target.client.groups.get(platformIdOf(link), { members: true }, call);
    present = new Set(members.map(({ value }) => value));
  } catch (error) {
    logger.warn(
      { ref: work.ref, err: error },
      'members of the group cannot be read: the log may name members as added who were there before',
    );
    return ready;
  }
  const isThere = (state: Readiness): boolean => present.has(state.link.id ?? '');
  // After a removal the list may still show a member who has to be added again, so the addition is written all the same.
  if (!link.adopting) return ready.map((state) => ({ ...state, isListed: isThere(state) }));
  const users = ready.filter(isThere).map(({ user }) => user);
  await outbox.ackMembers(work, MEMBERSHIP_SIGN.toAdd, users);
  return ready.filter((state) => !isThere(state));
}
