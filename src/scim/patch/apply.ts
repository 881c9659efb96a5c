// Applies PATCH operations to a resource (RFC 7644 §3.5.2). Flow: each operation changes a draft by the kind of its target: a whole
// extension, an attribute (`changeAttribute`), or an undeclared member of an open extension (`changeMember`). Then the draft is
// made canonical and validated. The input is not modified: every object on the path to a changed value is copied.
import type { Field } from '../attributes.ts';
import { mutability, type ScimError } from '../errors.ts';
import { isEqual, ownValue, toList, type JsonObject } from '../json.ts';
import { keepImmutable } from '../immutable.ts';
import type { AttributeTarget } from '../path.ts';
import type { Profile } from '../profiles.ts';
import { toCanonical, type Resource, type ResourceType } from '../resource-type.ts';
import { checkCount, readOpen, readParts, readValue, settleComplex, toComplexInput } from '../values.ts';
import type { Comparisons } from './comparisons.ts';
import { changeElements, isListed } from './elements.ts';
import { comparesList, type PatchOperation } from './operation.ts';

type Op = PatchOperation['op'];

/**
 * Returns a new canonical resource with all operations applied in order. Operations on group members are ignored here
 * (`splitMembers` returns them). After operations without effect the JSON text is the same as before. Yields after each operation
 * and every few comparisons.
 * @throws 400 invalidValue (type, required), mutability (required attribute removed, immutable one changed), noTarget, tooMany
 */
export function* applyPatch(
  type: ResourceType,
  resource: Resource,
  operations: readonly PatchOperation[],
  profile: Profile,
  comparisons: Comparisons,
): Generator<undefined, Resource> {
  const draft: JsonObject = { ...resource };
  for (const operation of operations) {
    yield* applyOperation(draft, operation, profile, comparisons);
    yield;
  }
  const patched = keepImmutable(type, resource, toCanonical(type, draft), 'patch');
  const fault = type.validator.fault(patched) && newFault(type, resource, patched);
  if (fault) throw fault;
  return patched;
}

/** Returns a violation that the PATCH introduces. Older violations pass, so that a new rule does not block a deactivation. */
function newFault(type: ResourceType, before: Resource, patched: Resource): ScimError | undefined {
  const known = new Set(type.validator.faults(before).map(({ detail }) => detail));
  return type.validator.faults(patched).find(({ detail }) => !known.has(detail));
}

function* applyOperation(
  draft: JsonObject,
  operation: PatchOperation,
  profile: Profile,
  comparisons: Comparisons,
): Generator<undefined, void> {
  const { target } = operation;
  // The members of a group are stored apart from it.
  if (target.kind === 'members') return;
  if (target.kind === 'section') {
    draft[target.section.urn] = undefined;
    return;
  }
  const { section } = target;
  // The extension is copied before the first change; `toCanonical` removes undefined values.
  const holder = section.core ? draft : { ...(ownValue(draft, section.urn) as JsonObject | undefined) };
  if (target.kind === 'attribute') {
    const current = ownValue(holder, target.field.name);
    holder[target.field.name] = yield* changeAttribute(operation, target, current, profile, comparisons);
  } else {
    const current = ownValue(holder, target.name);
    if (comparesList(operation)) comparisons.count(toList(current).length);
    const value = readOpen(section, target.name, operation.value);
    holder[target.name] = changeMember(operation, `${section.urn}:${target.name}`, current, value);
  }
  if (!section.core) draft[section.urn] = holder;
}

function* changeAttribute(
  operation: PatchOperation,
  target: AttributeTarget,
  current: unknown,
  profile: Profile,
  comparisons: Comparisons,
): Generator<undefined, unknown> {
  const { op, value } = operation;
  const { field, filter, sub } = target;
  if (field.attribute.multiValued)
    return yield* changeElements({ op, field, filter, sub, value, profile }, current, comparisons);
  if (field.attribute.type === 'complex') return changeComplex(op, target, current, value, profile);
  const next = changeSimple(op, field, current, value, profile);
  // A user without `active` is active, so null, which may mean an unknown value, would reactivate a deactivated user.
  if (next === undefined && op !== 'remove' && field.path === 'active') return current;
  if (next === undefined && field.attribute.required) {
    throw mutability(`Attribute "${field.path}" is required and cannot be removed.`);
  }
  return next;
}

function changeSimple(op: Op, field: Field, current: unknown, value: unknown, profile: Profile): unknown {
  if (op !== 'remove') return readValue(field, value, profile);
  return isOther(field, current, value, profile) ? current : undefined;
}

// Keeps sub-attributes that the value does not name (RFC 7644 §3.5.2.3); null removes one.
function changeComplex(
  op: Op,
  target: AttributeTarget,
  current: unknown,
  value: unknown,
  profile: Profile,
): unknown {
  const { field, sub } = target;
  const parts: JsonObject = { ...(current as JsonObject | undefined) };
  if (sub) {
    parts[sub.name] = changeSimple(op, sub, parts[sub.name], value, profile);
    return settleComplex(field, parts, profile);
  }
  if (op === 'remove') return isOther(field, current, value, profile) ? current : undefined;
  const input = toComplexInput(field, value, profile);
  if (!input) return undefined;
  readParts(field, input, parts, profile);
  return settleComplex(field, parts, profile);
}

/**
 * Returns whether the value of a `remove` differs from the current value; then nothing is removed
 * (gh:AzureAD/SCIMReferenceCode#87). Empty text names no value.
 */
function isOther(field: Field, current: unknown, value: unknown, profile: Profile): boolean {
  if (value === undefined || value === '' || current === undefined) return false;
  const given = readValue(field, value, profile);
  if (given === undefined) return false;
  if (field.attribute.type === 'complex') return !isListed(field, current as JsonObject, given as JsonObject);
  return !isEqual(field, current, given);
}

/**
 * Returns the new value of an undeclared member of an open extension; `value` is the canonical form of `operation.value`.
 * @throws 400 invalidValue when a list grows beyond the largest number of values
 */
function changeMember(operation: PatchOperation, path: string, current: unknown, value: unknown): unknown {
  const { op } = operation;
  // An `add` extends a list, and replaces a single value.
  if (op === 'replace' || (op === 'add' && !Array.isArray(current))) return value;
  const given = toList(value);
  if (op === 'add') {
    const all = [...new Set([...(current as unknown[]), ...given])];
    if (all.length > (current as unknown[]).length) checkCount(path, all.length);
    return all;
  }
  // A `remove` without a value removes all; with values it removes these only.
  if (operation.value === undefined) return undefined;
  const listed = new Set(given);
  if (!Array.isArray(current)) return listed.has(current) ? undefined : current;
  const left = (current as unknown[]).filter((item) => !listed.has(item));
  return left.length > 0 ? left : undefined;
}
