// Writes portions of member changes to one group, and judges what the answer says about each member. `writeMembers` keeps the
// refusals of single members in the context, so that the others are written; `throwIfRefused` throws the first one afterwards. Many
// refusals in a row are thrown at once.
import { MEMBERSHIP_SIGN, type WrittenSign } from '../../directory/outbox/pending-memberships.ts';
import { platformIdOf } from '../../directory/outbox/link.ts';
import { refOf } from '../../directory/records.ts';
import { PlatformError } from '../../platform/errors.ts';
import type { PlatformPatchOperation, WireGroup, WireUser } from '../../platform/wire.ts';
import { mapBounded } from '../../support/bounded.ts';
import { counted } from '../../support/counted.ts';
import { isFound, isMissing, ListAwaited } from '../calls/absence.ts';
import type { SyncContext } from '../context.ts';
import { namesGroup } from '../diff.ts';
import { isGone, isStatus } from '../calls/failures.ts';

export interface LinkedMember {
  /** The user's id at the source, or `@<platform id>` of an unmanaged member. */
  user: string;
  /** The user's SCIM id at the platform. */
  platformId: string;
  /** The member list shows the member already. It may be old, so the addition is written, but not logged. */
  isListed?: boolean | undefined;
}

/** Number of members, refused one after another, after which a sync ends, because the platform seems to refuse them all. */
const MOST_REFUSED = 8;
/** Refused members whose accounts may be gone are judged in portions of this size: the platform may refuse all members. */
const MOST_UNJUDGED = 250;
/** Number of links that are forgotten at the same time. */
const FORGOTTEN_AT_ONCE = 16;
/** Statuses with which the platform refuses a PATCH and applies nothing of it (RFC 7644 §3.5.2). */
const NOTHING_WRITTEN = [400, 403, 404, 409, 413, 422];

type RefusedMember = NonNullable<SyncContext['goneMembers']>[number];

/** One sentence for each PATCH that the platform answered with success but did not apply completely. */
export type Ignored = string[];

/**
 * Adds or removes members by one PATCH, and clears the pending memberships that the answer confirms. A removal whose answer
 * shows no members is stored as unconfirmed, until a reconcile reads the group. A refused PATCH is sent again in two halves,
 * until the refused member is found. Its refusal is kept for later (`refusedMembers` of the context), and the other members are
 * written.
 * @param sign `+`: adds; `-`: removes
 * @returns a sentence about members that the platform did not add or remove
 * @throws an error of the platform that is not about a single member; as `throwIfRefused` after MOST_REFUSED refusals in a row;
 *   or LeaseLost
 */
export async function writeMembers(
  context: SyncContext,
  sign: WrittenSign,
  pending: LinkedMember[],
): Promise<Ignored> {
  const { target, link, outbox, work } = context;
  const isAddition = sign === MEMBERSHIP_SIGN.toAdd;
  // Leaves out additions that are no longer pending. `first`: users whose addition is sent for the first time.
  const { members, first } = isAddition
    ? await outbox.sendAdditions(work, pending)
    : { members: pending, first: [] };
  if (members.length === 0) return [];
  const operations = isAddition ? additions(members) : removals(members);
  try {
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
    // `confirmedOf` has read a group that was deleted at the source (without record). `unseen`: a removal becomes unconfirmed.
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
  } catch (error) {
    // The refused member does not count as sent. The members of a longer PATCH do, because a platform that breaks the RFC may have
    // added some of them.
    if (members.length === 1 && isStatus(error, ...NOTHING_WRITTEN))
      await outbox.refuseAdditions(work, first);
    // The platform refuses one of the members (400, 404), or the size of the PATCH (413).
    const mayBeAboutOne = isStatus(error, 400, 404, 413);
    // A 404 may be about the group itself. For a single member, `handleRefused` finds out.
    const isAboutGroup = isGone(error) && members.length > 1 && (await groupIsGone(context));
    const { failedWrite } = context;
    if (failedWrite && failedWrite.error === error && !isAboutGroup)
      failedWrite.members = members.map(({ user }) => user);
    if (!mayBeAboutOne || isAboutGroup) {
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
 * Returns the users whose change is confirmed: a platform may answer 200 and ignore members. The member list of the answer may be
 * truncated or old. So the account of a member whom the list contradicts is read, which may list its groups (contract 2.2). An
 * answer without a member list confirms all changes. For a group that was deleted at the source, the group is read after removals
 * instead, because its link is forgotten afterwards.
 */
async function confirmedOf(
  { link, target, call, work }: SyncContext,
  sign: WrittenSign,
  answer: WireGroup | undefined,
  members: LinkedMember[],
): Promise<string[]> {
  const isAddition = sign === MEMBERSHIP_SIGN.toAdd;
  const isOfDeletedGroup = !isAddition && work.record === undefined;
  // A read without `members` shows an empty group.
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

/**
 * Keeps the refusal of a member in the context: in `refusedMembers` if the platform shows the account, else in `goneMembers`.
 * @throws as `throwIfRefused`, when the platform has refused MOST_REFUSED members in a row; errors of the look-up of the account
 */
async function handleRefused(context: SyncContext, member: LinkedMember, error: Error): Promise<void> {
  const { links, target } = context;
  const { operation = '' } = context.failedWrite ?? {};
  const refused = { member, error, operation };
  const { core = {} } = await links.get(target.name, refOf('User', member.user));
  if (await isFound(context, 'User', { id: member.platformId, core })) noteRefused(context, refused);
  else {
    const gone = (context.goneMembers ??= []);
    gone.push(refused);
    // While the list is not read yet, the other members are written first.
    if (gone.length % MOST_UNJUDGED === 0)
      await judgeGone(context).catch((awaited: unknown) => {
        if (!(awaited instanceof ListAwaited)) throw awaited;
      });
  }
  if ((context.refusedMembers?.inARow ?? 0) >= MOST_REFUSED) await throwIfRefused(context);
}

/** Keeps the refusal of a member; the first one is thrown after all members. */
function noteRefused(context: SyncContext, { member, error, operation }: RefusedMember): void {
  const refused = (context.refusedMembers ??= { operation, error, members: [], inARow: 0 });
  if (refused.operation === operation) refused.members.push(member.user);
  refused.inARow += 1;
}

/**
 * Forgets the links of the members whose accounts a list proves to be gone. The refusals of the others are kept in the context.
 * @throws ListAwaited, after all members, when the list is not read yet: the members that it may show are judged by the next call
 */
async function judgeGone(context: SyncContext): Promise<void> {
  const gone = context.goneMembers ?? [];
  delete context.goneMembers;
  let awaited: ListAwaited | undefined;
  const missing: LinkedMember[] = [];
  // Concurrent, so that one list serves all members.
  await Promise.all(
    gone.map(async (refused) => {
      try {
        if (await isMissing(context, 'User', { id: refused.member.platformId })) missing.push(refused.member);
        else noteRefused(context, refused);
      } catch (error) {
        if (!(error instanceof ListAwaited)) throw error;
        awaited = error;
        (context.goneMembers ??= []).push(refused);
      }
    }),
  );
  await mapBounded(missing, FORGOTTEN_AT_ONCE, async ({ user, platformId }) => {
    const ref = refOf('User', user);
    context.logger.warn({ ref }, 'account of a member is gone, looking for it anew');
    await context.outbox.forgetLink(ref, platformId);
  });
  if (awaited) throw awaited;
}

/**
 * Throws the first refusal of a member, if the platform has refused one in this sync.
 * @throws ListAwaited (calls/absence.ts) first, while the list that shows which members are gone is not read: a refusal makes the
 *   group a dead letter, and no sync tries these members again
 */
export async function throwIfRefused(context: SyncContext): Promise<void> {
  await judgeGone(context);
  const { refusedMembers: refused } = context;
  if (!refused) return;
  context.failedWrite = refused;
  // Later writes have replaced this refusal as the failure for the log entry.
  context.provisioning.failed(refused.operation, refused.error);
  throw refused.error;
}

/** Returns whether the platform answers 404 for the group. */
async function groupIsGone(context: SyncContext): Promise<boolean> {
  try {
    await context.target.client.groups.get(platformIdOf(context.link), { members: false }, context.call);
    return false;
  } catch (error) {
    return isGone(error);
  }
}
