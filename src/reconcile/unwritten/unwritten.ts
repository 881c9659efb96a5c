// Finds the changes of a plan that no sync would write, so that the plan only reports them: rejected by an operator, held by the
// guard, about a protected person, or a pending membership or value that waits for a decision about the account or about another
// group. `withoutUnwritten` asks for one cause after the other (waiting-for-decision.ts, `decidedChanges`, left-by-settings.ts),
// and notes for each entry the last cause that it finds.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import { isChange, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { removal } from '../../sync/names/succession.ts';
import { behindHeld } from './behind-held.ts';
import { isOpenAccount, toDestruction } from './destructions.ts';
import { keptBySettings } from './left-by-settings.ts';
import {
  BEHIND_CLOSING,
  BEHIND_EMPTYING,
  BEHIND_NAME,
  MEMBERSHIP_WAITS,
  UNWRITTEN_REASONS,
} from './unwritten-reasons.ts';
import { waitingMemberships, waitingValues } from './waiting-for-decision.ts';

/** By entry, the reason why no sync writes it. */
type Reasons = Map<PlanEntry, string>;

/**
 * Returns the entries without additions of people whom the source took away. Entries that no sync would write get the effect
 * `report`, and the cause in their reason.
 */
export async function withoutUnwritten(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts' | 'directory'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  // A later cause replaces an earlier one. The order: waits, verdicts of the guard, settings, names and accounts of others,
  // protection.
  const why: Reasons = new Map();
  const unwanted = new Set<PlanEntry>();
  for (const [entry, wait] of await waitingMemberships(scope, entries))
    if (wait === 'leaver') unwanted.add(entry);
    else why.set(entry, `${entry.reason}${MEMBERSHIP_WAITS[wait]}`);
  const stoppedValues = new Map<Ref, string>();
  for (const [entry, stop] of await waitingValues(scope, entries)) {
    why.set(entry, `${entry.reason}${MEMBERSHIP_WAITS[stop]}`);
    if (isValue(entry)) stoppedValues.set(entry.ref, MEMBERSHIP_WAITS[stop]);
  }
  const decided = await decidedChanges(scope, entries);
  for (const { entry, verdict } of decided) why.set(entry, UNWRITTEN_REASONS[verdict]);
  noteWaitsForOwnDecision(entries, { stoppedValues, decided }, why);
  const leaving = entries.filter((entry) => entry.action === 'removeMember' && isChange(entry));
  const kept = await keptBySettings(
    scope,
    leaving.flatMap(({ ref }) => ref ?? []),
  );
  for (const entry of leaving) if (entry.ref && kept.has(entry.ref)) why.set(entry, UNWRITTEN_REASONS.kept);
  for (const entry of await behindHeld(scope, entries)) why.set(entry, `${entry.reason}${BEHIND_NAME}`);
  const listed = new Set(scope.target.policy.users.protected.map(fold));
  for (const entry of entries)
    if (isChange(entry) && listed.has(fold(personIn(entry)))) why.set(entry, UNWRITTEN_REASONS.protected);
  return entries.flatMap((entry): PlanEntry[] => {
    const reason = why.get(entry);
    if (unwanted.has(entry)) return [];
    return [reason === undefined ? entry : { ...entry, effect: 'report', reason }];
  });
}

/** A change that the guard holds, that a person rejected, or that waits for such a change of the same resource. */
interface DecidedChange {
  entry: PlanEntry;
  item: Destruction;
  verdict: 'held' | 'rejected' | 'afterHeld' | 'afterRejected' | 'keptMember';
}

/** Returns the changes that no sync writes because of a verdict of the guard, or of an operator. */
async function decidedChanges(
  { outbox, target }: Pick<ReconcileScope, 'outbox' | 'target'>,
  entries: readonly PlanEntry[],
): Promise<DecidedChange[]> {
  const { guardStore } = outbox;
  const asked = entries.flatMap((entry) => {
    // The sync of a group removes members before it writes the rest. A held or rejected removal therefore waits for the operator's
    // decision also where its entry is only reported, as for a group that is a dead letter. Only the policy `sync` removes
    // members.
    const isRemoval = entry.action === 'removeMember' && target.policy.policy === 'sync';
    const item = toDestruction(isRemoval ? { ...entry, effect: 'apply' } : entry);
    return item ? [{ entry, item }] : [];
  });
  const items = asked.map(({ item }) => item);
  const [verdicts, closings, deletions] = await Promise.all([
    guardStore.verdictsOn(items),
    guardStore.verdictsOn(items.map(({ ref }) => ({ kind: 'deactivate', ref }))),
    withHeldDeletion(guardStore, items),
  ]);
  const decided: DecidedChange[] = [];
  for (const [index, { entry, item }] of asked.entries()) {
    const closing = isOpenAccount(entry) ? closings[index] : undefined;
    const verdict =
      verdicts[index] ??
      (deletions[index] ? 'held' : undefined) ??
      (closing && (closing === 'held' ? 'afterHeld' : 'afterRejected')) ??
      ((await keepsMember(outbox, item)) ? 'keptMember' : undefined);
    if (verdict) decided.push({ entry, item, verdict });
  }
  return decided;
}

/**
 * Returns for each change whether it removes a member of a group whose deletion the guard holds. The member leaves with the group
 * (dissolve-group.ts), unless the removal itself is approved.
 */
async function withHeldDeletion(guardStore: Outbox['guardStore'], items: Destruction[]): Promise<boolean[]> {
  const deletions = await guardStore.verdictsOn(items.map(({ ref }) => ({ kind: 'delete', ref })));
  const isHeld = items.map(({ kind }, index) => kind === 'removeMembers' && deletions[index] === 'held');
  if (!isHeld.includes(true)) return isHeld;
  const permitted = await guardStore.arePermitted(items);
  return isHeld.map((held, index) => held && !permitted[index]);
}

/** Returns whether a group that was deleted at the source stays, because a person rejected the removal of a member. */
async function keepsMember(
  { guardStore, pendingMembers }: Outbox,
  { kind, ref }: Destruction,
): Promise<boolean> {
  const group = parseRef(ref);
  if (kind !== 'delete' || group.kind !== 'Group') return false;
  // A kept removal may also be that of a protected user, or of a leaver whose account stays open: these do not keep the group.
  const kept = withSign(await pendingMembers(group.id), MEMBERSHIP_SIGN.keptRemoval);
  return (await guardStore.areRejected(kept.map((user) => removal(group.id, user)))).includes(true);
}

/**
 * Adds the reasons of changes of a person that wait for a held change of the same person, and of definitions that no sync of a
 * person makes meanwhile.
 * @param found.stoppedValues by person, the text that says why no sync writes an attribute value before an operator acts
 */
function noteWaitsForOwnDecision(
  entries: readonly PlanEntry[],
  { stoppedValues, decided }: { stoppedValues: ReadonlyMap<Ref, string>; decided: readonly DecidedChange[] },
  why: Reasons,
): void {
  const heldOf = (kind: Destruction['kind']): Set<Ref> =>
    new Set(
      decided.flatMap(({ item, verdict }) => (verdict === 'held' && item.kind === kind ? item.ref : [])),
    );
  const heldClosings = heldOf('deactivate');
  const heldEmptyings = heldOf('clearAttributes');
  // The sync of a person whose deactivation is held writes core values only (sync-user.ts).
  const closing = [...heldClosings].map((ref): [Ref, string] => [ref, BEHIND_CLOSING]);
  const withoutValues = new Map([...stoppedValues, ...closing]);
  // The sync of another user writes values, and defines the attributes that the platform lacks.
  const definesElsewhere = entries.some(
    (entry) => entry.kind === 'User' && entry.ref && !withoutValues.has(entry.ref) && isChange(entry),
  );
  for (const entry of entries) {
    const { action, follows } = entry;
    const isLeftUndefined = action === 'defineAttribute' && !definesElsewhere;
    const waits = isLeftUndefined && follows && withoutValues.get(follows);
    if (waits) why.set(entry, `${entry.reason}${waits}`);
    else if (isValue(entry) && heldClosings.has(entry.ref) && !why.has(entry))
      why.set(entry, `${entry.reason}${BEHIND_CLOSING}`);
    else if (isActivation(entry) && heldEmptyings.has(entry.ref) && !why.has(entry))
      why.set(entry, `${entry.reason}${BEHIND_EMPTYING}`);
  }
}

/** Returns whether the entry writes or clears an attribute value of a person. */
export const isValue = (entry: PlanEntry): entry is PlanEntry & { ref: Ref; attribute: string } =>
  entry.ref !== null && (entry.action === 'setAttribute' || entry.action === 'clearAttribute');

/** Returns whether the entry opens the account of a person. */
const isActivation = (entry: PlanEntry): entry is PlanEntry & { ref: Ref } =>
  entry.ref !== null && entry.action === 'reactivate' && isChange(entry);

/** Returns the userName of the person that the entry concerns; '' for a group. */
const personIn = ({ kind, name, member }: PlanEntry): string => member?.name ?? (kind === 'User' ? name : '');
