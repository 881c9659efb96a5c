// Compares the observed with the desired state. Pure, and cheap where nothing differs: it runs once for every user.
import { hash } from 'node:crypto';
import type { Link } from '../directory/outbox/links.ts';
import { fold } from '../directory/records.ts';
import type { UserAttributeType, WireUser } from '../platform/wire.ts';
import { EXTENSION } from '../sync/diff.ts';
import type { Core, DesiredUser } from '../sync/mapping.ts';
import { sameValue } from '../sync/values.ts';

/** The desired state of a user: mapped from the record, or as the link remembers what was applied. */
export interface DesiredAccount {
  inScope: boolean;
  active: boolean;
  core: Core;
  attributes: Record<string, unknown>;
}

export interface Difference {
  /** A core path, `active`, or `attributes.<name>`. */
  name: string;
  before: unknown;
  after: unknown;
}

/** The attributes that the lists of this platform show. An attribute that no account has looks like one that is not returned. */
export interface ComparedAttributes {
  /** Notes that a wanted value was looked for. */
  note(name: string, isShown: boolean): void;
  /** False for what several should have and nobody shows. */
  isVisible(name: string): boolean;
}

/** Attribute types that a SCIM list answers carry (contract 2.4). */
const LISTED: ReadonlySet<UserAttributeType> = new Set(['string', 'number']);

export function createVisibility(): ComparedAttributes {
  const shown = new Set<string>();
  const expected = new Map<string, number>();
  return {
    note: (name, isShown) => {
      if (shown.has(name)) return;
      if (isShown) shown.add(name);
      else expected.set(name, (expected.get(name) ?? 0) + 1);
    },
    isVisible: (name) => shown.has(name) || (expected.get(name) ?? 0) < 2,
  };
}

const PATHS = ['userName', 'externalId', 'displayName', 'name.givenName', 'name.familyName', 'emails'];

/**
 * A fingerprint of all that `differences` looks at. An account with the same print as when it was found equal to a link
 * that was not written since is equal still, and nobody has to read the link.
 */
export function printOf(user: WireUser): string {
  let text = user.active === false ? '-' : '+';
  for (const path of PATHS) text += `\u0000${shownCore(user, path) ?? '\u0001'}`;
  const extension = user[EXTENSION];
  if (extension !== undefined) text += `\u0000${JSON.stringify(extension)}`;
  return hash('sha1', text, 'base64').slice(0, 16);
}

/** Notes what an account shows, for those whose differences need not be looked for. */
export function createShownNoter(visibility: ComparedAttributes): (user: WireUser) => void {
  const unseen = new Set(PATHS);
  const attributes = new Set<string>();
  return (user) => {
    for (const path of unseen) {
      if (shownCore(user, path) === undefined) continue;
      visibility.note(path, true);
      unseen.delete(path);
    }
    for (const name in user[EXTENSION]) {
      if (attributes.has(name)) continue;
      attributes.add(name);
      visibility.note(`attributes.${name}`, true);
    }
  };
}

/** The applied state; it equals the desired state as long as nothing is marked and the mapping is the same. */
export function desiredFromLink({ core = {}, attributes = {}, departed }: Link): DesiredAccount {
  const { active, ...rest } = core as Core;
  return { inScope: departed !== true, active: active !== false, core: rest, attributes };
}

export const desiredFromRecord = ({ inScope, active, core, attributes }: DesiredUser): DesiredAccount => ({
  inScope,
  active: inScope && active,
  core,
  attributes,
});

/** One core member as the platform answers it. */
function shownCore(user: WireUser, path: string): string | undefined {
  switch (path) {
    case 'userName':
      return user.userName;
    case 'externalId':
      return user.externalId;
    case 'displayName':
      return user.displayName;
    case 'name.givenName':
      return user.name?.givenName;
    case 'name.familyName':
      return user.name?.familyName;
    case 'emails':
      return (user.emails?.find(({ primary }) => primary) ?? user.emails?.[0])?.value;
    default:
      return undefined;
  }
}

/** Names and addresses are compared without case, as the platform does (contract 2.2). */
const WITHOUT_CASE = new Set(['userName', 'emails']);

/** Blanks around a text count for nothing: a platform that trims what it stores would be written to for ever. */
function isSameText(path: string, left: string, right: string | undefined): boolean {
  if (left === right) return true;
  if (right === undefined || left === '') return false;
  const wanted = left.trim();
  const shown = right.trim();
  return wanted === shown || (WITHOUT_CASE.has(path) && fold(wanted) === fold(shown));
}

/**
 * Everything that the platform shows differently. Core members without a wanted value are not ours to judge; of
 * attributes, those of `types` that a list shows, and all of them where `values` holds what the value list said.
 */
export function differences(
  wanted: DesiredAccount,
  observed: WireUser,
  types: Record<string, UserAttributeType>,
  visibility: ComparedAttributes,
  values?: ReadonlyMap<string, unknown>,
): Difference[] {
  const found: Difference[] = [];
  const active = observed.active !== false;
  if (!wanted.inScope) {
    return active && !wanted.active ? [{ name: 'active', before: true, after: false }] : found;
  }
  if (active !== wanted.active) found.push({ name: 'active', before: active, after: wanted.active });
  for (const path in wanted.core) {
    const value = wanted.core[path];
    if (typeof value !== 'string') continue;
    const shown = shownCore(observed, path);
    visibility.note(path, shown !== undefined);
    if (!isSameText(path, value, shown)) found.push({ name: path, before: shown ?? null, after: value });
  }
  const extension = observed[EXTENSION];
  for (const name in wanted.attributes) {
    const type = types[name];
    if (type === undefined) continue;
    const value = wanted.attributes[name] ?? null;
    if (values !== undefined) {
      const held = values.get(name) ?? null;
      if (!sameValue(held, value)) found.push({ name: `attributes.${name}`, before: held, after: value });
      continue;
    }
    if (!LISTED.has(type)) continue;
    const held = extension?.[name] ?? null;
    if (value !== null) visibility.note(`attributes.${name}`, held !== null);
    if (held !== value && !isSameShown(held, value))
      found.push({ name: `attributes.${name}`, before: held, after: value });
  }
  return found;
}

/** Some platforms answer numbers as text. */
const isSameShown = (held: unknown, value: unknown): boolean =>
  isSingle(held) && isSingle(value) && String(held) === String(value);

const isSingle = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';
