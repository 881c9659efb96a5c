// Parses a PATCH of a group. The result is a change with steps for the member list, so that the list is not copied
// (contract 2.6).
import { isJsonObject, own, requireObject, requireText, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { GroupRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import type { GroupMemberStep } from '../users/group-life.ts';
import { findByScimId } from './list.ts';
import { textOfOperation, writablePath, type ParsedPatchOperation } from './patch-body.ts';
import { SCIM_GROUP_URN } from './urns.ts';

export interface GroupChange {
  displayName: string;
  externalId: string | null;
  steps: GroupMemberStep[];
}

const READ_ONLY = new Set(['id', 'meta', 'schemas']);
/** `members[value eq "<SCIM id>"]`. */
const ONE_MEMBER = /^members\[\s*value\s+eq\s+"([^"]*)"\s*\]$/i;

/** Returns the SCIM ids in the value of an operation, one member or a list of members. @throws 400 */
function memberIds(value: unknown): string[] {
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  return entries.map((entry) => {
    const id = isJsonObject(entry) ? own(entry, 'value') : undefined;
    if (typeof id !== 'string')
      throw new SandboxProblem(400, 'Every member needs a text value', 'invalidValue');
    return id;
  });
}

/**
 * Returns the platform user ids of `members` without duplicates; an unknown user is 400 `invalidValue`
 * (ASSUMED-19).
 */
export function requireMembers(current: CurrentState, value: unknown): number[] {
  const ids = memberIds(value).map((id) => {
    const user = findByScimId(current.state.users, current.settings, id);
    if (!user) throw new SandboxProblem(400, `Unknown member: ${id}`, 'invalidValue');
    return user.id;
  });
  return [...new Set(ids)];
}

/** Returns the platform ids of users by SCIM ids; unknown ids are left out, as removing them is no error (ASSUMED-20). */
function existingUsers(current: CurrentState, ids: readonly string[]): number[] {
  return ids.flatMap((id) => findByScimId(current.state.users, current.settings, id)?.id ?? []);
}

function memberStep(current: CurrentState, operation: ParsedPatchOperation): GroupMemberStep {
  const { op, value } = operation;
  if (op !== 'remove') {
    // Null is the empty list (RFC 7643 §2.5): `replace` removes all members, `add` adds none. An absent value is an error.
    if (value === undefined) throw new SandboxProblem(400, `${op} needs a value`, 'invalidValue');
    return { kind: op, userIds: requireMembers(current, value ?? []) };
  }
  // Entra ID removes members with a list of values; without a value, RFC 7644 removes all members.
  if (value === undefined || value === null) return { kind: 'replace', userIds: [] };
  return { kind: 'remove', userIds: existingUsers(current, memberIds(value)) };
}

function setName(change: GroupChange, operation: ParsedPatchOperation): void {
  if (operation.op === 'remove')
    throw new SandboxProblem(400, 'displayName cannot be removed', 'invalidValue');
  change.displayName = requireText({ displayName: operation.value }, 'displayName');
}

/** Adds an operation with a path to the change. @returns false for a path that contract 2.6 does not list */
function patchPath(
  current: CurrentState,
  change: GroupChange,
  path: string,
  operation: ParsedPatchOperation,
): boolean {
  const name = path.toLowerCase();
  const [, memberId] = ONE_MEMBER.exec(path) ?? [];
  if (name === 'displayname') setName(change, operation);
  else if (name === 'externalid') change.externalId = textOfOperation(operation, 'externalId');
  else if (name === 'members') change.steps.push(memberStep(current, operation));
  else if (memberId !== undefined && operation.op === 'remove') {
    change.steps.push({ kind: 'remove', userIds: existingUsers(current, [memberId]) });
  } else return false;
  return true;
}

function patchOne(current: CurrentState, change: GroupChange, operation: ParsedPatchOperation): void {
  if (operation.path === undefined) {
    const value: SandboxJsonObject = requireObject(operation.value, 'value of an operation without path');
    // Read-only and unknown properties are ignored here: Okta sends the id in such a value.
    for (const [name, member] of Object.entries(value))
      patchPath(current, change, name, { ...operation, value: member });
    return;
  }
  const path = writablePath(operation.path, SCIM_GROUP_URN, READ_ONLY);
  if (!patchPath(current, change, path, operation))
    throw new SandboxProblem(400, `Unsupported path: ${path}`, 'invalidPath');
}

/** Returns the combined change of all operations; throws 400 before anything is changed (ASSUMED-30). */
export function parseGroupPatch(
  current: CurrentState,
  group: GroupRecord,
  operations: readonly ParsedPatchOperation[],
): GroupChange {
  const change: GroupChange = { displayName: group.displayName, externalId: group.externalId, steps: [] };
  for (const operation of operations) patchOne(current, change, operation);
  return change;
}
