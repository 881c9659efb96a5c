// Finds the changes of a plan that the guard is to hold, because their kind has reached its limit. The plan only tells it: the
// guard decides when a change is written.
import type { Destruction } from '../directory/guard/held-changes.ts';
import type { Ref } from '../directory/records.ts';
import { allowanceOf, DESTRUCTIVE_KINDS, populationOf } from '../guard/judge.ts';
import { mayBeActive } from '../sync/account-state.ts';
import { isChange, needsNoPermission, type PlanEntry } from './entry.ts';
import type { ReconcileScope } from './scope.ts';
import { isOpenAccount, isValue, toDestruction } from './unwritten.ts';
import { observedLinks } from './waiting-for-decision.ts';

const TO_BE_HELD = 'to be held by the guard until an operator decides';

/** Returns whether the guard is to hold the change, or another change of the same person that it waits for. */
export const isToBeHeld = (entry: PlanEntry): boolean => isChange(entry) && entry.reason.endsWith(TO_BE_HELD);

/** A change that takes something away, as plan entry and in the form of the guard. */
interface Removal {
  entry: PlanEntry;
  item: Destruction;
}

/**
 * Returns the entries; the reason of each that the guard is to hold says so. Of pushed changes that fit into the limit in
 * part, none is named, because the order of their syncs decides which are held.
 */
export async function withToBeHeld(
  { outbox: { guardStore }, target, drifts }: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  const removals = entries.flatMap((entry): Removal[] => {
    const item = needsNoPermission(entry) ? undefined : toDestruction(entry);
    // An open account is closed before it is deleted.
    if (item && isOpenAccount(entry)) return [{ entry, item: { kind: 'deactivate', ref: item.ref } }];
    return item ? [{ entry, item }] : [];
  });
  if (removals.length === 0) return entries;
  const { guard } = target.policy;
  const [permitted, { population, kinds }, links] = await Promise.all([
    guardStore.arePermitted(removals.map(({ item }) => item)),
    guardStore.counts(guard.windowMs),
    observedLinks(drifts, [...new Set(removals.flatMap(({ entry }) => accountOfRemoval(entry) ?? []))]),
  ]);
  // Left out: permitted changes, and memberships and values of a closed account, which give no access and need no permission.
  const asked = removals.filter(({ entry }, index) => {
    const account = accountOfRemoval(entry);
    const link = account && links.get(account);
    return !permitted[index] && (link === undefined || mayBeActive(link));
  });
  const leavers = new Set(asked.flatMap(({ item }) => (item.kind === 'deactivate' ? [item.ref] : [])));
  // The removal of a person whose account is to be closed is decided with the account.
  const isWithAccount = ({ member }: PlanEntry): boolean => !!member?.ref && leavers.has(member.ref);
  const held = new Set<PlanEntry>();
  for (const kind of DESTRUCTIVE_KINDS) {
    const own = asked.filter(({ item, entry }) => item.kind === kind && !isWithAccount(entry));
    if (own.length === 0) continue;
    const pushed = countByRef(own.filter(({ entry }) => isPushed(entry)));
    const fresh = own.filter(({ entry }) => !isPushed(entry) && !isOpenAccount(entry)).length;
    const isClosing = kind === 'deactivate';
    // A deactivation counts from the push on.
    const waiting = isClosing ? Math.max(kinds[kind].waiting, pushed.size) : 0;
    for (const { entry, item } of own) {
      // A run asks for all of its changes together, and a sync for those of its resource.
      let more = isOpenAccount(entry) ? 1 : fresh;
      if (isPushed(entry)) more = isClosing ? 0 : (pushed.get(item.ref) ?? 1);
      const size = populationOf(kind, population, kinds[kind], more);
      if (kinds[kind].used + kinds[kind].held + waiting + more > allowanceOf(guard[kind], size))
        held.add(entry);
    }
  }
  const closings = new Set(
    asked.flatMap(({ entry, item }) => (item.kind === 'deactivate' && held.has(entry) ? [item.ref] : [])),
  );
  for (const { entry } of asked)
    if (isWithAccount(entry) && entry.member?.ref && closings.has(entry.member.ref)) held.add(entry);
  const behind = behindThese(entries, { held, closings });
  return entries.map((entry) => {
    if (held.has(entry)) return { ...entry, reason: `${entry.reason}; ${TO_BE_HELD}` };
    if (!behind.has(entry)) return entry;
    return { ...entry, reason: `${entry.reason}; waits for a change of the same person, ${TO_BE_HELD}` };
  });
}

/**
 * Returns the changes that the sync of a person does not write while the guard holds another change of the person: additions to
 * groups and, behind a deactivation, attribute values; behind a removal from a group, attribute values with the core values that
 * are written after them (sync-user.ts).
 * @param closings users whose deactivation is to be held
 */
function behindThese(
  entries: readonly PlanEntry[],
  { held, closings }: { held: ReadonlySet<PlanEntry>; closings: ReadonlySet<Ref> },
): Set<PlanEntry> {
  const leaving = new Set(
    [...held].flatMap(({ action, member }) => (action === 'removeMember' && member?.ref) || []),
  );
  const withValues = new Set(
    entries.flatMap((entry) => (isValue(entry) && leaving.has(entry.ref) ? [entry.ref] : [])),
  );
  const isBehind = (entry: PlanEntry): boolean => {
    const { action, kind, ref, member } = entry;
    if (action === 'addMember') return !!member?.ref && (closings.has(member.ref) || leaving.has(member.ref));
    if (kind !== 'User' || ref === null) return false;
    return isValue(entry)
      ? closings.has(ref) || leaving.has(ref)
      : action === 'update' && withValues.has(ref) && !closings.has(ref);
  };
  return new Set(entries.filter((entry) => isChange(entry) && !held.has(entry) && isBehind(entry)));
}

/** Returns whether a push caused the change. */
const isPushed = ({ attribution }: PlanEntry): boolean => attribution.cause === 'source changed';

/** Returns the user whose membership or value is removed; undefined for an unmanaged member and for another change. */
function accountOfRemoval({ action, member, ref }: PlanEntry): Ref | undefined {
  if (action === 'removeMember') return member?.ref ?? undefined;
  return action === 'clearAttribute' ? (ref ?? undefined) : undefined;
}

/** Returns the number of removals of each resource. */
function countByRef(removals: readonly Removal[]): Map<Ref, number> {
  const counts = new Map<Ref, number>();
  for (const { item } of removals) counts.set(item.ref, (counts.get(item.ref) ?? 0) + 1);
  return counts;
}
