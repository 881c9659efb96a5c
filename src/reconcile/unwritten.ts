// Finds the changes of a plan that no sync would write: rejected by an operator, held by the guard, about a protected
// person, or a pending membership or value that waits for a decision about the account or about another group. The plan only
// reports them.
import type { Destruction } from '../directory/guard/held-changes.ts';
import { unmanagedName } from '../directory/member-names.ts';
import { parseLink, type Link } from '../directory/outbox/links.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import { fold, parseRef, refOf, type Ref } from '../directory/records.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import { mayBe } from '../sync/account-state.ts';
import { isChange, isDrift, type Action, type PlanEntry } from './entry.ts';
import { WAITS_FOR_GROUP } from './plan-groups.ts';
import type { ReconcileScope } from './scope.ts';

/** The guard's kind of each action that takes something away. */
const KIND_OF: Partial<Record<Action, DestructiveKind>> = {
  deactivate: 'deactivate',
  delete: 'delete',
  removeMember: 'removeMembers',
  clearAttribute: 'clearAttributes',
};

/** Why a pending membership waits: the state of the account, or a held removal of the person from another group. */
export type MembershipWait = 'held' | 'rejected' | 'heldRemoval';
/** Actions on the values of an account that exists and is to be active. */
const VALUES: ReadonlySet<Action> = new Set(['setAttribute', 'clearAttribute', 'update', 'reactivate']);

/** Number of resources that are read from Redis at once. */
const PORTION = 1000;
/** Reason of a change of the comparison that the guard holds. */
export const HELD_BY_GUARD = 'held by the guard until an operator decides: see scim-bridge approvals list';
/** Reasons of entries that no sync writes, by cause. */
const REASONS = {
  rejected: 'rejected by an operator, so it is not written: see scim-bridge exceptions',
  held: HELD_BY_GUARD,
  keptMember:
    'a person rejected the removal of a member, which the deletion would carry out: see scim-bridge exceptions',
  afterHeld:
    'the account is deleted after its deactivation, which the guard holds: see scim-bridge approvals list',
  afterRejected:
    'the account is deleted after its deactivation, which an operator rejected: see scim-bridge exceptions',
  protected: 'the person is listed in users.protected, so it is not written',
};
/** Text behind the reason of a pending membership that waits. */
const WAITS: Record<MembershipWait, string> = {
  held: '; waits for the held account: see scim-bridge approvals list',
  heldRemoval:
    '; waits for the held removal of the person from another group: see scim-bridge approvals list',
  rejected: '; waits for the account, whose change an operator rejected: see scim-bridge exceptions',
};
/** Text behind the reason of an attribute value of a person whose deactivation is held. */
const BEHIND_CLOSING = '; waits for the held deactivation of the person: see scim-bridge approvals list';
/**
 * Text behind the reason of a change that waits until another resource, whose own change is held, gives up its name or
 * account.
 */
const BEHIND = '; waits for the held change of who or what has its name now: see scim-bridge approvals list';
/** By the condition of an account, why its additions to groups wait for a decision. */
const WAITING: Readonly<Record<string, MembershipWait>> = {
  Held: 'held',
  LastAdministrator: 'held',
  Rejected: 'rejected',
};

/** Returns the entries; those that no sync would write have the effect `report`. */
export async function withoutUnwritten(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  const {
    outbox: { guardStore },
    target,
  } = scope;
  const why = new Map<PlanEntry, string>();
  for (const [entry, wait] of await waitingMemberships(scope, entries))
    why.set(entry, `${entry.reason}${WAITS[wait]}`);
  for (const entry of await waitingValues(scope, entries))
    why.set(entry, `${entry.reason}${WAITS.heldRemoval}`);
  const closed = new Set<Ref>();
  const asked = entries.flatMap((entry) => {
    const item = toDestruction(entry);
    return item ? [{ entry, item }] : [];
  });
  for (let start = 0; start < asked.length; start += PORTION) {
    const portion = asked.slice(start, start + PORTION);
    const [verdicts, closings, deletions] = await Promise.all([
      guardStore.verdictsOn(portion.map(({ item }) => item)),
      guardStore.verdictsOn(portion.map(({ item: { ref } }) => ({ kind: 'deactivate', ref }))),
      withHeldDeletion(
        guardStore,
        portion.map(({ item }) => item),
      ),
    ]);
    for (const [index, { entry, item }] of portion.entries()) {
      const closing = isOpenAccount(entry) ? closings[index] : undefined;
      const verdict =
        verdicts[index] ??
        (deletions[index] ? 'held' : undefined) ??
        (closing && (closing === 'held' ? 'afterHeld' : 'afterRejected')) ??
        ((await keepsMember(scope.outbox, item)) ? 'keptMember' : undefined);
      if (verdict) why.set(entry, REASONS[verdict]);
      if (verdict === 'held' && item.kind === 'deactivate') closed.add(item.ref);
    }
  }
  // The sync of such a person writes core values only (sync-user.ts), so it defines no attribute either.
  const isOpen = ({ kind, ref }: PlanEntry): boolean => kind === 'User' && ref !== null && !closed.has(ref);
  const definesElsewhere = entries.some((entry) => isOpen(entry) && isChange(entry));
  for (const entry of entries) {
    const { action, follows } = entry;
    const isDefinition = action === 'defineAttribute' && !definesElsewhere && follows && closed.has(follows);
    if (isDefinition || (isValue(entry) && closed.has(entry.ref) && !why.has(entry)))
      why.set(entry, `${entry.reason}${BEHIND_CLOSING}`);
  }
  for (const entry of await behindHeld(scope, entries)) why.set(entry, `${entry.reason}${BEHIND}`);
  const listed = new Set(target.policy.users.protected.map(fold));
  for (const entry of entries)
    if (isChange(entry) && listed.has(fold(personIn(entry)))) why.set(entry, REASONS.protected);
  return entries.map((entry) => {
    const reason = why.get(entry);
    return reason === undefined ? entry : { ...entry, effect: 'report', reason };
  });
}

/** Returns whether the entry writes or clears an attribute value of a person. */
export const isValue = (entry: PlanEntry): entry is PlanEntry & { ref: Ref; attribute: string } =>
  entry.ref !== null && (entry.action === 'setAttribute' || entry.action === 'clearAttribute');

/** Returns whether the entry deletes an account that has to be deactivated before. */
export const isOpenAccount = ({ action, kind, before }: PlanEntry): boolean =>
  action === 'delete' && kind === 'User' && before?.active === true;

/**
 * Returns for each change whether it removes a member of a group whose deletion the guard holds. Such a member leaves with the
 * group (dissolve-group.ts), unless the removal itself is approved.
 */
async function withHeldDeletion(guardStore: Outbox['guardStore'], items: Destruction[]): Promise<boolean[]> {
  const deletions = await guardStore.verdictsOn(items.map(({ ref }) => ({ kind: 'delete', ref })));
  const isHeld = items.map(({ kind }, index) => kind === 'removeMembers' && deletions[index] === 'held');
  if (!isHeld.includes(true)) return isHeld;
  const permitted = await guardStore.arePermitted(items);
  return isHeld.map((held, index) => held && !permitted[index]);
}

/** Returns whether a group that was deleted at the source stays, because a person rejected the removal of a member. */
async function keepsMember({ pendingMembers }: Outbox, { kind, ref }: Destruction): Promise<boolean> {
  const group = parseRef(ref);
  if (kind !== 'delete' || group.kind !== 'Group') return false;
  return [...(await pendingMembers(group.id)).values()].includes('r');
}

/**
 * Returns the entries; a membership whose user or group has a conflict is not written now and gets the effect `report`. For a
 * value that is lost at the platform no membership waits.
 */
export function withConflictsReported(entries: readonly PlanEntry[]): PlanEntry[] {
  const conflicts = new Set(
    entries.flatMap((entry) =>
      entry.action === 'conflict' && entry.ref !== null && !isDrift(entry) ? [entry.ref] : [],
    ),
  );
  return entries.map((entry) => {
    const { action, ref, member, reason } = entry;
    if (!member || !isChange(entry)) return entry;
    if (ref && conflicts.has(ref))
      return { ...entry, effect: 'report', reason: `${reason}${WAITS_FOR_GROUP}` };
    return action === 'addMember' && member.ref && conflicts.has(member.ref)
      ? { ...entry, effect: 'report', reason: `${reason}; waits for the user, who needs a person` }
      : entry;
  });
}

/**
 * Returns the pending memberships that wait, with the reason. A removal waits for the held deactivation, whose sync writes
 * it. An addition waits until the condition of the account has ended, and until no removal of the person from another group
 * is held.
 */
export async function waitingMemberships(
  { outbox, drifts }: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  entries: readonly PlanEntry[],
): Promise<Map<PlanEntry, MembershipWait>> {
  const { guardStore } = outbox;
  const waiting = new Map<PlanEntry, MembershipWait>();
  const pending = entries.flatMap((entry) => {
    const ref = entry.member?.ref;
    return ref && isChange(entry) && entry.attribution.cause === 'source changed' ? [{ entry, ref }] : [];
  });
  const users = [...new Set(pending.map(({ ref }) => ref))];
  // By user: why additions wait because of the account, and whether removals wait for its deactivation.
  const waits = new Map<Ref, { add?: MembershipWait | undefined; isLeaver: boolean }>();
  for (let start = 0; start < users.length; start += PORTION) {
    const portion = users.slice(start, start + PORTION);
    const [accounts, decisions] = await Promise.all([
      drifts.observe(portion),
      guardStore.decisionsOfMembers(portion.map((ref) => parseRef(ref).id)),
    ]);
    accounts.forEach(({ ref, text, marked }, index) => {
      const { condition } = parseLink(text);
      const add = marked || !condition ? undefined : WAITING[condition.reason];
      waits.set(ref, { add, isLeaver: decisions[index] === 'follows' });
    });
  }
  const added = pending.filter(({ entry, ref }) => entry.action === 'addMember' && !waits.get(ref)?.add);
  const moved = await withHeldRemoval(
    outbox,
    added.map(({ ref }) => ref),
  );
  for (const { entry, ref } of pending) {
    const known = waits.get(ref);
    let wait: MembershipWait | undefined;
    if (entry.action === 'addMember') wait = known?.add ?? (moved.has(ref) ? 'heldRemoval' : undefined);
    else if (known?.isLeaver) wait = 'held';
    if (wait) waiting.set(entry, wait);
  }
  return waiting;
}

/**
 * Returns the pending changes of users that their sync does not write while the guard holds a removal of the user from a group
 * (sync-user.ts): attributes of an open account, with all that is written behind them, and a safe activation.
 */
async function waitingValues(
  { outbox, drifts, target }: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts'>,
  entries: readonly PlanEntry[],
): Promise<PlanEntry[]> {
  const ofUser = new Map<Ref, PlanEntry[]>();
  for (const entry of entries)
    if (entry.kind === 'User' && entry.ref) ofUser.set(entry.ref, [...(ofUser.get(entry.ref) ?? []), entry]);
  const asked = [...ofUser].flatMap(([ref, own]) => {
    const pending = own.filter((entry) => isChange(entry) && entry.attribution.cause === 'source changed');
    // An account that is created, adopted or closed always gets its values.
    const isExisting = own.every(({ action }) => VALUES.has(action) || action === 'conflict');
    // Core values alone do not wait; attributes and an activation do.
    const mayWait = pending.some(({ action }) => action !== 'update');
    return isExisting && mayWait ? [{ ref, pending }] : [];
  });
  const moved = await withHeldRemoval(
    outbox,
    asked.map(({ ref }) => ref),
  );
  const waiting = asked.filter(({ ref }) => moved.has(ref));
  const links = await observedLinks(
    drifts,
    waiting.map(({ ref }) => ref),
  );
  return waiting.flatMap(({ ref, pending }) => {
    if (!mayBe(links.get(ref) ?? {}, true))
      return target.policy.users.activation === 'safe'
        ? pending.filter(({ action }) => action === 'reactivate')
        : [];
    return pending.some(({ attribute }) => attribute !== undefined) ? pending : [];
  });
}

/** Returns the stored links of the refs. */
export async function observedLinks(
  drifts: ReconcileScope['drifts'],
  refs: readonly Ref[],
): Promise<Map<Ref, Link>> {
  const links = new Map<Ref, Link>();
  for (let start = 0; start < refs.length; start += PORTION)
    for (const { ref, text } of await drifts.observe(refs.slice(start, start + PORTION)))
      links.set(ref, parseLink(text));
  return links;
}

/**
 * Returns the pending changes of new resources whose last sync ended because the guard holds the change of the resource that has their
 * name or account. A mark brings them after the decision.
 */
async function behindHeld(
  { outbox, drifts }: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  entries: readonly PlanEntry[],
): Promise<PlanEntry[]> {
  const pending = entries.flatMap((entry) => {
    const refs = [entry.ref, entry.member?.ref].flatMap((ref) => ref ?? []);
    return isChange(entry) && entry.attribution.cause === 'source changed' ? [{ entry, refs }] : [];
  });
  const asked = [...new Set(pending.flatMap(({ refs }) => refs))];
  if (asked.length === 0 || (await outbox.guardStore.open()) === undefined) return [];
  const behind = new Set<Ref>();
  for (let start = 0; start < asked.length; start += PORTION)
    for (const { ref, text, marked } of await drifts.observe(asked.slice(start, start + PORTION)))
      if (marked && isBehindHeld(parseLink(text))) behind.add(ref);
  return pending.flatMap(({ entry, refs }) => (refs.some((ref) => behind.has(ref)) ? [entry] : []));
}

/** Returns whether the held change is one of another resource: a resource without account or group has none of its own. */
const isBehindHeld = ({ id, condition }: Link): boolean => id === undefined && condition?.reason === 'Held';

/** Returns those of the users of whom the guard holds a removal from a group. */
export async function withHeldRemoval(
  { guardStore, pendingRemovals }: Pick<ReconcileScope['outbox'], 'guardStore' | 'pendingRemovals'>,
  users: readonly Ref[],
): Promise<Set<Ref>> {
  const found = new Set<Ref>();
  const all = [...new Set(users)];
  // Usually nothing is held. The check saves many reads in a first load, which has many additions.
  if (all.length === 0 || (await guardStore.open()) === undefined) return found;
  for (let start = 0; start < all.length; start += PORTION) {
    const portion = all.slice(start, start + PORTION);
    const groups = await Promise.all(portion.map((ref) => pendingRemovals(parseRef(ref).id)));
    const removals = portion.flatMap((ref, index) =>
      (groups[index] ?? []).map((group) => ({
        ref,
        item: { kind: 'removeMembers', ref: refOf('Group', group), subject: parseRef(ref).id } as const,
      })),
    );
    const verdicts = await guardStore.verdictsOn(removals.map(({ item }) => item));
    removals.forEach(({ ref }, index) => {
      if (verdicts[index] === 'held') found.add(ref);
    });
  }
  return found;
}

/** Returns the userName of the person that the entry concerns; '' for a group. */
const personIn = ({ kind, name, member }: PlanEntry): string => member?.name ?? (kind === 'User' ? name : '');

/** Returns the change in the form of the guard; undefined for a change that takes nothing away. */
export function toDestruction(entry: PlanEntry): Destruction | undefined {
  const kind = KIND_OF[entry.action];
  const { ref, attribute, member } = entry;
  if (!kind || !ref || !isChange(entry)) return undefined;
  if (kind === 'clearAttributes')
    return attribute === undefined ? undefined : { kind, ref, subject: attribute };
  if (kind !== 'removeMembers') return { kind, ref };
  const subject = member?.ref
    ? parseRef(member.ref).id
    : member?.platformId && unmanagedName(member.platformId);
  return subject ? { kind, ref, subject } : undefined;
}
