// Keeps the refusals of single members while the other members of a group are written. Flow: `handleRefused` takes one refusal. If
// the platform shows the account, the refusal goes to `refusedMembers` of the context; if not, the account may be gone, and the
// refusal goes to `goneMembers`. `judgeGone` decides about those by a whole list: forgets the link of a lost account, or moves the
// refusal to `refusedMembers`. `throwIfRefused`, called after all members or after many refusals in a row, throws the first one.
import { refOf } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import { isFound, isMissing, ListAwaited } from '../calls/absence.ts';
import type { SyncContext } from '../context.ts';

/** Number of members, refused one after another, after which a sync ends, because the platform seems to refuse them all. */
const MOST_REFUSED = 8;
/** Refused members whose accounts may be gone are judged in portions of this size: the platform may refuse all members. */
const MOST_UNJUDGED = 250;
/** Number of links that are forgotten at the same time. */
const FORGOTTEN_AT_ONCE = 16;

type RefusedMember = NonNullable<SyncContext['goneMembers']>[number];

/**
 * Keeps the refusal of a member in the context: in `refusedMembers` if the platform shows the account, else in `goneMembers`.
 * @throws as `throwIfRefused`, when the platform has refused MOST_REFUSED members in a row; errors of the look-up of the account
 */
export async function handleRefused(
  context: SyncContext,
  member: RefusedMember['member'],
  error: Error,
): Promise<void> {
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

/** Keeps the refusal of a member. The first one is thrown after all members, and names only members of its own operation. */
function noteRefused(context: SyncContext, { member, error, operation }: RefusedMember): void {
  const refused = (context.refusedMembers ??= { operation, error, members: [], inARow: 0 });
  if (refused.operation === operation) refused.members.push(member.user);
  // A member that is written sets it to 0 again (member-writes.ts).
  refused.inARow += 1;
}

/**
 * Forgets the links of the members whose accounts a list proves to be gone. The refusals of the others are kept in the context.
 * @throws ListAwaited, after all members, when the list is not read yet: the members that it may show are judged by the next call
 */
export async function judgeGone(context: SyncContext): Promise<void> {
  const gone = context.goneMembers ?? [];
  delete context.goneMembers;
  let awaited: ListAwaited | undefined;
  const missing: RefusedMember['member'][] = [];
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
