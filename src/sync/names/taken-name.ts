// Handles a new userName or group name that another resource, the holder, still has: waits for the holder, or reports the conflict.
// `waitForName` decides by the holder:
// - The account or group of another connection keeps the name (`takenElsewhere`).
// - The account of a leaver or protected user gets no new name. A new record of the person may take the account over
//   (`waitForTakeOver`). Otherwise the name comes free only if it is a former name, or the account is deleted (`waitForLeaver`).
// - Any other holder may get a new name by its own sync (`waitForHolder`), unless it is a dead letter (`refusedText`).
import { isNeverRenamed, type Link } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import type { SyncContext } from '../context.ts';
import type { Unfinished } from '../outcome.ts';
import { blockedBy } from '../condition.ts';
import { askForFormerName } from './former-name.ts';
import { breakCircle, called, chainFrom, retryCircle, type ShownName } from './name-circle.ts';
import { takenElsewhere } from './taken-by-connection.ts';
import { isDeletedOnceClosed } from '../user/deletion-due.ts';
import { isExternalIdPending, isHandedOn, isOutdated, successionWait } from './succession.ts';

/** Number of attempts that found the name taken before a circle is searched. */
const CIRCLE_AFTER = 2;

/** The account or group with the wanted name, and the resource that is linked to it. */
interface NameHolder {
  shown: ShownName;
  ref: Ref;
  link: Link;
}

/**
 * Handles the refusal (409) of a new name.
 * @returns the outcome: when to try again, or a conflict; undefined: the holder keeps the name, and the caller reports the refusal
 */
export async function waitForName(context: SyncContext, name: string): Promise<Unfinished | undefined> {
  const { kind, ref } = context.work;
  const found = await called(context, name);
  const ids = found.map(({ id }) => id);
  const taken = await takenElsewhere(context, kind, ids, kind === 'User' ? { userName: name } : undefined);
  if (taken) return taken;
  const [shown] = found;
  const holder = shown && (await holderOf(context, shown));
  if (kind === 'User' && holder && isNeverRenamed(holder.link)) {
    const isTakenOver = await isExternalIdPending(context, holder.link.core ?? {}, ref);
    return isTakenOver ? waitForTakeOver(context, name, holder) : waitForLeaver(context, name, holder);
  }
  const afterMs = await waitForHolder(context, name, shown);
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  const refused = shown && (await refusedText(context, shown));
  if (refused) return blockedBy(context, 'Conflict', refused, 409);
  if (!holder) return undefined;
  const kept = kind === 'User' ? keptText(holder.ref) : keptByGroupText(name, holder.ref);
  return blockedBy(context, 'Conflict', kept, 409);
}

/** Returns the other resource that is linked to the account or group; undefined: there is none. */
async function holderOf(
  { links, target, work }: SyncContext,
  shown: ShownName,
): Promise<NameHolder | undefined> {
  const ref = await links.holderOf(target.name, work.kind, shown.id);
  if (!ref || ref === work.ref) return undefined;
  const link = await links.get(target.name, ref);
  // The reverse link may be out of date.
  return link.id === shown.id ? { shown, ref, link } : undefined;
}

/** Waits for a user who was pushed anew to take over the account of a leaver, which then gets another userName. */
async function waitForTakeOver(context: SyncContext, name: string, holder: NameHolder): Promise<Unfinished> {
  const afterMs = (await waitForHolder(context, name, holder.shown)) ?? successionWait(context);
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  return blockedBy(context, 'Conflict', keptText(holder.ref), 409);
}

/** Waits for a leaver or protected user, whose account no sync renames except to free a former name. */
async function waitForLeaver(context: SyncContext, name: string, holder: NameHolder): Promise<Unfinished> {
  const { shown, ref, link } = holder;
  const isFirstAttempt = (context.link.successionAttempts ?? 0) === 0;
  await askForFormerName(context, holder);
  const afterMs = (await keepsName(context, ref))
    ? waitForDeletion(context, ref, isFirstAttempt)
    : await waitForHolder(context, name, shown);
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  // While a sync of the holder is pending, the holder may be back at the source, so the message advises no deletion.
  const mayBeBack = await context.outbox.isMarked(ref);
  const isProtected = link.condition?.reason === 'Protected';
  return blockedBy(context, 'Conflict', mayBeBack ? keptText(ref) : takenByText(ref, { isProtected }), 409);
}

/**
 * Returns whether the account of a leaver or protected user keeps its userName. Only the deletion of an account frees the name, so
 * no wait for a decision helps unless an approval leads to the deletion. A pending sync of the user may delete the account too.
 */
async function keepsName({ outbox, target }: SyncContext, leaver: Ref): Promise<boolean> {
  if (await outbox.isMarked(leaver)) return false;
  const deletion = { kind: 'delete', ref: leaver } as const;
  const closing = { kind: 'deactivate', ref: leaver } as const;
  const leadToDeletion = isDeletedOnceClosed(target.policy.users) ? [deletion, closing] : [deletion];
  const held = await outbox.guardStore.areHeld(leadToDeletion);
  return !held.includes(true);
}

/** Returns milliseconds to wait before the second attempt; undefined after any later attempt, so that a conflict is reported. */
function waitForDeletion(context: SyncContext, leaver: Ref, isFirstAttempt: boolean): number | undefined {
  // One attempt proves no conflict: between its reads an approval may end or the account be deleted, and a list may lag.
  if (isFirstAttempt) return successionWait(context);
  // Only the deletion of the account frees the name; by `gate.holder`, the sync that deletes it makes this resource due.
  context.gate.holder = { ref: leaver, isMarked: false };
  return undefined;
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
  const deadLetters = new Set((await outbox.blockedOf(refs)).map(({ ref }) => ref));
  const end = refs.findIndex((ref) => !deadLetters.has(ref));
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

const keptText = (user: Ref): string =>
  `userName is already taken by the account of ${user}: scim-bridge explain ${user} tells why that account keeps the name`;

const keptByGroupText = (name: string, group: Ref): string =>
  `the name ${name} is already taken by the group of ${group}: scim-bridge explain ${group} tells why that group keeps the name; if both groups stay, rename one of the two, or correct groups.rename if it gives both this name`;

/**
 * Returns why a new userName is refused: the account of a protected user has it, or that of a user who was deleted at the source or
 * is out of scope. The account of a leaver may be open, so the text advises no deletion before it is closed.
 */
export const takenByText = (user: Ref, { isProtected }: { isProtected: boolean }): string =>
  isProtected
    ? `userName is already taken by the account of a protected person, ${user}, whom the bridge does not change: rename the account at the platform`
    : `userName is already taken by the account of a person who left, ${user}, and closing that account alone does not free the name: rename the account at the platform, or delete it there once it is closed`;

/** Part of the message about a name whose holder is a dead letter. ops/advice.ts recognises the message by it. */
export const HOLDER_REFUSED = 'whose own change was refused';
