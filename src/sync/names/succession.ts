// Handles names that pass from one resource to another. The two syncs run in any order, so the new holder waits for the former one
// before it reports a conflict: without end while the former one has a pending sync or a held change.
// Whether to wait: `isHandedOn`, `isOutdated`, `isExternalIdPending`. How long: `successionWait`. The message: `behindPending`.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import { fold, parseRef, refOf, type Kind, type Ref } from '../../directory/records.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { isAwaitingDecision, type Condition } from '../../directory/outbox/link-condition.ts';
import { condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { isoTime } from '../../support/sources.ts';

/** The wait grows by this step with each attempt, up to LONGEST_WAIT_MS. */
const STEP_MS = 250;
const LONGEST_WAIT_MS = 5000;
/** Number of attempts before a conflict is reported; they take about a minute. */
const MAX_ATTEMPTS = 20;
/** Number of attempts that follow each other quickly while a sync of the holder is pending. */
const QUICK_ATTEMPTS = 3;
/** Interval of the attempts after the quick ones, in case the notification at the end of the holder's sync was lost. */
const PENDING_HOLDER_RETRY_MS = 15_000;

/** Interval of attempts while the guard holds the change of the former holder. A decision makes the new holder due at once. */
const HELD_HOLDER_RETRY_MS = 60_000;

type HolderState = Awaited<ReturnType<typeof holderStateOf>>;

/**
 * Returns whether another resource is linked to the account or group and may still give it up: its sync is pending, a change of it
 * is held, or groups are still to remove it. Stores the other resource in `gate.holder`, also when false is returned.
 */
export async function isHandedOn(context: SyncContext, kind: Kind, platformId: string): Promise<boolean> {
  const { gate, links, target, work } = context;
  const ref = await links.holderOf(target.name, kind, platformId);
  if (ref === undefined || ref === work.ref) return false;
  const state = await holderStateOf(context, ref);
  gate.heldHolder = state.isHeld ? ref : null;
  gate.holder = { ref, isMarked: state.isMarked, pendingSince: state.pendingSince };
  return isToBeSynced(state);
}

/** Returns whether a sync is to come after which the resource may have given up its name. */
export const isToBeSynced = ({ isHeld, removals, pendingSince }: HolderState): boolean =>
  isHeld || removals.length > 0 || pendingSince !== undefined;

/**
 * Reads what keeps a resource from giving up its name or account.
 * @returns `removals`: groups that are still to remove the user; `isHeld`: whether the guard holds one of these removals, or the
 *   closing or deletion of the resource; `pendingSince`: since when a sync of the resource, or of one of these groups, is pending,
 *   Unix milliseconds; `isMarked`: whether a sync of the resource itself is pending
 */
export async function holderStateOf({ outbox }: Pick<SyncContext, 'outbox'>, holder: Ref) {
  const { kind, id } = parseRef(holder);
  // The new holder must not inherit memberships whose removal is pending.
  const groups = kind === 'User' ? await outbox.pendingRemovals(id) : [];
  const held = await outbox.guardStore.areHeld([
    { kind: 'deactivate', ref: holder },
    { kind: 'delete', ref: holder },
    ...groups.map((group) => removal(group, id)),
  ]);
  const removals = groups.map((group) => refOf('Group', group));
  const markedSince = await outbox.pendingSince([holder]);
  const pendingSince = markedSince ?? (await outbox.pendingSince(removals));
  return { isHeld: held.includes(true), removals, pendingSince, isMarked: markedSince !== undefined };
}

/**
 * Returns why another user must not get the account of a leaver; undefined: the user may. The account still has the leaver's
 * access if an operator rejected its closing or its removal from a group, or if the leaver is protected.
 */
export async function keptForLeaver(
  { outbox }: Pick<SyncContext, 'outbox'>,
  leaver: Ref,
): Promise<string | undefined> {
  const [keepsOpen, keepsAccount] = await outbox.guardStore.areRejected([
    { kind: 'deactivate', ref: leaver },
    { kind: 'delete', ref: leaver },
  ]);
  const { pendingMemberships } = await outbox.resourceStatus(leaver);
  // `r`: a kept removal (docs/glossary.md, pending membership).
  const kept = withSign(pendingMemberships, MEMBERSHIP_SIGN.keptRemoval).map((group) =>
    removal(group, parseRef(leaver).id),
  );
  if (!keepsOpen && !keepsAccount && kept.length === 0) return undefined;
  const isRejected = keepsOpen || keepsAccount || (await outbox.guardStore.areRejected(kept)).includes(true);
  if (!isRejected)
    return `the account has the access of a leaver, ${leaver}, whom users.protected keeps in a group against the source: take the name out, restart, then retry`;
  let what = 'removal from a group';
  if (keepsAccount) what = 'deletion';
  if (keepsOpen) what = 'deactivation';
  return `the account has the access of a leaver, ${leaver}, whose ${what} a person rejected: approve it or take the rejection back (scim-bridge approvals list --all), then retry`;
}

/** Returns whether a list of the platform is out of date: it shows another name than the link of the account or group has. */
export async function isOutdated(
  { links, target }: SyncContext,
  kind: Kind,
  shown: { id: string; name: string },
): Promise<boolean> {
  const holder = await links.holderOf(target.name, kind, shown.id);
  if (holder === undefined) return false;
  const { id, core } = await links.get(target.name, holder);
  const name = kind === 'User' ? core?.userName : core?.displayName;
  return id === shown.id && fold(String(name ?? '')) !== fold(shown.name);
}

/**
 * Returns whether another user with the externalId of the account has a pending sync: that user may take the account over, or may
 * have created it without receiving the answer.
 * @param own user who is left out
 */
export async function isExternalIdPending(
  { directory, outbox }: Pick<SyncContext, 'directory' | 'outbox'>,
  { externalId }: { externalId?: string | boolean | null | undefined },
  own: Ref,
): Promise<boolean> {
  if (!externalId) return false;
  // The directory names its indexes in lower case.
  const ids = (await directory.lookup('User', 'externalid', String(externalId))) ?? [];
  const others = ids.map((id) => refOf('User', id)).filter((ref) => ref !== own);
  return (await Promise.all(others.map(async (ref) => outbox.isMarked(ref)))).includes(true);
}

/** Returns the removal of a user from a group, in the form in which the guard stores it. */
export const removal = (group: string, user: string): Destruction => ({
  kind: 'removeMembers',
  ref: refOf('Group', group),
  subject: user,
});

/**
 * Counts an attempt. No attempt counts while the guard holds a change of the former holder, and at most QUICK_ATTEMPTS while its
 * sync is pending: the decision, or the end of that sync, makes this resource due.
 * @returns milliseconds to wait for the former holder; undefined after the last attempt
 */
export function successionWait({ gate, link }: SyncContext): number | undefined {
  if (gate.heldHolder) return HELD_HOLDER_RETRY_MS;
  const attempt = (link.successionAttempts ?? 0) + 1;
  if (gate.holder?.pendingSince !== undefined) {
    link.successionAttempts = Math.min(attempt, QUICK_ATTEMPTS);
    return attempt > QUICK_ATTEMPTS ? PENDING_HOLDER_RETRY_MS : STEP_MS * attempt;
  }
  link.successionAttempts = attempt;
  return attempt > MAX_ATTEMPTS ? undefined : Math.min(STEP_MS * attempt, LONGEST_WAIT_MS);
}

/**
 * Returns the condition of a sync that waits, after the quick attempts, for the pending sync of the former holder; undefined for
 * every other sync, and for a resource whose condition is about a decision.
 */
export function behindPending(context: SyncContext): Condition | undefined {
  const { gate, link } = context;
  const { ref, pendingSince } = gate.holder ?? {};
  const isLong = (link.successionAttempts ?? 0) >= QUICK_ATTEMPTS;
  if (ref === undefined || pendingSince === undefined || !isLong || isAwaitingDecision(link.condition))
    return undefined;
  const since = isoTime(pendingSince);
  return condition(
    context,
    'NameTaken',
    `it waits until ${ref} gives up a name or account, and the change of ${ref} is pending since ${since}: scim-bridge explain ${ref} tells why`,
  );
}
