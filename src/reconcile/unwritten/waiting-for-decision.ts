// Finds the pending memberships and values that wait for a decision of an operator: about the account, about a removal of the
// person from another group, or about the resource that has the name.
import { parseLink, type Link } from '../../directory/outbox/links.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { usersToVerify } from '../compare/desired-users.ts';
import { wasBehindHold } from '../../sync/gate.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { isChange, NEWLY_LINKED, refusalOf, type Action, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { keptBySettings } from './left-by-settings.ts';

/**
 * Why a membership waits: the state of the account, or a held removal of the person from another group. `refused`: such a removal
 * of a person whose own last sync was refused too, so the decision alone does not bring the addition. `leaver`: an addition of a
 * person whom the source took away, so the addition is not wanted.
 */
export type MembershipWait = 'held' | 'rejected' | 'heldRemoval' | 'refused' | 'leaver';
/** Actions on the values of an account that exists and is to be active. */
const VALUES: ReadonlySet<Action> = new Set(['setAttribute', 'clearAttribute', 'update', 'reactivate']);

/** Number of resources that are read from Redis at once. */
export const REFS_AT_ONCE = 1000;
/** By the condition of an account, why its additions to groups wait for a decision. */
const WAITING: Readonly<Record<string, MembershipWait>> = {
  Held: 'held',
  LastAdministrator: 'held',
  Rejected: 'rejected',
};

/**
 * Returns the memberships that wait, with the reason. A pending removal waits for the held deactivation, whose sync writes it.
 * Each addition waits until the condition of the account has ended, and until no removal of the person from another group is
 * held.
 */
export async function waitingMemberships(
  scope: Pick<ReconcileScope, 'outbox' | 'drifts' | 'directory' | 'target'>,
  entries: readonly PlanEntry[],
): Promise<Map<PlanEntry, MembershipWait>> {
  const { outbox, drifts } = scope;
  const { guardStore } = outbox;
  const waiting = new Map<PlanEntry, MembershipWait>();
  const anew = new Set(entries.flatMap(({ ref, action }) => (NEWLY_LINKED.has(action) ? [ref] : [])));
  const pending = entries.flatMap((entry) => {
    const ref = entry.member?.ref;
    // The memberships of a new account are written with it. Other additions wait whatever their cause is, removals if pending.
    const isAddition = entry.action === 'addMember' && !anew.has(ref ?? null);
    const isPending = entry.attribution.cause === 'source changed' || isAddition;
    return ref && isChange(entry) && isPending ? [{ entry, ref }] : [];
  });
  const users = [...new Set(pending.map(({ ref }) => ref))];
  // By user: why additions wait because of the account, and whether removals wait for its deactivation (`follows`: guard_leavers.lua).
  const waits = new Map<Ref, { add?: MembershipWait | undefined; isLeaver: boolean; isRefused: boolean }>();
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
      const wait = marked ? decided : condition && WAITING[condition.reason];
      const isOut = condition?.isLeaver && wanted?.inScope !== true;
      const add = wait && isOut ? 'leaver' : wait;
      const isRefused = refusalOf(link, marked) !== undefined;
      waits.set(ref, { add, isLeaver: decisions[index] === 'follows', isRefused });
    });
  }
  const added = pending.filter(({ entry, ref }) => entry.action === 'addMember' && !waits.get(ref)?.add);
  const moved = await withHeldRemoval(
    scope,
    added.map(({ ref }) => ref),
    createdIn(entries),
  );
  for (const { entry, ref } of pending) {
    const known = waits.get(ref);
    let wait: MembershipWait | undefined;
    const behindRemoval = known?.isRefused ? 'refused' : 'heldRemoval';
    if (entry.action === 'addMember') wait = known?.add ?? (moved.has(ref) ? behindRemoval : undefined);
    else if (known?.isLeaver) wait = 'held';
    if (wait) waiting.set(entry, wait);
  }
  return waiting;
}

/**
 * Returns the changes of users that their sync does not write while the guard holds a removal of the user from a group
 * (sync-user.ts): attributes of an open account with all changes that are written after them, and, with
 * `users.activation: safe`, a reactivation.
 */
export async function waitingValues(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts' | 'directory'>,
  entries: readonly PlanEntry[],
): Promise<PlanEntry[]> {
  const { drifts, target } = scope;
  const ofUser = new Map<Ref, PlanEntry[]>();
  for (const entry of entries)
    if (entry.kind === 'User' && entry.ref) ofUser.set(entry.ref, [...(ofUser.get(entry.ref) ?? []), entry]);
  const asked = [...ofUser].flatMap(([ref, own]) => {
    const changes = own.filter(isChange);
    // An account that is created, adopted or closed always gets its values.
    const isExisting = own.every(({ action }) => VALUES.has(action) || action === 'conflict');
    // Core values alone do not wait; attributes and an activation do.
    const mayWait = changes.some(({ action }) => action !== 'update');
    return isExisting && mayWait ? [{ ref, changes }] : [];
  });
  const moved = await withHeldRemoval(
    scope,
    asked.map(({ ref }) => ref),
    createdIn(entries),
  );
  const waiting = asked.filter(({ ref }) => moved.has(ref));
  const links = await observedLinks(
    drifts,
    waiting.map(({ ref }) => ref),
  );
  return waiting.flatMap(({ ref, changes }) => {
    const hasValues = changes.some(({ attribute }) => attribute !== undefined);
    if (hasValues && mayBeActive(links.get(ref) ?? {})) return changes;
    const isSafe = target.policy.users.activation === 'safe';
    return isSafe ? changes.filter(({ action }) => action === 'reactivate') : [];
  });
}

/** Returns the stored links of the refs. */
export async function observedLinks(
  drifts: ReconcileScope['drifts'],
  refs: readonly Ref[],
): Promise<Map<Ref, Link>> {
  const observed = await drifts.readLinks(refs);
  return new Map(observed.map(({ ref, text }) => [ref, parseLink(text)]));
}

/**
 * Returns the pending changes of resources whose last sync ended because the guard holds the change of the resource that has their
 * name or account. A mark brings them after the decision. A new resource waits with all its changes, also its memberships.
 */
export async function behindHeld(
  { outbox, drifts }: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  entries: readonly PlanEntry[],
): Promise<PlanEntry[]> {
  const pending = entries.flatMap((entry) => {
    const refs = [entry.ref, entry.member?.ref].flatMap((ref) => ref ?? []);
    return isChange(entry) && entry.attribution.cause === 'source changed' ? [{ entry, refs }] : [];
  });
  const asked = [...new Set(pending.flatMap(({ refs }) => refs))];
  if (asked.length === 0 || (await outbox.guardStore.open()) === undefined) return [];
  const behind = new Map<Ref, 'new' | 'linked'>();
  for (const { ref, text, marked } of await drifts.readLinks(asked)) {
    const link = parseLink(text);
    if (marked && wasBehindHold(link)) behind.set(ref, link.id === undefined ? 'new' : 'linked');
  }
  return pending.flatMap(({ entry, refs }) => {
    const waits =
      refs.some((ref) => behind.get(ref) === 'new') ||
      (entry.ref !== null && behind.get(entry.ref) === 'linked' && isBehindName(entry));
    return waits ? [entry] : [];
  });
}

/** Returns whether the sync of a linked resource writes the change with the new name or behind it (sync-user.ts, sync-group.ts). */
const isBehindName = ({ action, kind }: PlanEntry): boolean =>
  action === 'update' || action === (kind === 'User' ? 'reactivate' : 'addMember');

/** Returns the resources that the sync creates. The held removals of members end with the group that is gone. */
const createdIn = (entries: readonly PlanEntry[]): ReadonlySet<Ref | null> =>
  new Set(entries.flatMap((entry) => (entry.action === 'create' && isChange(entry) ? [entry.ref] : [])));

/**
 * Returns the users of whom the guard holds a removal from a group. A removal that the present settings do not want does not count.
 * @param made groups that are created again; held removals from the former groups end, so they are not looked up
 */
export async function withHeldRemoval(
  scope: Pick<ReconcileScope, 'outbox' | 'directory' | 'target'>,
  users: readonly Ref[],
  made: ReadonlySet<Ref | null> = new Set(),
): Promise<Set<Ref>> {
  const { guardStore, pendingRemovals } = scope.outbox;
  const found = new Set<Ref>();
  const all = [...new Set(users)];
  // Usually nothing is held. The check saves many reads in a first load, which has many additions.
  if (all.length === 0 || (await guardStore.open()) === undefined) return found;
  for (const portion of inPortions(all, REFS_AT_ONCE)) {
    const groups = await Promise.all(portion.map((ref) => pendingRemovals(parseRef(ref).id)));
    const removals = portion.flatMap((ref, index) =>
      (groups[index] ?? []).map((group) => ({
        ref,
        item: { kind: 'removeMembers', ref: refOf('Group', group), subject: parseRef(ref).id } as const,
      })),
    );
    const verdicts = await guardStore.verdictsOn(removals.map(({ item }) => item));
    const held = removals.filter(({ item }, index) => verdicts[index] === 'held' && !made.has(item.ref));
    const left = await keptBySettings(
      scope,
      held.map(({ item }) => item.ref),
    );
    for (const { ref, item } of held) if (!left.has(item.ref)) found.add(ref);
  }
  return found;
}
