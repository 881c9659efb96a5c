// Handles a new userName or group name that another resource still has: waits for the holder, and breaks circles of names. In a
// circle of names two or more resources wait for each other's names; a temporary name for one of them breaks it.
import { isNeverRenamed, platformIdOf, type Link } from '../../directory/outbox/links.ts';
import { fold, parseRef, type Kind, type Ref } from '../../directory/records.ts';
import type { Resource } from '../../scim/index.ts';
import type { SyncContext } from '../context.ts';
import { condition } from '../condition.ts';
import { mayHaveCommitted } from '../calls/failures.ts';
import { takenElsewhere, type NotOurs } from './taken-by-connection.ts';
import { isExternalIdPending, isHandedOn, isOutdated, successionWait } from './succession.ts';

/** Number of attempts that found the name taken before a circle is searched. */
const CIRCLE_AFTER = 2;
/** Largest number of resources in a circle. */
export const LONGEST_CIRCLE = 8;
/** Interval of attempts of a resource with a temporary name, after those of `successionWait`. */
const ASIDE_RETRY_MS = 15_000;

/** An account or group as the platform shows it. */
interface Shown {
  id: string;
  name: string;
}

/**
 * Returns why a new userName is refused: the account of a protected user has it, or that of a user who was deleted at the source or
 * is out of scope. The account of a leaver may be open, so the text advises no deletion before it is closed.
 */
export const takenByText = (user: Ref, { isProtected }: { isProtected: boolean }): string =>
  isProtected
    ? `userName is already taken by the account of a protected person, ${user}, whom the bridge does not change: rename the account at the platform`
    : `userName is already taken by the account of a person who left, ${user}, and closing that account alone does not free the name: rename the account at the platform, or delete it there once it is closed`;

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
  const isKept = neverRenamed !== undefined && !isTakenOver && (await keepsName(context, neverRenamed.ref));
  // One attempt does not prove the conflict: between its reads an approval may end or the account be deleted, and a list may lag.
  const isFirstAttempt = (context.link.successionAttempts ?? 0) === 0;
  const waitMs = (): number | undefined => (isFirstAttempt ? successionWait(context) : undefined);
  const afterMs = isKept
    ? waitMs()
    : ((await waitForHolder(context, name, holders[0])) ??
      (isTakenOver ? successionWait(context) : undefined));
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  if (!holder) return undefined;
  const { ref, link } = holder;
  // While a sync of the holder is pending, that person may be back at the source: then the message advises no deletion.
  const keepsAccount =
    neverRenamed !== undefined && !isTakenOver && !(await context.outbox.isMarked(neverRenamed.ref));
  const message = keepsAccount
    ? takenByText(ref, { isProtected: link.condition?.reason === 'Protected' })
    : `userName is already taken by the account of ${ref}: scim-bridge explain ${ref} tells why that account keeps the name`;
  return { kind: 'blocked', condition: condition(context, 'Conflict', message, 409) };
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

/** Returns milliseconds to wait; undefined when the holder keeps the name. May break a circle by a temporary name. */
async function waitForHolder(
  context: SyncContext,
  name: string,
  holder: Shown | undefined,
): Promise<number | undefined> {
  const { link, work } = context;
  // The holder released the name just now, or the list lags.
  if (holder === undefined || holder.id === link.id) return successionWait(context);
  // In this order: only the link of a resource without a pending sync is known to have its current name.
  if (!(await isHandedOn(context, work.kind, holder.id)) && !(await retryRefusedHolder(context, holder.id)))
    return (await isOutdated(context, work.kind, holder)) ? successionWait(context) : undefined;
  if ((link.successionAttempts ?? 0) >= CIRCLE_AFTER && (await isFirstOfCircle(context, holder.id)))
    await stepAside(context, name);
  // A resource with a temporary name waits without end while the holder has a pending sync, because that name must not stay.
  return successionWait(context) ?? (nameBehind(context) === undefined ? undefined : ASIDE_RETRY_MS);
}

/**
 * Marks the holder of the name if it is a dead letter whose new name is the present one of this resource. It may have been refused
 * while that name was of an account or group without a link, made by a create whose answer was lost. Done at the first attempt
 * only, because the holder may be refused again.
 * @returns whether the holder is marked now
 */
async function retryRefusedHolder(context: SyncContext, platformId: string): Promise<boolean> {
  const { directory, link, links, outbox, target, work } = context;
  const ref = await links.holderOf(target.name, work.kind, platformId);
  if (ref === undefined || link.successionAttempts !== undefined || (await outbox.isAtRest(ref)))
    return false;
  const record = await directory.get(work.kind, parseRef(ref).id);
  const wanted = record?.text ? wantedName(context, work.kind, record.text) : undefined;
  if (wanted === undefined || fold(wanted) !== fold(String(link.core?.[namePathOf(work.kind)]))) return false;
  await outbox.mark([ref], 'edit', work.request);
  return true;
}

/** Returns the accounts or groups that the platform shows with this name. */
async function called({ target, call, work }: SyncContext, name: string): Promise<Shown[]> {
  const { users, groups } = target.client;
  const found =
    work.kind === 'User'
      ? (await users.findBy('userName', name, call)).map(({ id, userName }) => ({ id, name: userName }))
      : (await groups.findByDisplayName(name, call)).map(({ id, displayName }) => ({
          id,
          name: displayName,
        }));
  return found.filter((shown) => fold(shown.name) === fold(name));
}

/**
 * Returns whether this resource has the smallest ref in a circle of resources that wait for each other's names; that one takes a
 * temporary name. Notes in the gate the resource for whose held change one of them waits.
 */
async function isFirstOfCircle(context: SyncContext, holderId: string): Promise<boolean> {
  const { directory, gate, links, target, work } = context;
  const passed: Ref[] = [];
  let platformId = holderId;
  while (passed.length < LONGEST_CIRCLE) {
    const ref = await links.holderOf(target.name, work.kind, platformId);
    // No resource of this connection has the name, or the circle does not contain this resource.
    if (ref === undefined || passed.includes(ref)) return false;
    if (ref === work.ref) return passed.every((other) => work.ref < other);
    // A dead letter takes no other name, and a held deletion releases the name only after its approval.
    if (!(await isHandedOn(context, work.kind, platformId)) || gate.heldHolder) return false;
    passed.push(ref);
    const record = await directory.get(work.kind, parseRef(ref).id);
    const wanted = record?.text ? wantedName(context, work.kind, record.text) : undefined;
    // A resource without a readable record, or out of scope, waits for no name.
    const [next] = wanted === undefined ? [] : await called(context, wanted);
    // The next name is free, so the others come free one after another.
    if (next === undefined) return false;
    platformId = next.id;
  }
  return false;
}

/** Returns the name that a stored resource should have at the target; undefined: none. */
function wantedName({ target }: SyncContext, kind: Kind, text: string): string | undefined {
  const { userName, displayName } = JSON.parse(text) as Resource;
  return kind === 'User' ? String(userName) : target.mapping.groupName(String(displayName));
}

/** Returns the path of the attribute that holds the name. */
export const namePathOf = (kind: Kind) => (kind === 'User' ? 'userName' : 'displayName');

/** Returns the name that a resource with the temporary name of `stepAside` waits for; undefined: its name is not temporary. */
export function nameBehind({ link, work }: SyncContext): string | undefined {
  const name = String(link.core?.[namePathOf(work.kind)]);
  return name.startsWith(`${work.id}.`) ? name.slice(work.id.length + 1) : undefined;
}

/** Renames the resource to `<id>.<name that it waits for>`, which is unique and releases its old name for the others. */
async function stepAside(context: SyncContext, name: string): Promise<void> {
  const { link, target, work } = context;
  const path = namePathOf(work.kind);
  const { core, observed } = link;
  const temporaryName = `${work.id}.${name}`;
  const rename = [{ op: 'replace' as const, path, value: temporaryName }];
  const { users, groups } = target.client;
  // The attempt saves the temporary name as unsure before the write, so that after a lost answer it is known and must not stay.
  link.core = { ...core, [path]: temporaryName };
  link.observed = { ...observed, [path]: core?.[path] };
  try {
    await (work.kind === 'User'
      ? context.attempt([path], 'update user', () => users.patch(platformIdOf(link), rename, context.call))
      : context.attempt([path], 'rename group', () =>
          groups.patch(platformIdOf(link), rename, context.call),
        ));
  } catch (error) {
    if (!mayHaveCommitted(error)) Object.assign(link, { core, observed });
    throw error;
  }
  await context.save();
}
