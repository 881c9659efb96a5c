// Handles a new userName or group name that another resource still has: waits for the holder, or reports the conflict.
import { isNeverRenamed, type Link } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import type { SyncContext } from '../context.ts';
import { blockedBy } from '../condition.ts';
import { askForFormerName } from './former-name.ts';
import { breakCircle, called, chainFrom, retryCircle, type ShownName } from './name-circle.ts';
import { takenElsewhere, type NotOurs } from './taken-by-connection.ts';
import { isExternalIdPending, isHandedOn, isOutdated, successionWait } from './succession.ts';

/** Number of attempts that found the name taken before a circle is searched. */
const CIRCLE_AFTER = 2;

/**
 * Returns why a new userName is refused: the account of a protected user has it, or that of a user who was deleted at the source or
 * is out of scope. The account of a leaver may be open, so the text advises no deletion before it is closed.
 */
export const takenByText = (user: Ref, { isProtected }: { isProtected: boolean }): string =>
  isProtected
    ? `userName is already taken by the account of a protected person, ${user}, whom the bridge does not change: rename the account at the platform`
    : `userName is already taken by the account of a person who left, ${user}, and closing that account alone does not free the name: rename the account at the platform, or delete it there once it is closed`;

/** Part of the message about a name whose holder is a dead letter, by which other parts recognise it. */
export const HOLDER_REFUSED = 'whose own change was refused';

/**
 * Handles the refusal (409) of a new name.
 * @returns the outcome: when to try again, or a conflict; undefined: the holder keeps the name, and the caller reports the refusal
 */
export async function waitForName(context: SyncContext, name: string): Promise<NotOurs | undefined> {
  const { kind } = context.work;
  const holders = await called(context, name);
  const ids = holders.map(({ id }) => id);
  const taken = await takenElsewhere(context, kind, ids, kind === 'User' ? { userName: name } : undefined);
  if (taken) return taken;
  const holder = kind === 'User' && holders[0] ? await holderOf(context, holders[0].id) : undefined;
  const neverRenamed = holder && isNeverRenamed(holder.link) ? holder : undefined;
  // A leaver who is pushed anew takes the account over, which then gets another userName.
  const isTakenOver =
    neverRenamed !== undefined &&
    (await isExternalIdPending(context, neverRenamed.link.core ?? {}, context.work.ref));
  // One attempt proves no conflict: an approval may end or the account be deleted between its reads, and a list may lag.
  const isFirstAttempt = (context.link.successionAttempts ?? 0) === 0;
  if (neverRenamed && !isTakenOver) await askForFormerName(context, neverRenamed);
  const isKept = neverRenamed !== undefined && !isTakenOver && (await keepsName(context, neverRenamed.ref));
  const waitMs = (): number | undefined => (isFirstAttempt ? successionWait(context) : undefined);
  const afterMs = isKept
    ? waitMs()
    : ((await waitForHolder(context, name, holders[0])) ??
      (isTakenOver ? successionWait(context) : undefined));
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  // Only the deletion of the account frees the name; by `gate.holder`, the sync that deletes it makes this resource due.
  if (isKept) context.gate.holder = { ref: neverRenamed.ref, isMarked: false };
  const refused = neverRenamed === undefined && holders[0] && (await refusedText(context, holders[0]));
  if (refused) return blockedBy(context, 'Conflict', refused, 409);
  if (!holder) return undefined;
  const { ref, link } = holder;
  // While a sync of the holder is pending, the holder may be back at the source, so the message advises no deletion.
  const keepsAccount =
    neverRenamed !== undefined && !isTakenOver && !(await context.outbox.isMarked(neverRenamed.ref));
  const message = keepsAccount
    ? takenByText(ref, { isProtected: link.condition?.reason === 'Protected' })
    : `userName is already taken by the account of ${ref}: scim-bridge explain ${ref} tells why that account keeps the name`;
  return blockedBy(context, 'Conflict', message, 409);
}

/** Returns the other user who is linked to the account; undefined: there is none. */
async function holderOf(
  { links, target, work }: SyncContext,
  platformId: string,
): Promise<{ ref: Ref; link: Link } | undefined> {
  const ref = await links.holderOf(target.name, 'User', platformId);
  if (!ref || ref === work.ref) return undefined;
  const link = await links.get(target.name, ref);
  // The reverse link may be out of date.
  return link.id === platformId ? { ref, link } : undefined;
}

/**
 * Returns whether the account of a leaver or protected user keeps its userName. Only the deletion of an account frees the name, so
 * no wait for a decision helps unless an approval leads to the deletion. A pending sync of the user may delete the account too.
 */
async function keepsName({ outbox, target }: SyncContext, leaver: Ref): Promise<boolean> {
  if (await outbox.isMarked(leaver)) return false;
  const deletion = { kind: 'delete', ref: leaver } as const;
  const closing = { kind: 'deactivate', ref: leaver } as const;
  const { deprovision, deleteAfterDays } = target.policy.users;
  const isDeletedOnceClosed = deprovision === 'delete' || deleteAfterDays !== null;
  const held = await outbox.guardStore.areHeld(isDeletedOnceClosed ? [deletion, closing] : [deletion]);
  return !held.includes(true);
}

/** Returns milliseconds to wait; undefined: the holder keeps the name, or no attempt is left. May break a circle of names. */
async function waitForHolder(
  context: SyncContext,
  name: string,
  holder: ShownName | undefined,
): Promise<number | undefined> {
  const { link, work } = context;
  // The holder released the name just now, or the list lags.
  if (holder === undefined || holder.id === link.id) return successionWait(context);
  // isHandedOn before isLate: only without a pending sync, a link is known to have the current name.
  if (!(await isHandedOn(context, work.kind, holder.id)) && !(await retryCircle(context, holder.id)))
    return (await isLate(context, holder)) ? successionWait(context) : undefined;
  if ((link.successionAttempts ?? 0) >= CIRCLE_AFTER) await breakCircle(context, name, holder.id);
  return successionWait(context);
}

/** Returns whether the list shows an old name of the holder, or may do so: an awaited holder is no longer linked. */
async function isLate(context: SyncContext, holder: ShownName): Promise<boolean> {
  const { link, links, target, work } = context;
  if (await isOutdated(context, work.kind, holder)) return true;
  const isAwaited = link.successionAttempts !== undefined;
  return isAwaited && (await links.holderOf(target.name, work.kind, holder.id)) === undefined;
}

/**
 * Returns the message that the holder of the name is a dead letter. If the holder waits for the name of another dead letter, and so
 * on, the message also names the last of them. Undefined: the holder is no dead letter.
 */
async function refusedText(context: SyncContext, holder: ShownName): Promise<string | undefined> {
  const { outbox, work } = context;
  const { refs } = await chainFrom(context, holder.id);
  const letters = new Set((await outbox.blockedOf(refs)).map(({ ref }) => ref));
  const end = refs.findIndex((ref) => !letters.has(ref));
  const refused = end < 0 ? refs : refs.slice(0, end);
  const [first] = refused;
  const last = refused.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const taken =
    work.kind === 'User'
      ? 'userName is already taken by the account of'
      : 'displayName is already taken by the group of';
  const behind = last === first ? '' : `, and which waits for the name of ${last}, a dead letter too`;
  return `${taken} ${first}, ${HOLDER_REFUSED}${behind}: scim-bridge explain ${last} tells why; this change follows once ${first} has given up the name`;
}
