// Compares the values of a user at a target, without a call: which ones have to be written (`coreOperations`,
// `attributeChanges`), in which order (`writeOrder`), and which ones an answer of the platform shows (`shownCore`,
// `observedCore`, `echoedAttributes`).
import type { Link } from '../directory/outbox/link.ts';
import type { Kind } from '../directory/records.ts';
import type { UserAttributeType, PlatformPatchOperation, WireUser, WireUserInput } from '../platform/wire.ts';
import type { DesiredUser, Core } from './mapping/mapping.ts';
import { sameValue } from './mapping/values.ts';

/** SCIM extension of the platform with the values of user attributes. */
export const EXTENSION = 'urn:cube:params:1.0:UserAttribute';
/** Attribute types that SCIM lists return (contract 2.4). */
export const LISTED: ReadonlySet<UserAttributeType> = new Set(['string', 'number']);

/** Returns the names of the mapped attributes whose values no list of the platform shows: booleans and lists. */
export const unlistedAttributes = (types: Record<string, UserAttributeType>): Set<string> =>
  new Set(Object.entries(types).flatMap(([name, type]) => (LISTED.has(type) ? [] : [name])));

const CORE_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** Converts the value of a core attribute to the form that the platform's PATCH takes: an address becomes a list. */
const wireValue = (path: string, value: string | boolean): unknown =>
  path === 'emails' ? [{ value, primary: true }] : value;

/**
 * Returns the PATCH operations from the applied to the desired core attributes. Unmanaged attributes are not changed. An unsure
 * value is written again, because the answer to an earlier write was lost.
 */
export function coreOperations(
  desired: Core,
  applied: Core,
  unsure: readonly string[] = [],
): PlatformPatchOperation[] {
  const operations: PlatformPatchOperation[] = [];
  for (const [path, value] of Object.entries(desired)) {
    if (value === (applied[path] ?? null) && !unsure.includes(path)) continue;
    if (value === null) operations.push({ op: 'remove', path });
    else operations.push({ op: 'replace', path, value: wireValue(path, value) });
  }
  return operations;
}

/** Notes in the link that all desired core attributes are written, and which of them the bridge has emptied. */
export function noteWrittenCore(link: Link, desired: Core): void {
  const hadValue = (path: string): boolean =>
    (link.core?.[path] ?? null) !== null || link.emptied?.includes(path) === true;
  // `emails` is left out: a user without address has the userName as address (ASSUMED-13), so a shown address is no drift.
  const emptied = Object.keys(desired).filter(
    (path) => desired[path] === null && path !== 'emails' && hadValue(path),
  );
  link.core = { ...link.core, ...desired };
  if (emptied.length > 0) link.emptied = emptied;
  else delete link.emptied;
}

/** Returns the names of attributes whose value has to be written. */
export function attributeChanges(
  desired: Record<string, unknown>,
  applied: Record<string, unknown>,
  unsure: readonly string[] = [],
): string[] {
  return Object.keys(desired).filter(
    (name) => unsure.includes(`attributes.${name}`) || !sameValue(desired[name], applied[name]),
  );
}

/** Returns whether the SCIM extension can carry the value (contract 12.3): single texts and whole numbers. */
export function fitsExtension(type: UserAttributeType | undefined, value: unknown): value is string | number {
  if (type === 'string') return typeof value === 'string';
  return type === 'number' && Number.isSafeInteger(value);
}

/** Returns the body of the POST that creates a user, with the attributes that the extension can carry. */
export function createBody(
  desired: DesiredUser,
  types: Record<string, UserAttributeType>,
  active: boolean,
): WireUserInput {
  const { core } = desired;
  const carried = Object.entries(desired.attributes).filter(([name, value]) =>
    fitsExtension(types[name], value),
  );
  const schemas = [CORE_SCHEMA];
  const body: WireUserInput = { schemas, userName: String(core.userName), active };
  if (core.externalId) body.externalId = String(core.externalId);
  if (core.displayName) body.displayName = String(core.displayName);
  const givenName = core['name.givenName'];
  const familyName = core['name.familyName'];
  if (givenName || familyName) {
    body.name = {};
    if (givenName) body.name.givenName = String(givenName);
    if (familyName) body.name.familyName = String(familyName);
  }
  if (core.emails) body.emails = [{ value: String(core.emails), primary: true }];
  if (carried.length > 0) {
    schemas.push(EXTENSION);
    body[EXTENSION] = Object.fromEntries(carried) as Record<string, string | number>;
  }
  return body;
}

/** Core attributes that the bridge reads at the platform and compares, as paths. */
export const COMPARED_PATHS = [
  'userName',
  'externalId',
  'displayName',
  'name.givenName',
  'name.familyName',
  'emails',
];

/** Returns a core attribute of a platform account as text; undefined: not shown. */
export function shownCore(user: WireUser, path: string): string | undefined {
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

/**
 * Returns the values of an adopted account in the form of a link's `core`. Attributes without desired value are left
 * out, so that an adoption removes nothing.
 */
export function observedCore(user: WireUser, desired: Core): Core {
  // An answer without `active` does not tell the state, so `core` has none either.
  const core: Core = user.active === undefined ? {} : { active: user.active };
  for (const path of COMPARED_PATHS) if (desired[path] !== null) core[path] = shownCore(user, path) ?? null;
  return core;
}

/** Returns whether the account lists the group; false also for an account without `groups`, which proves nothing. */
export const namesGroup = ({ groups }: WireUser, groupId: string): boolean =>
  Array.isArray(groups) && groups.some(({ value }) => String(value) === groupId);

/**
 * Returns the values of desired attributes in an answer: only values that the platform returned count as applied. A value that
 * differs from the desired one only in its type, such as "5" for 5, is returned as desired.
 */
export function echoedAttributes(
  user: WireUser,
  desired: DesiredUser['attributes'],
): Record<string, unknown> {
  const echoed = user[EXTENSION] ?? {};
  const confirmed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(echoed)) {
    const wanted = desired[name];
    if (wanted !== undefined)
      confirmed[name] = !Array.isArray(wanted) && String(value) === String(wanted) ? wanted : value;
  }
  return confirmed;
}

interface WriteOrder {
  /** Values that take something away, written first: cleared, `false`, and lists that only lose elements. */
  revoking: string[];
  /** Single texts and whole numbers, which one PATCH of the SCIM user can carry; written second. */
  combinable: string[];
  /** All other values, written last. */
  others: string[];
}

/** Returns whether a value is none: null, undefined, an empty text or an empty list. */
export const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/**
 * Returns whether the account may have a value of the attribute: one that the link stores, or an unknown one that somebody else
 * wrote. Of such a value, the link has only the name, in `unsure`.
 */
export const mayHaveValue = ({ attributes, unsure }: Pick<Link, 'attributes' | 'unsure'>, name: string) =>
  !isEmpty(attributes?.[name]) || (unsure ?? []).includes(`attributes.${name}`);

/**
 * Orders changed attributes so that a person never has more access in between than before and after.
 * @param applied types and known values of the attributes; the platform may have another value of an attribute in `unsure`
 * @param names the changed attributes
 */
export function writeOrder(
  desired: DesiredUser['attributes'],
  applied: {
    types: Record<string, UserAttributeType>;
    attributes: Record<string, unknown> | undefined;
    unsure: readonly string[] | undefined;
  },
  names: Iterable<string>,
): WriteOrder {
  const order: WriteOrder = { revoking: [], combinable: [], others: [] };
  for (const name of names) {
    const wanted = desired[name];
    const known = applied.unsure?.includes(`attributes.${name}`) ? undefined : applied.attributes?.[name];
    if (isEmpty(wanted) || wanted === false || isPart(wanted, known)) order.revoking.push(name);
    else if (fitsExtension(applied.types[name], wanted)) order.combinable.push(name);
    else order.others.push(name);
  }
  return order;
}

/** Returns whether the wanted value is a list whose elements the known list has. */
const isPart = (wanted: unknown, known: unknown): boolean =>
  Array.isArray(wanted) && Array.isArray(known) && wanted.every((element) => known.includes(element));

/** Returns the path of the attribute that holds the name. */
export const namePathOf = (kind: Kind) => (kind === 'User' ? 'userName' : 'displayName');
