// Parses the SCIM user of a body and builds the resource of an answer (contract 2.2).
import type { Call } from '../call.ts';
import {
  isJsonObject,
  objectList,
  textOrNull,
  own,
  requireObject,
  requireText,
  type SandboxJsonObject,
} from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { EmailEntry, UserRecord } from '../records.ts';
import { scimIdOf } from '../users/people.ts';
import { toExtension } from './extension.ts';
import type { ScimResource } from './list.ts';
import { EXTENSION_URN, SCIM_USER_URN } from './urns.ts';

/** The core attributes that a client may set, except for `active`. */
export type UserFields = Pick<
  UserRecord,
  'userName' | 'externalId' | 'displayName' | 'givenName' | 'familyName' | 'emails'
>;

/** Returns a boolean, also from text in any letter case, such as the `True` of Entra ID (ASSUMED-14). @throws 400 */
export function parseActive(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false')
    throw new SandboxProblem(400, 'active must be true or false', 'invalidValue');
  return text === 'true';
}

/** Parses one entry of `emails`; 400 without a text `value`. */
export function parseEmail(source: SandboxJsonObject): EmailEntry {
  const type = textOrNull(source, 'type');
  const primary = own(source, 'primary');
  return {
    value: requireText(source, 'value'),
    ...(type === null ? {} : { type }),
    ...(primary === undefined || primary === null ? {} : { primary: parseActive(primary) }),
  };
}

/** Returns the core attributes of a POST or PUT body, absent ones at their default (ASSUMED-16). @throws 400 */
export function parseUserFields(body: SandboxJsonObject): UserFields {
  const sentName = own(body, 'name');
  const name = sentName === undefined || sentName === null ? {} : requireObject(sentName, 'name');
  return {
    userName: requireText(body, 'userName'),
    externalId: textOrNull(body, 'externalId'),
    displayName: textOrNull(body, 'displayName'),
    givenName: textOrNull(name, 'givenName'),
    familyName: textOrNull(name, 'familyName'),
    emails: objectList(body, 'emails').map(parseEmail),
  };
}

/** Returns the `meta` attribute of a resource. */
export function toScimMeta(
  call: Call,
  resourceType: 'User' | 'Group',
  record: Pick<UserRecord, 'id' | 'uuid' | 'createdAtMs' | 'updatedAtMs'>,
): ScimResource['meta'] {
  return {
    resourceType,
    created: new Date(record.createdAtMs).toISOString(),
    lastModified: new Date(record.updatedAtMs).toISOString(),
    location: `${call.platformUrl}/api/scim/v2/${resourceType}s/${scimIdOf(call.settings, record)}`,
  };
}

function nameOf(user: UserRecord): SandboxJsonObject {
  const { givenName, familyName } = user;
  if (givenName === null && familyName === null) return {};
  return {
    name: { ...(givenName === null ? {} : { givenName }), ...(familyName === null ? {} : { familyName }) },
  };
}

/** Returns the SCIM user resource; absent attributes are left out, `groups` is read-only (ASSUMED-15). */
export function toUserResource(call: Call, user: UserRecord): ScimResource {
  const { settings, state } = call;
  // A GET may show an earlier state (the fault `staleReadsMs`); the answer to a write shows what was written.
  const view = call.request.method === 'GET' ? call.read : state;
  const extension = toExtension(state, user);
  const groups = [...view.memberships.groupsOf(user.id)].flatMap((id) => {
    const group = view.groups.get(id);
    return group ? [{ value: scimIdOf(settings, group), display: group.displayName }] : [];
  });
  // A user of the console API has `email` only.
  const emails =
    user.emails.length > 0 || user.email === '' ? user.emails : [{ value: user.email, primary: true }];
  return {
    schemas: isJsonObject(extension) ? [SCIM_USER_URN, EXTENSION_URN] : [SCIM_USER_URN],
    id: scimIdOf(settings, user),
    ...(user.externalId === null ? {} : { externalId: user.externalId }),
    userName: user.userName,
    ...(user.displayName === null ? {} : { displayName: user.displayName }),
    ...nameOf(user),
    ...(emails.length > 0 ? { emails } : {}),
    active: !user.isDeactivated,
    ...(groups.length > 0 ? { groups } : {}),
    ...(extension ? { [EXTENSION_URN]: extension } : {}),
    meta: toScimMeta(call, 'User', user),
  };
}
