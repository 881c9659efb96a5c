// Parses a PatchOp message (RFC 7644 §3.5.2) to operations of one target and one value each (`parsePatch`). A value without path
// and the value of a whole extension are split: each of their keys is a target (`pushObject`, `pushSection`). Then the target
// decides: an attribute may be read-only, not stored, or the members of a group (`pushAttribute`).
import type { Field, Section } from '../attributes.ts';
import { invalidPath, invalidSyntax, invalidValue, mutability, noTarget, tooMany } from '../errors.ts';
import { checkBody, isObject, member, messageOf, operationsOf } from '../json.ts';
import { parsePath, type AttributeTarget, type PatchTarget } from '../path.ts';
import type { Profile } from '../profiles.ts';
import type { ResourceType } from '../resource-type.ts';
import { PATCH_OP_URN } from '../urns.ts';
import { lastSegment } from '../values.ts';
import { toMemberSteps } from './members.ts';
import { MAX_PATCH_OPERATIONS, type PatchOperation } from './operation.ts';

interface Parsing {
  readonly type: ResourceType;
  readonly profile: Profile;
  readonly op: PatchOperation['op'];
  /** Counted from 1, for error details. */
  readonly position: number;
  /** The result, to which the functions below add. */
  readonly operations: PatchOperation[];
}

/**
 * Returns the operations of a PATCH body, in order (RFC 7644 §3.5.2). Yields before each path that it parses, so that a long PATCH
 * lets other requests in between (`inSlices` in support/pace.ts).
 * @throws 400 invalidSyntax (no PatchOp, unknown op), invalidPath, invalidFilter, invalidValue (no value or an unusable one),
 * noTarget (remove without a path), mutability (readOnly attributes, sub-attributes of members), tooMany.
 */
export function* parsePatch(
  type: ResourceType,
  body: unknown,
  profile: Profile,
): Generator<undefined, PatchOperation[]> {
  if (isObject(body)) checkBody(body);
  const message = messageOf(body, PATCH_OP_URN, profile);
  const operations: PatchOperation[] = [];
  const listed = operationsOf(message, profile, MAX_PATCH_OPERATIONS, tooManyOperations);
  for (const [index, raw] of listed.entries())
    yield* parseOperation(type, raw, index + 1, profile, operations);
  return operations;
}

/** Adds the operations of one entry of `Operations`. */
function* parseOperation(
  type: ResourceType,
  raw: unknown,
  position: number,
  profile: Profile,
  operations: PatchOperation[],
): Generator<undefined, void> {
  if (!isObject(raw)) throw invalidSyntax(`Operation ${position} must be an object.`);
  const op = parseOp(member(raw, 'op'), position, profile);
  const path = member(raw, 'path');
  const given = member(raw, 'value');
  const parsing: Parsing = { type, profile, op, position, operations };
  if (op !== 'remove' && given === undefined)
    throw invalidValue(`Operation ${position}: "value" is missing.`);
  const value = op === 'remove' && given === null ? undefined : given;
  if (path === undefined || path === null || path === '') {
    if (op === 'remove') throw noTarget(`Operation ${position}: "remove" needs a path.`);
    return yield* pushObject(parsing, value);
  }
  if (typeof path !== 'string') throw invalidPath(`Operation ${position}: "path" must be text.`);
  yield;
  yield* pushTarget(parsing, parsePath(type, path, profile), value);
}

function parseOp(raw: unknown, position: number, profile: Profile): PatchOperation['op'] {
  const lower = typeof raw === 'string' ? raw.toLowerCase() : '';
  if (lower === 'add' || lower === 'replace' || lower === 'remove') {
    if (raw === lower || profile.allows('operation-case')) return lower;
  }
  throw invalidSyntax(`Operation ${position}: "op" must be "add", "replace" or "remove".`);
}

/** Adds the operations on one target. `isPathless`: the target is a key of the value, not the path of the operation. */
function* pushTarget(
  parsing: Parsing,
  target: PatchTarget,
  value: unknown,
  { isPathless = false } = {},
): Generator<undefined, void> {
  switch (target.kind) {
    case 'unknown':
      if (parsing.profile.allows('unknown-attribute')) return;
      throw invalidPath(`Operation ${parsing.position}: no schema declares this attribute.`);
    case 'section':
      return yield* pushSection(parsing, target.section, value);
    case 'member':
      return push(parsing, target, value);
    case 'attribute':
      return pushAttribute(parsing, target, value, isPathless);
  }
}

function* pushSection(parsing: Parsing, section: Section, value: unknown): Generator<undefined, void> {
  const { op, type, profile, position } = parsing;
  if (section.core) {
    if (op === 'remove')
      throw noTarget(`Operation ${position}: a whole resource cannot be removed by PATCH.`);
    return yield* pushObject(parsing, value);
  }
  if (value === undefined || value === null) {
    push({ ...parsing, op: 'remove' }, { kind: 'section', section }, undefined);
    return;
  }
  if (!isObject(value))
    throw invalidValue(`Operation ${position}: the value of "${section.urn}" must be an object.`);
  for (const key of Object.keys(value)) {
    if (isOwnSchema(section, key, value[key])) continue;
    yield;
    const target = parsePath(type, `${section.urn}:${key}`, profile);
    yield* pushTarget(parsing, target, op === 'remove' ? undefined : value[key], { isPathless: true });
  }
}

// scim2-tester repeats `schemas` inside extensions; the key is ignored here as in POST and PUT.
const isOwnSchema = (section: Section, key: string, value: unknown): boolean =>
  key === 'schemas' && !section.schema.open && Array.isArray(value) && String(value) === section.urn;

/** Adds an operation for each key of a value without path. */
function* pushObject(parsing: Parsing, value: unknown): Generator<undefined, void> {
  const { position, profile, type } = parsing;
  if (!isObject(value))
    throw invalidValue(`Operation ${position}: without a path the value must be an object.`);
  for (const key of Object.keys(value)) {
    yield;
    const target = parsePath(type, key, profile);
    if (!isPlain(target, key) && !profile.allows('path-keys')) {
      throw invalidPath(`Operation ${position}: a key of the value is a path.`);
    }
    if (value[key] !== undefined) yield* pushTarget(parsing, target, value[key], { isPathless: true });
  }
}

// Returns whether a key of a value without path is an attribute name or the URN of an extension, as the RFC allows.
function isPlain(target: PatchTarget, key: string): boolean {
  if (target.kind === 'attribute') return !target.filter && !target.sub && !key.includes(':');
  return target.kind !== 'member';
}

function pushAttribute(parsing: Parsing, target: AttributeTarget, value: unknown, isPathless: boolean): void {
  const { op, type, profile, position } = parsing;
  const { section, field, sub } = target;
  if (field.attribute.mutability === 'readOnly') {
    const mayBeIgnored = isPathless || field.name === 'schemas';
    if (mayBeIgnored && profile.allows('read-only-ignored')) return;
    throw mutability(`Operation ${position}: attribute "${field.path}" is read-only.`);
  }
  // A password is accepted and not stored.
  if (field.attribute.returned === 'never') return;
  if (type.name === 'Group' && section.core && field.name === 'members') {
    checkRemoval(parsing, value);
    // `steps` contain the value, so the operation has none.
    return push(parsing, { kind: 'members', steps: toMemberSteps(op, target, value, profile) }, undefined);
  }
  if (sub?.attribute.mutability === 'readOnly')
    return pushReadOnlyPart(parsing, target, sub, value, isPathless);
  checkRemoval(parsing, value);
  push(parsing, target, value);
}

// `manager.$ref` sets the manager if the profile allows `reference-for-value`. Any other readOnly sub-attribute, such as
// `manager.displayName`, is ignored in a value without path if the profile allows `read-only-ignored`, and refused otherwise.
function pushReadOnlyPart(
  parsing: Parsing,
  target: AttributeTarget,
  sub: Field,
  value: unknown,
  isPathless: boolean,
): void {
  const { profile, position } = parsing;
  const identifier = target.field.parts?.byName.get('value');
  if (
    sub.name === '$ref' &&
    identifier &&
    typeof value === 'string' &&
    profile.allows('reference-for-value')
  ) {
    return push(parsing, { ...target, sub: identifier }, lastSegment(value));
  }
  if (isPathless && profile.allows('read-only-ignored')) return;
  throw mutability(`Operation ${position}: attribute "${sub.path}" is read-only.`);
}

/** @throws 400 invalidValue for a `remove` with a value, unless the profile allows it */
function checkRemoval(parsing: Parsing, value: unknown): void {
  if (parsing.op !== 'remove' || value === undefined || parsing.profile.allows('remove-with-value')) return;
  throw invalidValue(
    `Operation ${parsing.position}: "remove" takes no value; select by a filter in the path.`,
  );
}

function push(parsing: Parsing, target: PatchOperation['target'], value: unknown): void {
  if (parsing.operations.length >= MAX_PATCH_OPERATIONS) throw tooManyOperations();
  parsing.operations.push({ op: parsing.op, target, value });
}

const tooManyOperations = (): Error =>
  tooMany(`A PATCH may hold at most ${MAX_PATCH_OPERATIONS} operations.`);
