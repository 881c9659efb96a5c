// Derives the access that a user is to have at a target, and compares it with the account at the platform. Reads Redis, writes
// nothing.
import type { ObservedResource } from '../directory/outbox/drift.ts';
import type { GuardState, MemberDecision } from '../directory/guard/guard-store.ts';
import { parseLink } from '../directory/outbox/link.ts';
import { isTriedAgain, refusalOf } from '../directory/outbox/link-condition.ts';
import { fold, refOf } from '../directory/records.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { membershipIn, waitsText } from '../reconcile/unwritten/behind-closing.ts';
import type { Resource } from '../scim/index.ts';
import { observedCore } from '../sync/diff.ts';
import { leaving } from '../sync/group/members.ts';
import type { DesiredUser } from '../sync/mapping/mapping.ts';
import { sameValue } from '../sync/mapping/values.ts';
import type { AccountDifference } from './report.ts';
import type { ActualGroup, Reading, ExpectedGroup } from './account.ts';

/**
 * `closed`: the account must be inactive or deleted; `why` is the reason as part of a sentence, `closing` the state of the
 * deactivation at the guard (undefined: it has none there).
 */
export type DesiredAccess =
  | {
      kind: 'closed';
      why: string;
      groups: ExpectedGroup[];
      leaving: LeavingGroup[];
      closing?: GuardState | undefined;
      /** Values and groups that the closed account keeps; absent: none, because the person is out of scope or deleted. */
      desired?: DesiredUser;
    }
  | {
      kind: 'open';
      desired: DesiredUser;
      groups: ExpectedGroup[];
      leaving: LeavingGroup[];
      /** Groups of the source that the settings leave out. */
      leftOut: ExpectedGroup[];
    };

/** A group that the user left at the source or never had there, with a removal that is not written or not confirmed yet. */
export interface LeavingGroup extends ExpectedGroup {
  /**
   * State of the removal. `held`: the guard holds it; `expired`: its approval expired; `rejected`: a person rejected it; `pending`:
   * it waits for its sync; `unconfirmed`: it was written, and the platform does not show it yet; `withAccount`: it is not written,
   * because a person rejected the deactivation of this deleted person; `withHeldAccount`: it is written with the deactivation of
   * the account, which the guard holds; `surplus`: the next reconcile finds it.
   */
  state: GuardState | 'pending' | 'withAccount' | 'withHeldAccount' | 'unconfirmed' | 'surplus';
  /** Why the account must not be in the group; with the state `surplus` only. */
  reason?: string;
}

/** Returns the access that the source and the settings want for a user at a target. Reads Redis only. */
export async function desiredAccessOf(scope: ReconcileScope, person: FoundResource): Promise<DesiredAccess> {
  const { id, record, ref } = person;
  const { directory, drifts, links, outbox, target } = scope;
  const leaving = await leavingOf(scope, person);
  const [closing] = await outbox.guardStore.statesOf([{ kind: 'deactivate', ref }]);
  if (!record) return { kind: 'closed', why: 'deleted at the source', groups: [], leaving, closing };
  const [joined = []] = await directory.groupsOf([id]);
  // A damaged record says nothing about the user, so no access is desired by it.
  if (record.damaged)
    return { kind: 'closed', why: 'the stored record is damaged: push it again', groups: [], leaving };
  const desired = await target.mapping.user(JSON.parse(record.text) as Resource, id, joined);
  const named = joined.flatMap((group) => {
    const name = target.mapping.groupName(group.displayName);
    return name === undefined ? [] : [{ id: group.id, name }];
  });
  const found = await drifts.readLinks(groupRefs(named));
  const groups = named.map(({ name }, index): ExpectedGroup => {
    const group = found[index];
    // The empty text gives an empty link: the group is not linked.
    const { id: platformId, isIncomplete } = parseLink(group?.text ?? '');
    const isComplete = platformId !== undefined && isIncomplete !== true && group?.marked !== true;
    const [refused, waiting] = group ? [refusedText(group, name), waitingGroupText(group, name)] : [];
    return { name, platformId, isComplete, refused, waiting };
  });
  if (!desired.inScope)
    return { kind: 'closed', why: 'out of the scope of this target', groups, leaving, closing };
  if (!desired.active)
    return { kind: 'closed', why: 'inactive at the source', groups, leaving, closing, desired };
  const excluded = joined.filter(({ displayName }) => target.mapping.groupName(displayName) === undefined);
  const known = await links.getMany(target.name, groupRefs(excluded));
  const leftOut = excluded.map(({ displayName }, index) => ({
    name: String(known[index]?.core?.displayName ?? displayName),
    platformId: known[index]?.id,
  }));
  return { kind: 'open', desired, groups, leaving, leftOut };
}

/** Returns the words for a group whose last sync was refused; undefined: it was not, or a newer sync is to come. */
function refusedText({ ref, text, marked }: ObservedResource, name: string): string | undefined {
  const refusal = refusalOf(parseLink(text), marked);
  return (
    refusal &&
    `the group ${name} needs a person (${refusal.reason}: ${refusal.message}): scim-bridge explain ${ref} tells what to do`
  );
}

/** Returns the words for a group whose change waits; undefined: none does. A new group has no members before it is created. */
function waitingGroupText({ ref, text, marked }: ObservedResource, name: string): string | undefined {
  if (!marked) return undefined;
  const { id, condition, lastFailure, successionAttempts } = parseLink(text);
  const isNameTaken = successionAttempts !== undefined;
  const cause =
    (isTriedAgain(condition) ? condition?.message : lastFailure) ??
    (isNameTaken ? 'the platform does not give the name yet' : undefined);
  const what = id === undefined ? `the group ${name} is not made yet` : `a change of the group ${name} waits`;
  return `${what}${cause === undefined ? '' : ` (${cause.replace(/\.$/, '')})`}: scim-bridge explain ${ref} tells what it waits for`;
}

const groupRefs = (groups: readonly { id: string }[]) => groups.map(({ id }) => refOf('Group', id));

/** Decision about the account → state of a removal that the guard does not list itself. */
const STATES_WITH_ACCOUNT: Partial<Record<MemberDecision, LeavingGroup['state']>> = {
  rejected: 'withAccount',
  follows: 'withHeldAccount',
};

/** Returns the groups that the user left at the source, whose removals are not written or not confirmed yet. */
async function leavingOf(
  { outbox, drifts }: ReconcileScope,
  { ref, id }: FoundResource,
): Promise<LeavingGroup[]> {
  const { pendingMemberships, unconfirmedRemovals } = await outbox.resourceStatus(ref);
  const removals = leaving(pendingMemberships);
  const groups = [...removals, ...unconfirmedRemovals].map((group) => refOf('Group', group));
  const [found, verdicts, [decision]] = await Promise.all([
    drifts.readLinks(groups),
    outbox.guardStore.statesOf(
      groups.map((group) => ({ kind: 'removeMembers', ref: group, subject: id }) as const),
    ),
    outbox.guardStore.decisionsOfMembers([id]),
  ]);
  const undecided = (decision && STATES_WITH_ACCOUNT[decision]) ?? 'pending';
  return found.map((group, index) => {
    const { core, id: platformId } = parseLink(group.text);
    const name = String(core?.displayName ?? group.ref);
    // The unconfirmed removals are behind the pending ones in `groups`.
    const state = verdicts[index] ?? (index < removals.length ? undecided : 'unconfirmed');
    return { name, platformId, state, refused: state === 'pending' ? refusedText(group, name) : undefined };
  });
}

/** Returns the groups of `leaving` that the account is still in, with their names at the platform. */
export const stillIn = (leaving: readonly LeavingGroup[], { groups }: Reading): LeavingGroup[] =>
  leaving.flatMap((group) => {
    const actual = groups.find(({ platformId }) => platformId === group.platformId);
    return actual ? [{ ...group, name: actual.name }] : [];
  });

/** Returns the wanted groups that the account is in under another name (`actual`): the account has the access of that name. */
export const otherwiseCalled = (
  wanted: DesiredAccess,
  { groups }: Reading,
): { name: string; actual: string }[] =>
  wanted.groups.flatMap(({ platformId, name }) => {
    const actual = groups.find((group) => group.platformId === platformId);
    return actual && fold(actual.name) !== fold(name) ? [{ name, actual: actual.name }] : [];
  });

/** Returns why groups that differ from the wanted ones are not written: the platform refused their last sync, or a change waits. */
export function unwrittenGroups(wanted: DesiredAccess, reading: Reading | undefined): string[] {
  const missing = missingGroups(wanted, reading);
  const renamed = new Set((reading ? otherwiseCalled(wanted, reading) : []).map(({ name }) => name));
  return wanted.groups.flatMap((group) => {
    const why = group.refused ?? group.waiting;
    return why !== undefined && (missing.includes(group) || renamed.has(group.name)) ? [why] : [];
  });
}

/** Returns the wanted groups that the account is not in; all of them without an account. */
export const missingGroups = (wanted: DesiredAccess, reading: Reading | undefined): ExpectedGroup[] =>
  reading ? missingIn(wanted.groups, reading.groups) : wanted.groups;

/** Returns the groups that the account should be in and is not. A group that is not linked yet is recognised by its name. */
const missingIn = (wanted: readonly ExpectedGroup[], present: readonly ActualGroup[]): ExpectedGroup[] =>
  wanted.filter(
    (group) =>
      !present.some(({ platformId, name }) =>
        group.platformId === undefined ? fold(name) === fold(group.name) : platformId === group.platformId,
      ),
  );

/** Returns whether a deactivation waits for a decision, or for the guard after its approval has expired. */
const isUndecided = (closing: GuardState | undefined): boolean => closing === 'held' || closing === 'expired';

/** Returns a text about the values and memberships that wait for a held deactivation; undefined: none does. */
export function waitingText(wanted: DesiredAccess, reading: Reading | undefined): string | undefined {
  // Only the values of a person in scope are known; they wait as long as the deactivation.
  if (wanted.kind !== 'closed' || !isUndecided(wanted.closing) || !wanted.desired || !reading)
    return undefined;
  const { attributes } = reading.view;
  const values = Object.entries(wanted.desired.attributes).filter(
    ([name, value]) => !sameValue(value, attributes[name] ?? null),
  );
  const joined = missingIn(wanted.groups, reading.groups);
  const names = [...values.map(([name]) => name), ...joined.map(({ name }) => membershipIn(name))];
  return names.length === 0 ? undefined : waitsText(names);
}

/** Returns whether an account is inactive, as it must be, with every value and group that it keeps then. */
export const isInactiveAsDesired = (wanted: DesiredAccess, reading: Reading): boolean =>
  !reading.view.active &&
  wanted.kind === 'closed' &&
  wanted.desired !== undefined &&
  valueDifferences(wanted.desired, reading).length === 0 &&
  missingIn(wanted.groups, reading.groups).length === 0 &&
  stillIn(wanted.leaving, reading).length === 0;

const folded = (names: readonly string[]): string[] => [...new Set(names.map(fold))].sort();

/**
 * Returns every difference between desired and actual access; empty if there is none. A closed or missing account gives no access,
 * so nothing else counts if it must be closed.
 * @param isLinked false: the account was found by name. If it must be closed, only `active` is compared, because the bridge writes
 *   nothing to it
 */
export function differencesOf(
  wanted: DesiredAccess,
  reading: Reading | undefined,
  isLinked = true,
): AccountDifference[] {
  if (wanted.kind === 'closed' && !reading?.view.active) return [];
  if (wanted.kind === 'closed' && !isLinked) return [{ name: 'active', desired: false, actual: true }];
  if (!reading) return [{ name: 'account', desired: 'an account', actual: null }];
  const { desired, leaving } = wanted;
  const { view } = reading;
  const differences: AccountDifference[] = [];
  if (view.active !== (wanted.kind === 'open'))
    differences.push({ name: 'active', desired: wanted.kind === 'open', actual: view.active });
  if (desired) differences.push(...valueDifferences(desired, reading));
  // No membership of a person who is out of scope is written.
  const groups = desired ? wanted.groups : [];
  const left = new Set(leaving.map(({ platformId }) => platformId));
  const staying = reading.groups.filter(({ platformId }) => !left.has(platformId));
  // The platform gives access by the name of a group, so the names are compared and not the ids.
  const nameOf = ({ platformId, name }: ActualGroup): string =>
    groups.find((group) => group.platformId === platformId)?.name ?? name;
  const names = [...staying.map(nameOf), ...missingIn(groups, staying).map(({ name }) => name)];
  const desiredNames = [...new Set(names)].sort();
  const isSame = sameValue(folded(names), folded(view.groups));
  if (!isSame) differences.push({ name: 'groups', desired: desiredNames, actual: view.groups });
  return differences;
}

/** Returns the differences of core values and attributes. */
function valueDifferences(desired: DesiredUser, { user, view }: Reading): AccountDifference[] {
  const differences: AccountDifference[] = [];
  const compare = (name: string, value: unknown, actual: unknown): void => {
    if (!sameValue(value, actual)) differences.push({ name, desired: value ?? null, actual: actual ?? null });
  };
  const core = observedCore(user, desired.core);
  for (const [path, value] of Object.entries(desired.core)) {
    // A core attribute without desired value is not managed.
    if (value !== null) compare(path, value, core[path]);
  }
  for (const [name, value] of Object.entries(desired.attributes)) {
    compare(`attributes.${name}`, value, view.attributes[name]);
  }
  for (const { attribute, reason } of desired.faults)
    differences.push({
      name: `attributes.${attribute}`,
      desired: null,
      actual: view.attributes[attribute] ?? null,
      unmappable: reason,
    });
  return differences;
}
