// Finds the memberships and values that no sync writes before an operator has acted, so that a plan, or the report of a sync, shows
// them with the reason. A membership waits for a decision about the account of the member (`accountWaits`). Memberships and values
// of a person also wait while a removal of the person from another group is held or refused (removal-stops.ts).
import { parseLink } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { usersToVerify } from '../compare/desired-users.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { isChange, NEWLY_LINKED, type Action, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { observedLinks } from './observed-links.ts';
import { REFS_AT_ONCE, removalStops, type RemovalStop } from './removal-stops.ts';

/**
 * Why a membership waits: the state of the account, or a removal of the person from another group. `refused`: a held removal of a
 * person whose own last sync was refused too, so the decision alone does not bring the addition. `leaver`: an addition of a
 * person whom the source took away, so the addition is not wanted.
 */
export type MembershipWait = 'held' | 'rejected' | RemovalStop | 'refused' | 'leaver';

/**
 * Returns the memberships that wait, with the reason. An addition waits while the deactivation of the member is held or rejected,
 * and while a removal of the member from another group is stopped (`RemovalStop`). A removal that the source made waits while the
 * deactivation is held, because the same sync writes it. Every removal of a deleted person waits while the deactivation is
 * rejected.
 */
export async function waitingMemberships(
  scope: Pick<ReconcileScope, 'outbox' | 'drifts' | 'directory' | 'target'>,
  entries: readonly PlanEntry[],
): Promise<Map<PlanEntry, MembershipWait>> {
  const pending = changesOfMembers(entries);
  const users = [...new Set(pending.map(({ ref }) => ref))];
  const waits = await accountWaits(scope, users);
  const added = pending.filter(({ entry, ref }) => entry.action === 'addMember' && !waits.get(ref)?.add);
  const stops = await removalStops(
    scope,
    added.map(({ ref }) => ref),
    createdIn(entries),
  );
  const waiting = new Map<PlanEntry, MembershipWait>();
  for (const { entry, ref } of pending) {
    const known = waits.get(ref);
    const stop = stops.get(ref);
    const behindRemoval = stop === 'heldRemoval' && known?.isRefused ? 'refused' : stop;
    let wait: MembershipWait | undefined;
    if (entry.action === 'addMember') wait = known?.add ?? behindRemoval;
    // Any other removal is still a change of the plan: a run makes it pending, and only then does it wait for the held
    // deactivation.
    else if (known?.remove === 'rejected' || entry.attribution.cause === 'source changed')
      wait = known?.remove;
    if (wait) waiting.set(entry, wait);
  }
  return waiting;
}

/** Returns the changes of memberships with the user, without the additions that are written together with a new account. */
function changesOfMembers(entries: readonly PlanEntry[]): { entry: PlanEntry; ref: Ref }[] {
  // People whose account the sync links or makes, and then closes: a held or rejected deactivation concerns that account too.
  const closed = new Set(
    entries.flatMap((entry) => (entry.action === 'deactivate' && isChange(entry) ? [entry.ref] : [])),
  );
  const anew = new Set(
    entries.flatMap(({ ref, action }) => (NEWLY_LINKED.has(action) && !closed.has(ref) ? [ref] : [])),
  );
  return entries.flatMap((entry) => {
    const ref = entry.member?.ref;
    // The memberships of a new account are written with it, unless the account is to be closed.
    const isOfNew =
      entry.action === 'addMember' && anew.has(ref ?? null) && entry.attribution.cause !== 'source changed';
    return ref && isChange(entry) && !isOfNew ? [{ entry, ref }] : [];
  });
}

/** By the condition of an account, why its additions to groups wait for a decision. */
const ADDITION_WAITS: Readonly<Record<string, MembershipWait>> = {
  Held: 'held',
  LastAdministrator: 'held',
  Rejected: 'rejected',
};

/**
 * By the decision about the removal of a member (guard_leavers.lua), why the removal waits for the account of that member. With any
 * other decision the removal waits for no person.
 */
const REMOVAL_WAITS: Readonly<Record<string, MembershipWait | undefined>> = {
  follows: 'held',
  rejected: 'rejected',
};

/** Why the memberships of a user wait because of the account. Undefined: they do not. */
interface AccountWait {
  /** Why additions to groups wait. */
  add: MembershipWait | undefined;
  /** Why removals from groups wait. */
  remove: MembershipWait | undefined;
  /** Whether the last sync of the user was refused. */
  isRefused: boolean;
}

/** Returns for each user why memberships wait because of the account. */
async function accountWaits(
  scope: Pick<ReconcileScope, 'outbox' | 'drifts' | 'directory' | 'target'>,
  users: readonly Ref[],
): Promise<ReadonlyMap<Ref, AccountWait>> {
  const { drifts } = scope;
  const { guardStore } = scope.outbox;
  const waits = new Map<Ref, AccountWait>();
  for (const portion of inPortions(users, REFS_AT_ONCE)) {
    const [accounts, decisions, closings] = await Promise.all([
      drifts.readLinks(portion),
      guardStore.decisionsOfMembers(portion.map((ref) => parseRef(ref).id)),
      guardStore.verdictsOn(portion.map((ref) => ({ kind: 'deactivate', ref }))),
    ]);
    // Other settings may want the person again since the condition was stored, and a pending change may be the return.
    const leavers = await usersToVerify(
      scope,
      accounts.filter(
        ({ text, marked }, index) => parseLink(text).condition?.isLeaver || (marked && closings[index]),
      ),
    );
    accounts.forEach(({ ref, text, marked }, index) => {
      const link = parseLink(text);
      const { condition } = link;
      const wanted = leavers.get(ref)?.wanted;
      // The sync of a marked person meets this verdict of the guard on the deactivation, unless the person is to be active again.
      const decided = wanted?.active ? undefined : closings[index];
      const wait = marked ? decided : condition && ADDITION_WAITS[condition.reason];
      const isOut = condition?.isLeaver && wanted?.inScope !== true;
      const add = wait && isOut ? 'leaver' : wait;
      const isRefused = refusalOf(link, marked) !== undefined;
      waits.set(ref, { add, remove: REMOVAL_WAITS[decisions[index] ?? 'alone'], isRefused });
    });
  }
  return waits;
}

/** Actions on the values of an account that exists and is to be active. */
const VALUES: ReadonlySet<Action> = new Set(['setAttribute', 'clearAttribute', 'update', 'reactivate']);

/**
 * Returns the changes of users that their sync does not write while a removal of the user from a group is stopped, and what stops
 * the removal (sync-user.ts): attributes of an open account with all changes that are written after them, and, with
 * `users.activation: safe`, a reactivation.
 */
export async function waitingValues(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts' | 'directory'>,
  entries: readonly PlanEntry[],
): Promise<Map<PlanEntry, RemovalStop>> {
  const { drifts, target } = scope;
  const ofUser = new Map<Ref, PlanEntry[]>();
  for (const entry of entries)
    if (entry.kind === 'User' && entry.ref) ofUser.set(entry.ref, [...(ofUser.get(entry.ref) ?? []), entry]);
  const asked = [...ofUser].flatMap(([ref, own]) => {
    const changes = own.filter(isChange);
    // An account that is created, adopted or closed always gets its values.
    const isExisting = own.every(({ action }) => VALUES.has(action) || action === 'conflict');
    // Core values alone never wait for the stopped removal. Attributes do, and so does a safe activation (`isSafe`).
    const mayWait = changes.some(({ action }) => action !== 'update');
    return isExisting && mayWait ? [{ ref, changes }] : [];
  });
  const stops = await removalStops(
    scope,
    asked.map(({ ref }) => ref),
    createdIn(entries),
  );
  const waiting = asked.flatMap(({ ref, changes }) => {
    const stop = stops.get(ref);
    return stop ? [{ ref, changes, stop }] : [];
  });
  const links = await observedLinks(
    drifts,
    waiting.map(({ ref }) => ref),
  );
  const found = waiting.flatMap(({ ref, changes, stop }) => {
    const hasValues = changes.some(({ attribute }) => attribute !== undefined);
    const isWhole = hasValues && mayBeActive(links.get(ref) ?? {});
    const isSafe = target.policy.users.activation === 'safe';
    const unwritten = changes.filter(({ action }) => isWhole || (isSafe && action === 'reactivate'));
    return unwritten.map((entry) => [entry, stop] as const);
  });
  return new Map(found);
}

/** Returns the refs that the sync creates. With a group that is created again, the held removals from the former group end. */
const createdIn = (entries: readonly PlanEntry[]): ReadonlySet<Ref | null> =>
  new Set(entries.flatMap((entry) => (entry.action === 'create' && isChange(entry) ? [entry.ref] : [])));
