// Group members live apart from the group as a set keyed by `value`; here PATCH operations on them become set steps.
import type { Field } from '../attributes.ts';
import { invalidPath, invalidValue, mutability } from '../errors.ts';
import { equalityOf } from '../filter/evaluate.ts';
import type { Filter } from '../filter/filter.ts';
import { isObject } from '../json.ts';
import type { AttributeTarget } from '../path.ts';
import type { Profile } from '../profiles.ts';
import { lastSegment } from '../values.ts';
import type { MemberStep, PatchOperation } from './operation.ts';

// `display`, `type` and `$ref` never tell members apart: Entra sends $ref null, Okta a stale display.
function memberValue(raw: unknown, profile: Profile | undefined): string {
  const value = isObject(raw) ? memberKey(raw) : raw;
  const bare = !isObject(raw);
  if (bare && profile && !profile.allows('bare-member')) throw invalidValue('A member must be an object.');
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (typeof value === 'number') return String(value);
  throw invalidValue('Attribute "members.value" is missing in a member.');
}

function memberKey(raw: Record<string, unknown>): unknown {
  if (Object.hasOwn(raw, 'value')) return raw.value;
  const key = Object.keys(raw).find((each) => each.toLowerCase() === 'value');
  if (key !== undefined) return raw[key];
  return Object.hasOwn(raw, '$ref') && typeof raw.$ref === 'string' ? lastSegment(raw.$ref) : undefined;
}

/** Values of a members list, each once. @throws 400 invalidValue for a member without a usable value. */
function memberValues(raw: unknown, profile?: Profile): string[] {
  if (raw === null || raw === undefined) return [];
  const values = new Set<string>();
  for (const item of Array.isArray(raw) ? (raw as unknown[]) : [raw]) values.add(memberValue(item, profile));
  return [...values];
}

/**
 * Members of a POST or PUT body, each once, in the order given; undefined when the key is absent.
 * @throws 400 invalidValue when a member has no usable value, or `members` is no list.
 */
export function membersOf(body: unknown, profile?: Profile): string[] | undefined {
  if (!isObject(body)) return undefined;
  const key = Object.hasOwn(body, 'members')
    ? 'members'
    : Object.keys(body).find((each) => each.toLowerCase() === 'members');
  return key === undefined ? undefined : memberValues(body[key], profile);
}

// `value eq "9"`, alone or joined by `or`: then the members are known by name.
function namedMembers(filter: Filter): string[] | undefined {
  if (filter.kind === 'or') {
    const branches = filter.branches.map(namedMembers);
    return branches.every((branch) => branch !== undefined) ? branches.flat() : undefined;
  }
  if (filter.kind !== 'compare') return undefined;
  const equality = equalityOf(filter);
  return equality?.attribute === 'members.value' ? [equality.value] : undefined;
}

const isImmutable = (sub: Field): Error =>
  mutability(`Attribute "${sub.path}" cannot be changed: remove the member and add another one.`);

/**
 * Operations on one sub-attribute. They are immutable or readOnly (RFC 7643 §4.2), so `value` can only be repeated;
 * removing it means removing the member, by the letter of the RFC not even that.
 */
function partSteps(
  op: PatchOperation['op'],
  { filter }: AttributeTarget,
  sub: Field,
  raw: unknown,
  profile: Profile,
): MemberStep[] {
  if (sub.attribute.mutability === 'readOnly' && profile.allows('read-only-ignored')) return [];
  const named = filter && namedMembers(filter);
  if (sub.name !== 'value' || !named) throw isImmutable(sub);
  if (op === 'remove' && profile.name !== 'rfc') return [{ kind: 'remove', values: named }];
  if (op === 'remove' || named.length !== 1 || raw !== named[0]) throw isImmutable(sub);
  return [...expectedSteps(op, named, profile), { kind: 'add', values: named }];
}

// By the letter a replacement needs what it replaces; other profiles save the read (`replace-creates`).
const expectedSteps = (op: PatchOperation['op'], values: string[], profile: Profile): MemberStep[] =>
  op === 'replace' && profile.name === 'rfc' ? [{ kind: 'expect', values }] : [];

function filteredSteps(
  op: PatchOperation['op'],
  filter: Filter,
  raw: unknown,
  profile: Profile,
): MemberStep[] {
  const named = namedMembers(filter);
  if (op === 'remove') return [named ? { kind: 'remove', values: named } : { kind: 'removeWhere', filter }];
  if (named?.length !== 1) throw invalidPath('Members can be set by a filter on "value" only.');
  const given = isObject(raw) && memberKey(raw) === undefined ? [] : memberValues(raw, profile);
  const values = given.length > 0 ? given : named;
  const expected = expectedSteps(op, named, profile);
  if (values.length === 1 && values[0] === named[0]) return [...expected, { kind: 'add', values }];
  return [...expected, { kind: 'remove', values: named }, { kind: 'add', values }];
}

/**
 * The set steps of one operation on `members`. Removal takes away the listed values, or what the filter selects,
 * and everything only when neither is given (gh:MicrosoftDocs/azure-docs#30826, gh:vouch-sh/vouch#1415).
 */
export function toMemberSteps(
  op: PatchOperation['op'],
  target: AttributeTarget,
  raw: unknown,
  profile: Profile,
): MemberStep[] {
  if (target.sub) return partSteps(op, target, target.sub, raw, profile);
  if (target.filter) return filteredSteps(op, target.filter, raw, profile);
  if (op === 'remove' && raw === undefined) return [{ kind: 'replace', values: [] }];
  const values = memberValues(raw, profile);
  return op !== 'replace' && values.length === 0 ? [] : [{ kind: op, values }];
}

/** Parts the operations of a group: what `applyPatch` does, and what the member set must go through, in order. */
export function splitMembers(operations: readonly PatchOperation[]): {
  rest: PatchOperation[];
  steps: MemberStep[];
} {
  const rest: PatchOperation[] = [];
  const steps: MemberStep[] = [];
  for (const operation of operations) {
    if (operation.target.kind === 'members') steps.push(...operation.target.steps);
    else rest.push(operation);
  }
  return { rest, steps };
}
