// Compares the observed with the desired state of a user. Pure; it runs once for every user of a scan. The desired state comes
// from the link (`desiredFromLink`) or from the mapped record (`desiredFromRecord`). `differences` compares it with an account,
// and `unlistedChanges` finds the changed values that no list of the platform shows. An account with the fingerprint (`printOf`) of
// an earlier match needs neither.
import { hash } from 'node:crypto';
import type { Link } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import type { UserAttributeType, WireUser } from '../../platform/wire.ts';
import { COMPARED_PATHS, EXTENSION, isEmpty, LISTED, shownCore } from '../../sync/diff.ts';
import type { Core, DesiredUser } from '../../sync/mapping/mapping.ts';
import { sameValue } from '../../sync/mapping/values.ts';
import type { ComparedAttributes } from './shown-attributes.ts';

/** Desired state of a user: mapped from the record, or the applied state that the link holds. */
export interface DesiredAccount {
  inScope: boolean;
  active: boolean;
  core: Core;
  attributes: Record<string, unknown>;
}

/** A value at the platform (`before`) that is not the desired one (`after`). */
export interface Difference {
  /** A core path, `active`, or `attributes.<name>`. */
  name: string;
  before: unknown;
  after: unknown;
}

/** An account as it was read. */
export interface ObservedAccount {
  user: WireUser;
  /** All user attributes, from the value list; undefined: not read, or the tenant has no such list. */
  values: ReadonlyMap<string, unknown> | undefined;
}

/** Returns the applied state of a link; it equals the desired state unless a mark is pending or the mapping changed. */
export function desiredFromLink({ core = {}, attributes = {}, departed }: Link): DesiredAccount {
  const { active, ...rest } = core as Core;
  return { inScope: departed !== true, active: active !== false, core: rest, attributes };
}

/** Returns the mapped state of a record as one that can be compared; out of scope counts as inactive. */
export const desiredFromRecord = ({ inScope, active, core, attributes }: DesiredUser): DesiredAccount => ({
  inScope,
  active: inScope && active,
  core,
  attributes,
});

/**
 * Returns the differences between an account and its desired state: `active`, core attributes, user attributes. A core attribute
 * without desired value is ignored unless the bridge empties it, or has emptied it.
 * @param link the stored link of the account
 * @param visibility records which attributes the account shows
 * @param values all user attributes of the account, from the value list; without them only attributes of types that SCIM lists
 *   return are compared
 */
export function differences(
  wanted: DesiredAccount,
  observed: WireUser,
  link: Link,
  types: Record<string, UserAttributeType>,
  visibility: ComparedAttributes,
  values?: ReadonlyMap<string, unknown>,
): Difference[] {
  const active = observed.active !== false;
  // Out of scope only `active` of the account is managed.
  if (!wanted.inScope)
    return active && !wanted.active ? [{ name: 'active', before: true, after: false }] : [];
  const found = coreDifferences(wanted, observed, link, visibility);
  if (active !== wanted.active) found.unshift({ name: 'active', before: active, after: wanted.active });
  for (const difference of attributeDifferences(wanted, observed, types, visibility, values))
    found.push(difference);
  return found;
}

function coreDifferences(
  wanted: DesiredAccount,
  observed: WireUser,
  link: Link,
  visibility: ComparedAttributes,
): Difference[] {
  const found: Difference[] = [];
  const isChanged = changedSinceApplied(link, wanted);
  for (const path in wanted.core) {
    const value = wanted.core[path] ?? null;
    const shown = shownCore(observed, path);
    if (typeof value === 'string') visibility.note(path, shown !== undefined);
    // The attribute has no desired value, and the bridge neither emptied it nor is to empty it, so a value at the platform was
    // given by others.
    else if (!isChanged(path) && !link.emptied?.includes(path)) continue;
    // A value that changed since the last write is compared exactly, as its sync does, so a change of letter case counts. A written
    // value is compared without case, because the platform may show it in another case.
    const isSame = isChanged(path) ? shown === (value ?? undefined) : isSameText(path, value, shown);
    if (!isSame) found.push({ name: path, before: shown ?? null, after: value });
  }
  return found;
}

function attributeDifferences(
  wanted: DesiredAccount,
  observed: WireUser,
  types: Record<string, UserAttributeType>,
  visibility: ComparedAttributes,
  values: ReadonlyMap<string, unknown> | undefined,
): Difference[] {
  const found: Difference[] = [];
  const extension = observed[EXTENSION];
  for (const name in wanted.attributes) {
    const type = types[name];
    // The attribute has left the settings, so its value stays.
    if (type === undefined) continue;
    const value = wanted.attributes[name] ?? null;
    if (values !== undefined) {
      const before = values.get(name) ?? null;
      if (!sameValue(before, value)) found.push({ name: `attributes.${name}`, before, after: value });
      continue;
    }
    // The user list shows no value of this type, so only `values` can differ.
    if (!LISTED.has(type)) continue;
    const shown = extension?.[name] ?? null;
    if (value !== null || shown !== null) visibility.note(`attributes.${name}`, shown !== null);
    if (shown !== value && !isSameShown(shown, value))
      found.push({ name: `attributes.${name}`, before: shown, after: value });
  }
  return found;
}

/**
 * Returns the desired values of attributes that no list shows, where they differ from the last applied values: a push or
 * other mapping rules changed them. A link that a repair restored has no applied values, so nothing is returned; its sync
 * reads the account.
 */
export function unlistedChanges(
  wanted: DesiredAccount,
  link: Link,
  types: Record<string, UserAttributeType>,
): Difference[] {
  const isRestored = link.core?.userName === undefined;
  if (!wanted.inScope || isRestored) return [];
  return Object.entries(wanted.attributes).flatMap(([name, after]) => {
    const type = types[name];
    const before = link.attributes?.[name] ?? null;
    const isUnlisted = type !== undefined && !LISTED.has(type);
    return isUnlisted && !sameValue(before, after ?? null)
      ? [{ name: `attributes.${name}`, before, after: after ?? null }]
      : [];
  });
}

/**
 * Returns a test of whether a push or other rules changed a value since it was applied. The test is always false for a link that
 * a repair restored, because such a link has no applied values.
 */
export function changedSinceApplied(link: Link, wanted: DesiredAccount): (name: string) => boolean {
  const applied = desiredFromLink(link);
  const isRestored = link.core?.userName === undefined;
  return (name) =>
    !isRestored && !sameValue(desiredValue(applied, name) ?? null, desiredValue(wanted, name) ?? null);
}

/**
 * Returns whether the account has a value of a mapped attribute that its link does not name. The bridge never wrote that value, so
 * only the record says whether the value is desired, kept (`onEmpty`) or to be cleared.
 * @param valueOf returns the value that the account shows
 */
export const hasUnknownValue = (
  { attributes = {} }: Link,
  types: Record<string, UserAttributeType>,
  valueOf: (name: string) => unknown,
): boolean => Object.keys(types).some((name) => !(name in attributes) && !isEmpty(valueOf(name)));

/**
 * Returns a value of an account; null: there is none, undefined: not read.
 * @param name as in `Difference`
 */
export function observedValue(
  { user, values }: ObservedAccount,
  name: string,
  types: Record<string, UserAttributeType>,
): unknown {
  if (name === 'active') return user.active;
  if (!name.startsWith('attributes.')) return shownCore(user, name) ?? null;
  const attribute = name.slice('attributes.'.length);
  if (values) return values.get(attribute) ?? null;
  const type = types[attribute];
  return type !== undefined && LISTED.has(type) ? (user[EXTENSION]?.[attribute] ?? null) : undefined;
}

/** Returns a desired value. @param name as in `Difference` */
export function desiredValue(wanted: DesiredAccount, name: string): unknown {
  if (name === 'active') return wanted.active;
  if (name.startsWith('attributes.')) return wanted.attributes[name.slice('attributes.'.length)];
  return wanted.core[name];
}

/** Returns whether the platform counts an observed value as the desired one. */
export const isSameObserved = (name: string, desired: unknown, observed: unknown): boolean =>
  sameValue(observed, desired) ||
  isSameShown(observed, desired) ||
  (typeof desired === 'string' && typeof observed === 'string' && isSameText(name, desired, observed));

/** Core attributes that the platform compares without case (contract 2.2). */
const WITHOUT_CASE = new Set(['userName', 'emails']);

/** Compares text without surrounding blanks: after every write a platform that trims text would count as different. */
function isSameText(path: string, desired: unknown, shown: string | undefined): boolean {
  if (desired === (shown ?? null)) return true;
  if (shown === undefined || typeof desired !== 'string' || desired === '') return false;
  const [left, right] = [desired.trim(), shown.trim()];
  return left === right || (WITHOUT_CASE.has(path) && fold(left) === fold(right));
}

/** Compares values; a platform may return numbers as text. */
const isSameShown = (shown: unknown, value: unknown): boolean =>
  isSingle(shown) && isSingle(value) && String(shown) === String(value);

const isSingle = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

/**
 * Returns a fingerprint of all values that `differences` compares. An account with the fingerprint of an earlier match is
 * still equal if its link was not written since, so the link need not be read.
 */
export function printOf(user: WireUser): string {
  // `2` is the version of this comparison: a change of what counts as equal raises it, so that no fingerprint of former rules
  // counts. The sign after it is `active`; `?`: the account does not show whether it is active.
  let text = user.active === undefined ? '2?' : user.active ? '2+' : '2-';
  // Names and addresses contain neither the separator nor the sign of a value that is not shown.
  for (const path of COMPARED_PATHS) text += `\u0000${shownCore(user, path) ?? '\u0001'}`;
  const extension = user[EXTENSION];
  if (extension !== undefined) text += `\u0000${JSON.stringify(extension)}`;
  // 96 bits tell accounts apart; shorter fingerprints save memory in Redis.
  return hash('sha1', text, 'base64').slice(0, 16);
}
