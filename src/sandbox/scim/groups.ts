// Handles SCIM Groups: list, create, read, replace, patch, delete (contract 2.1, 2.3, 2.7).
import { audit, bodyOf, type Call, type HandlerReply } from '../call.ts';
import { textOrNull, own, requireText } from '../json.ts';
import type { GroupRecord } from '../records.ts';
import {
  applyMemberStep,
  createGroup,
  assignMappedRoles,
  removeGroup,
  requireGroupName,
} from '../users/group-life.ts';
import { scimIdOf } from '../users/people.ts';
import {
  answerList,
  excludedAttributes,
  requireResource,
  resourceReply,
  textFilters,
  type ScimResource,
} from './list.ts';
import { parseOperations } from './patch-body.ts';
import { parseGroupPatch, requireMembers, type GroupChange } from './patch-group.ts';
import { SCIM_GROUP_URN } from './urns.ts';
import { toScimMeta } from './user-resource.ts';

function toGroupResource(call: Call, group: GroupRecord, excluded: ReadonlySet<string>): ScimResource {
  // A GET may show an earlier state (the fault `staleReadsMs`); the answer to a write shows what was written.
  const view = call.request.method === 'GET' ? call.read : call.state;
  const members = excluded.has('members')
    ? []
    : [...view.memberships.membersOf(group.id)].flatMap((id) => {
        const user = view.users.get(id);
        return user
          ? [{ value: scimIdOf(call.settings, user), display: user.displayName ?? user.userName }]
          : [];
      });
  return {
    schemas: [SCIM_GROUP_URN],
    id: scimIdOf(call.settings, group),
    ...(group.externalId === null ? {} : { externalId: group.externalId }),
    displayName: group.displayName,
    members,
    meta: toScimMeta(call, 'Group', group),
  };
}

function toReply(call: Call, status: 200 | 201, group: GroupRecord): HandlerReply {
  return resourceReply(call, status, toGroupResource(call, group, excludedAttributes(call)));
}

/** Stores a checked change and assigns mapped roles to new members; throws 400 or 409 for the name. */
function applyChange(call: Call, group: GroupRecord, change: GroupChange): GroupRecord {
  if (change.displayName !== group.displayName) requireGroupName(call, change.displayName, group.id);
  const { displayName, externalId } = change;
  const stored: GroupRecord = { ...group, displayName, externalId, updatedAtMs: call.nowMs };
  call.state.groups.put(stored);
  changeMembers(call, stored, change.steps);
  return stored;
}

/** Applies the steps and gives new members the roles that the settings map to the group. */
function changeMembers(call: Call, group: GroupRecord, steps: GroupChange['steps']): void {
  // The fault `ignoreMembers` returns success without changing the member list.
  if (call.fault.ignoreMembers) return;
  const joined = new Set(steps.flatMap((step) => applyMemberStep(call, group.id, step)));
  for (const assignment of assignMappedRoles(call, group, [...joined])) {
    audit(call, 'Assigned role to user', { ...assignment, group: group.displayName });
  }
}

function auditGroup(call: Call, eventName: string, group: GroupRecord): void {
  audit(call, eventName, { displayName: group.displayName, groupId: group.id });
}

/** Handles `GET /Groups`. */
export function listGroups(call: Call): HandlerReply {
  const { groups } = call.read;
  const filters = textFilters(call, groups, { displayname: 'displayName', externalid: 'externalId' });
  return answerList(call, groups, filters, (group, excluded) => toGroupResource(call, group, excluded));
}

/** Handles `GET /Groups/{id}`: 200 or 404. */
export function readScimGroup(call: Call): HandlerReply {
  return toReply(call, 200, requireResource(call, call.read.groups, 'Group'));
}

/** Handles `POST /Groups`: 201 with `Location`; 400, 409. */
export function createGroupResource(call: Call): HandlerReply {
  const body = bodyOf(call);
  const displayName = requireText(body, 'displayName');
  const externalId = textOrNull(body, 'externalId');
  const userIds = requireMembers(call, own(body, 'members') ?? []);
  const group = createGroup(call, displayName, externalId);
  changeMembers(call, group, [{ kind: 'add', userIds }]);
  auditGroup(call, 'Created group via SCIM', group);
  return toReply(call, 201, group);
}

/** Handles `PUT /Groups/{id}`: replaces name, externalId and the whole member list; 400, 404, 409. */
export function replaceGroup(call: Call): HandlerReply {
  const body = bodyOf(call);
  const displayName = requireText(body, 'displayName');
  const externalId = textOrNull(body, 'externalId');
  const group = requireResource(call, call.state.groups, 'Group');
  const userIds = requireMembers(call, own(body, 'members') ?? []);
  const stored = applyChange(call, group, { displayName, externalId, steps: [{ kind: 'replace', userIds }] });
  auditGroup(call, 'Updated group via SCIM', stored);
  return toReply(call, 200, stored);
}

/** Handles `PATCH /Groups/{id}`: all operations or none; 400, 404, 409. */
export function patchGroup(call: Call): HandlerReply {
  const operations = parseOperations(bodyOf(call));
  const group = requireResource(call, call.state.groups, 'Group');
  const stored = applyChange(call, group, parseGroupPatch(call, group, operations));
  auditGroup(call, 'Updated group via SCIM', stored);
  return toReply(call, 200, stored);
}

/** Handles `DELETE /Groups/{id}`: 204, the members remain users; 404. */
export function deleteGroup(call: Call): HandlerReply {
  const group = requireResource(call, call.state.groups, 'Group');
  removeGroup(call, group);
  auditGroup(call, 'Deleted group via SCIM', group);
  return { status: 204 };
}
