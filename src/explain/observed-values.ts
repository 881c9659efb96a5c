// Adds what was read at the platform to the values of an explanation: `withObserved` from the account of a user, `withObservedName`
// from the plan entries of a group. platform-look.ts asks the other functions whether the account is there, which values differ,
// and which attributes have no value, so that a default of the platform applies. Pure.
import { isSameObserved, observedValue, type ObservedAccount } from '../reconcile/compare/compare.ts';
import { masked } from '../reconcile/compare/user-case.ts';
import type { PlanEntry } from '../reconcile/entry.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Mapping } from '../sync/mapping/mapping.ts';
import { sameValue } from '../sync/mapping/values.ts';
import type { AttributeState } from './explanation.ts';

/** Returns the values of a user with `observed` set, as far as the account was read; `observed` is null without an account. */
export function withObserved(
  values: AttributeState[],
  account: ObservedAccount | undefined,
  { types }: Mapping,
): AttributeState[] {
  return values.map((each) => {
    if (each.state === 'unmapped' || each.state === 'kept') return each;
    const seen = account ? observedValue(account, each.name, types) : null;
    if (seen === undefined) return each;
    // A userName in another letter case counts as the desired one. A differing value may be a secret, so it is masked.
    const isSame = isSameObserved(each.name, each.desired, seen);
    return { ...each, observed: isSame ? each.desired : masked(each.name, seen) };
  });
}

/** Returns the name of a group with `observed` set: the desired name where no entry differs, null if the group is gone. */
export function withObservedName(values: AttributeState[], entries: readonly PlanEntry[]): AttributeState[] {
  const isThere = hasAccount(entries);
  const differing = entries.find(({ member, before }) => !member && before && 'displayName' in before);
  return values.map((each) => ({
    ...each,
    observed: !isThere ? null : differing ? differing.before?.displayName : each.desired,
  }));
}

/** Returns whether the platform has the account or group of the entries. */
export const hasAccount = (entries: readonly PlanEntry[]): boolean =>
  entries.every(({ action }) => action !== 'create' && action !== 'relink');

/** Returns whether the platform was seen to have another value than the desired one. */
export const isUnlikeObserved = ({ desired, observed }: AttributeState): boolean =>
  observed !== undefined && !sameValue(observed, desired);

/**
 * Returns a test: whether the attribute of this name is mapped and has no stored value at the platform. A value that was not read
 * (`observed` undefined) counts as set, so that no default is claimed for it.
 */
export function unsetTest(
  { target }: ReconcileScope,
  entries: readonly PlanEntry[],
  values: readonly AttributeState[],
): (attribute: string) => boolean {
  const setThere = new Set<string>();
  // `values` leaves out an attribute that is neither desired nor applied; a value that others gave it is only in the entries.
  for (const { attribute, before } of entries)
    if (attribute !== undefined && (before?.[attribute] ?? null) !== null) setThere.add(attribute);
  // A value of state `kept` is not compared with the platform: its applied value is taken as what the platform has.
  for (const { name, state, applied, observed } of values)
    if ((state === 'kept' ? applied : observed) !== null) setThere.add(name.replace(/^attributes[.]/, ''));
  return (attribute) => target.mapping.types[attribute] !== undefined && !setThere.has(attribute);
}
