// Compares the access that a user is to have (desired-access.ts) with the account as the platform shows it (`Reading`).
// `differencesOf` returns all differences; the other functions return the groups that are missing, renamed or still to be left, and
// the values and memberships that wait for a decision. Pure.
import type { GuardState } from '../directory/guard/guard-store.ts';
import { fold } from '../directory/records.ts';
import { membershipIn, waitsText } from '../reconcile/unwritten/behind-closing.ts';
import { observedCore } from '../sync/diff.ts';
import type { DesiredUser } from '../sync/mapping/mapping.ts';
import { sameValue } from '../sync/mapping/values.ts';
import type { ActualGroup, ExpectedGroup, Reading } from './account.ts';
import type { DesiredAccess, LeavingGroup } from './desired-access.ts';
import type { AccountDifference } from './report.ts';

/**
 * Returns every difference between desired and actual access; empty if there is none. If the account must be closed and is closed
 * or missing, nothing else is compared, because it gives no access.
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
  const { desired } = wanted;
  const { view } = reading;
  const differences: AccountDifference[] = [];
  if (view.active !== (wanted.kind === 'open'))
    differences.push({ name: 'active', desired: wanted.kind === 'open', actual: view.active });
  if (desired) differences.push(...valueDifferences(desired, reading));
  const names = desiredGroupNames(wanted, reading);
  const isSame = sameValue(folded(names), folded(view.groups));
  if (!isSame) differences.push({ name: 'groups', desired: [...new Set(names)].sort(), actual: view.groups });
  return differences;
}

/**
 * Returns the names of the groups that the account should be in: its present ones without those that it leaves, by their wanted
 * names, and the missing ones. The platform gives access by the name of a group, so the names are compared and not the ids.
 */
function desiredGroupNames(wanted: DesiredAccess, reading: Reading): string[] {
  // No membership of a person who is out of scope is written.
  const groups = wanted.desired ? wanted.groups : [];
  const left = new Set(wanted.leaving.map(({ platformId }) => platformId));
  const staying = reading.groups.filter(({ platformId }) => !left.has(platformId));
  const nameOf = ({ platformId, name }: ActualGroup): string =>
    groups.find((group) => group.platformId === platformId)?.name ?? name;
  return [...staying.map(nameOf), ...missingIn(groups, staying).map(({ name }) => name)];
}

const folded = (names: readonly string[]): string[] => [...new Set(names.map(fold))].sort();

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

/** Returns the groups of `leaving` that the account is still in, with their names at the platform. */
export const stillIn = (leaving: readonly LeavingGroup[], { groups }: Reading): LeavingGroup[] =>
  leaving.flatMap((group) => {
    const actual = groups.find(({ platformId }) => platformId === group.platformId);
    return actual ? [{ ...group, name: actual.name }] : [];
  });

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

/** Returns whether a deactivation waits for a decision, or for the guard after its approval has expired. */
const isUndecided = (closing: GuardState | undefined): boolean => closing === 'held' || closing === 'expired';

/** Returns whether an account is inactive, as it must be, with every value and group that it keeps then. */
export const isInactiveAsDesired = (wanted: DesiredAccess, reading: Reading): boolean =>
  !reading.view.active &&
  wanted.kind === 'closed' &&
  wanted.desired !== undefined &&
  valueDifferences(wanted.desired, reading).length === 0 &&
  missingIn(wanted.groups, reading.groups).length === 0 &&
  stillIn(wanted.leaving, reading).length === 0;
