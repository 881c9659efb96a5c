// Writes portions of member changes to one group (`writeMembers`). Flow: sends one PATCH (`patchMembers`), and clears the pending
// memberships that the answer confirms (`confirmedOf`). A PATCH that may be refused because of one of its members is sent again in
// two halves, until the refused member is alone. That refusal is kept (refused-members.ts), so that all other members are written.
import { MEMBERSHIP_SIGN, type WrittenSign } from '../../directory/outbox/pending-memberships.ts';
import { platformIdOf } from '../../directory/outbox/link.ts';
import { PlatformError } from '../../platform/errors.ts';
import type { PlatformPatchOperation, WireGroup, WireUser } from '../../platform/wire.ts';
import { counted } from '../../support/counted.ts';
import type { SyncContext } from '../context.ts';
import { namesGroup } from '../diff.ts';
import { isGone, isStatus } from '../calls/failures.ts';
import { handleRefused, judgeGone } from './refused-members.ts';

export interface LinkedMember {
  /** The user's id at the source, or `@<platform id>` of an unmanaged member. */
  user: string;
  /** The user's SCIM id at the platform. */
  platformId: string;
  /** The member list shows the member already. It may be old, so the addition is written, but not logged. */
  isListed?: boolean | undefined;
}

/** Statuses with which the platform refuses a PATCH and applies nothing of it (RFC 7644 §3.5.2). */
const NOTHING_WRITTEN = [400, 403, 404, 409, 413, 422];
/** Statuses of a PATCH that may be about one of its members (400, 404) or about its size (413): a smaller PATCH may succeed. */
const SENT_IN_HALVES = [400, 404, 413];

/** One sentence for each PATCH that the platform answered with success but did not apply completely. */
export type Ignored = string[];

/**
 * Adds or removes members by one PATCH, or by several if the platform refuses one of the members.
 * @param sign `+`: adds; `-`: removes
 * @returns sentences about members that the platform did not add or remove
 * @throws an error of the platform that is not about a single member; as `handleRefused` after many refusals in a row; or LeaseLost
 */
export async function writeMembers(
  context: SyncContext,
  sign: WrittenSign,
  pending: LinkedMember[],
): Promise<Ignored> {
  const { outbox, work } = context;
  // Leaves out additions that are no longer pending. `first`: users whose addition is sent for the first time.
  const { members, first } =
    sign === MEMBERSHIP_SIGN.toAdd
      ? await outbox.sendAdditions(work, pending)
      : { members: pending, first: [] };
  if (members.length === 0) return [];
  try {
    return await patchMembers(context, sign, members);
  } catch (error) {
    // The refused member does not count as sent. The members of a longer PATCH do, because a platform that breaks the RFC may have
    // added some of them.
    if (members.length === 1 && isStatus(error, ...NOTHING_WRITTEN))
      await outbox.refuseAdditions(work, first);
    // A 404 may be about the group itself. For a single member, `handleRefused` finds out.
    const isAboutGroup = isGone(error) && members.length > 1 && (await groupIsGone(context));
    const { failedWrite } = context;
    if (failedWrite && failedWrite.error === error && !isAboutGroup)
      failedWrite.members = members.map(({ user }) => user);
    const mayBeAboutMember = isStatus(error, ...SENT_IN_HALVES) && !isAboutGroup;
    if (!mayBeAboutMember) {
      // Members whose accounts may be gone are judged first, because the same `error` may end each later sync too. An error of
      // `judgeGone` is ignored: `error` tells more. After a lost lease, no link may be forgotten.
      if (error instanceof PlatformError) await judgeGone(context).catch(() => undefined);
      throw error;
    }
    if (members.length === 1) {
      await handleRefused(context, members[0] as LinkedMember, error);
      return [];
    }
    const half = Math.ceil(members.length / 2);
    const ignored = await writeMembers(context, sign, members.slice(0, half));
    return [...ignored, ...(await writeMembers(context, sign, members.slice(half)))];
  }
}

/**
 * Sends one PATCH, and clears the pending memberships that its answer confirms. A removal whose answer shows no members is stored
 * as unconfirmed, until a reconcile reads the group.
 * @returns a sentence about members that the platform did not add or remove
 */
async function patchMembers(
  context: SyncContext,
  sign: WrittenSign,
  members: LinkedMember[],
): Promise<Ignored> {
  const { target, link, outbox, work } = context;
  const isAddition = sign === MEMBERSHIP_SIGN.toAdd;
  const operations = isAddition ? additions(members) : removals(members);
  let written: string[] = [];
  const answer = await context.write(
    isAddition ? 'add members' : 'remove members',
    () => target.client.groups.patch(platformIdOf(link), operations, context.call),
    async (group) => {
      const confirmed = new Set(await confirmedOf(context, sign, group, members));
      const users = members.map(({ user }) => user);
      written = users.filter((user) => confirmed.has(user));
      const listed = new Set(members.flatMap(({ user, isListed }) => (isListed ? [user] : [])));
      const changed = written.filter((user) => !listed.has(user));
      return { members: changed, ignored: users.filter((user) => !confirmed.has(user)) };
    },
  );
  context.provisioning.append();
  // The answer showed the members, or `confirmedOf` has read them, as for a group that was deleted at the source (no record).
  // Otherwise a removal becomes unconfirmed (`unseen`).
  const isShown = answer?.members !== undefined || work.record === undefined;
  if (written.length > 0 && context.refusedMembers) context.refusedMembers.inARow = 0;
  if (written.length > 0) await outbox.ackMembers(work, sign, written, isShown ? undefined : 'unseen');
  if (written.length === members.length) return [];
  const ignored = `${members.length - written.length} of ${counted(members.length, 'member')}`;
  return [
    isAddition
      ? `the platform answered success and left ${ignored} out`
      : `the platform answered success and kept ${ignored} in the group`,
  ];
}

/** Returns one operation that adds all members. */
const additions = (members: LinkedMember[]): PlatformPatchOperation[] => [
  { op: 'add', path: 'members', value: members.map(({ platformId }) => ({ value: platformId })) },
];

/** Returns one removal with a filtered path for each member: a platform that ignores `value` would empty the group. */
const removals = (members: LinkedMember[]): PlatformPatchOperation[] =>
  members.map(({ platformId }) => ({
    op: 'remove',
    path: `members[value eq ${JSON.stringify(platformId)}]`,
  }));

/**
 * Returns the users whose change is confirmed: a platform may answer 200 and ignore members. An answer without a member list
 * confirms all changes. After removals from a group that was deleted at the source, the group is read instead, because its
 * link is forgotten afterwards. A member list may be truncated or old, so for a member whom it contradicts, the account is read: it
 * may list its groups (contract 2.2).
 */
async function confirmedOf(
  { link, target, call, work }: SyncContext,
  sign: WrittenSign,
  answer: WireGroup | undefined,
  members: LinkedMember[],
): Promise<string[]> {
  const isAddition = sign === MEMBERSHIP_SIGN.toAdd;
  const isOfDeletedGroup = !isAddition && work.record === undefined;
  // The answer of a read lacks `members` if the group is empty.
  const group =
    answer?.members || !isOfDeletedGroup
      ? answer
      : { members: [], ...(await target.client.groups.get(link.id ?? '', { members: true }, call)) };
  if (!group?.members) return members.map(({ user }) => user);
  const present = new Set(group.members.map(({ value }) => value));
  const written: string[] = [];
  for (const { user, platformId } of members) {
    const isWritten =
      present.has(platformId) === isAddition ||
      contains(await target.client.users.get(platformId, call), group.id) === isAddition;
    if (isWritten) written.push(user);
  }
  return written;
}

/** Returns whether an account lists the group; undefined: the answer has no list of groups, so it confirms nothing. */
const contains = (account: WireUser, groupId: string): boolean | undefined =>
  Array.isArray(account.groups) ? namesGroup(account, groupId) : undefined;

/** Returns whether the platform answers 404 for the group. */
async function groupIsGone(context: SyncContext): Promise<boolean> {
  try {
    await context.target.client.groups.get(platformIdOf(context.link), { members: false }, context.call);
    return false;
  } catch (error) {
    return isGone(error);
  }
}
