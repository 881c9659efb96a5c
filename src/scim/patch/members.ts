// Converts PATCH operations on group members to set steps (`toMemberSteps`), because members are stored as a set, apart from the
// group. A step adds, removes or replaces identifiers, or expects that they are members (operation.ts). Also reads the members of a
// POST or PUT body (`membersOf`).
import type { Field } from '../attributes.ts';
import { invalidPath, invalidValue, mutability } from '../errors.ts';
import { equalityOf } from '../filter/evaluate.ts';
import type { Filter } from '../filter/filter.ts';
import { isObject, member } from '../json.ts';
import type { AttributeTarget } from '../path.ts';
import type { Profile } from '../profiles.ts';
import { lastSegment } from '../values.ts';
import type { PatchMemberStep, PatchOperation } from './operation.ts';

/** Splits the operations of a group into those for `applyPatch` and the steps for the member set, both in order. */
export function splitMembers(operations: readonly PatchOperation[]): {
  rest: PatchOperation[];
  steps: PatchMemberStep[];
} {
  const rest: PatchOperation[] = [];
  const steps: PatchMemberStep[] = [];
  for (const operation of operations) {
    if (operation.target.kind === 'members') steps.push(...operation.target.steps);
    else rest.push(operation);
  }
  return { rest, steps };
}

/**
 * Returns the set steps of one operation on `members`. A removal removes the listed values or the members that the filter
 * selects, and all members only if value and filter are missing (gh:MicrosoftDocs/azure-docs#30826, gh:vouch-sh/vouch#1415).
 */
export function toMemberSteps(
  op: PatchOperation['op'],
  target: AttributeTarget,
  raw: unknown,
  profile: Profile,
): PatchMemberStep[] {
  if (target.sub) return partSteps(op, target, target.sub, raw, profile);
  if (target.filter) return filteredSteps(op, target.filter, raw, profile);
  if (op === 'remove' && raw === undefined) return [{ kind: 'replace', values: [] }];
  const values = memberValues(raw, profile);
  return op !== 'replace' && values.length === 0 ? [] : [{ kind: op, values }];
}

/**
 * Returns the steps of an operation on a sub-attribute of members. Sub-attributes are immutable or readOnly (RFC 7643
 * §4.2), so an add or replace of `value` has to repeat the current value. A remove of `value` removes the member, except
 * under the profile `rfc`, which refuses it.
 */
function partSteps(
  op: PatchOperation['op'],
  { filter }: AttributeTarget,
  sub: Field,
  raw: unknown,
  profile: Profile,
): PatchMemberStep[] {
  if (sub.attribute.mutability === 'readOnly' && profile.allows('read-only-ignored')) return [];
  const named = filter && namedMembers(filter);
  if (sub.name !== 'value' || !named) throw isImmutable(sub);
  if (op === 'remove' && profile.name !== 'rfc') return [{ kind: 'remove', values: named }];
  if (op === 'remove' || named.length !== 1 || raw !== named[0]) throw isImmutable(sub);
  return [...expectedSteps(op, named, profile), { kind: 'add', values: named }];
}

/** Returns the steps of an operation on the members that a filter selects. */
function filteredSteps(
  op: PatchOperation['op'],
  filter: Filter,
  raw: unknown,
  profile: Profile,
): PatchMemberStep[] {
  const named = namedMembers(filter);
  if (op === 'remove') return [named ? { kind: 'remove', values: named } : { kind: 'removeWhere', filter }];
  if (named?.length !== 1) throw invalidPath('Members can be set by a filter on "value" only.');
  // A value without identifier would change other sub-attributes only, which are not stored: the member stays.
  const given = isObject(raw) && identifierIn(raw) === undefined ? [] : memberValues(raw, profile);
  const values = given.length > 0 ? given : named;
  const expected = expectedSteps(op, named, profile);
  if (values.length === 1 && values[0] === named[0]) return [...expected, { kind: 'add', values }];
  return [...expected, { kind: 'remove', values: named }, { kind: 'add', values }];
}

// RFC 7644 §3.5.2.3 requires that a replaced member exists. Only the profile `rfc` checks this; the others accept
// `replace-creates`.
const expectedSteps = (op: PatchOperation['op'], values: string[], profile: Profile): PatchMemberStep[] =>
  op === 'replace' && profile.name === 'rfc' ? [{ kind: 'expect', values }] : [];

const isImmutable = (sub: Field): Error =>
  mutability(`Attribute "${sub.path}" cannot be changed: remove the member and add another one.`);

// Returns the identifiers in `value eq "9"`, alone or joined by `or`; undefined for other filters.
function namedMembers(filter: Filter): string[] | undefined {
  if (filter.kind === 'or') {
    const branches = filter.branches.map(namedMembers);
    return branches.every((branch) => branch !== undefined) ? branches.flat() : undefined;
  }
  if (filter.kind !== 'compare') return undefined;
  const equality = equalityOf(filter);
  return equality?.attribute === 'members.value' ? [equality.value] : undefined;
}

/**
 * Returns the distinct identifiers of the members in a POST or PUT body, in order; undefined without a `members` key.
 * @param profile decides whether bare text and `$ref` alone are accepted as a member; undefined: they are
 * @throws 400 invalidValue for a member with neither a usable `value` nor `$ref`, and for bare text or `$ref` alone that the
 *   profile refuses
 */
export function membersOf(body: unknown, profile?: Profile): string[] | undefined {
  if (!isObject(body)) return undefined;
  const members = member(body, 'members');
  return members === undefined ? undefined : memberValues(members, profile);
}

/**
 * Returns the distinct identifiers of a members list.
 * @throws 400 invalidValue for a member with neither a usable `value` nor `$ref`, and for bare text or `$ref` alone that the
 *   profile refuses
 */
function memberValues(raw: unknown, profile?: Profile): string[] {
  if (raw === null || raw === undefined) return [];
  const values = new Set<string>();
  for (const item of Array.isArray(raw) ? (raw as unknown[]) : [raw]) values.add(memberValue(item, profile));
  return [...values];
}

// Returns the identifier of a member: bare text, or the `value` of an object, or the end of `$ref` in an object without `value`.
// `display` and `type` are ignored, because Okta sends an old `display`; Entra sends `$ref` null beside `value`.
function memberValue(raw: unknown, profile: Profile | undefined): string {
  const value = isObject(raw) ? identifierIn(raw) : raw;
  if (!isObject(raw) && profile && !profile.allows('bare-member'))
    throw invalidValue('A member must be an object.');
  const isByReference = isObject(raw) && value !== undefined && member(raw, 'value') === undefined;
  if (isByReference && profile && !profile.allows('reference-for-value'))
    throw invalidValue('A member needs "value": its "$ref" alone is not accepted.');
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (typeof value === 'number') return String(value);
  throw invalidValue('Attribute "members.value" is missing in a member.');
}

function identifierIn(raw: Record<string, unknown>): unknown {
  const value = member(raw, 'value');
  if (value !== undefined) return value;
  return Object.hasOwn(raw, '$ref') && typeof raw.$ref === 'string' ? lastSegment(raw.$ref) : undefined;
}
