// Handles SCIM Users: list, create, read, replace, patch, delete (contract 2.1, 2.2, 2.7).
import { audit, bodyOf, type Call, type HandlerReply } from '../call.ts';
import { own } from '../json.ts';
import type { UserRecord } from '../records.ts';
import { changePerson, createPerson, impliedEmail, impliedFirstName, removePerson } from '../users/people.ts';
import { extensionEntries, withExtension } from './extension.ts';
import { answerList, requireResource, resourceReply, textFilters } from './list.ts';
import { parseOperations } from './patch-body.ts';
import { draftOf, patchDraft } from './patch-user.ts';
import { parseActive, parseUserFields, toUserResource, type UserFields } from './user-resource.ts';

/** Index of the users table by filter attribute, which filter.ts gives in lower case. */
const FILTER_INDEXES = {
  username: 'userName',
  externalid: 'externalId',
  displayname: 'displayName',
  'emails.value': 'email',
};

function auditUser(call: Call, eventName: string, user: UserRecord): void {
  audit(call, eventName, { userName: user.userName, userId: user.id });
}

/** Handles `GET /Users`. */
export function listUsers(call: Call): HandlerReply {
  const { users } = call.read;
  const isActive = (user: UserRecord, value: boolean): boolean => user.isDeactivated !== value;
  const filters = textFilters(call, users, FILTER_INDEXES);
  return answerList(call, users, [...filters, ['active', { test: isActive }]], (user) =>
    toUserResource(call, user),
  );
}

/** Handles `GET /Users/{id}`: 200 or 404. */
export function readScimUser(call: Call): HandlerReply {
  return resourceReply(call, 200, toUserResource(call, requireResource(call, call.read.users, 'User')));
}

/**
 * Handles `POST /Users`: 201 with `Location`; 400, 409. The user gets the default role and an alias of source
 * `scim`.
 */
export function createScimUser(call: Call): HandlerReply {
  const body = bodyOf(call);
  const fields = parseUserFields(body);
  const active = own(body, 'active');
  const user = createPerson(call, {
    ...fields,
    firstName: impliedFirstName(fields),
    isDeactivated: active === undefined || active === null ? false : !parseActive(active),
    values: withExtension(call.state, new Map(), extensionEntries(body), 'invalidValue'),
    aliasSource: 'scim',
  });
  auditUser(call, 'Created user via SCIM', user);
  return resourceReply(call, 201, toUserResource(call, user));
}

/** Returns the console user's first name and e-mail, which follow changed SCIM attributes; an e-mail never becomes empty. */
function impliedFields(user: UserRecord, fields: UserFields): Partial<UserRecord> {
  const isRenamed = (['displayName', 'givenName', 'familyName'] as const).some(
    (name) => fields[name] !== user[name],
  );
  const hasNewAddress = fields.userName !== user.userName || fields.emails !== user.emails;
  const email = hasNewAddress ? impliedEmail(fields.userName, fields.emails) : user.email;
  return {
    ...(isRenamed ? { firstName: impliedFirstName(fields) } : {}),
    email: email === '' ? user.email : email,
  };
}

/**
 * Handles `PUT /Users/{id}`: absent core attributes are reset; absent `active`, extension, roles and
 * memberships stay (ASSUMED-16).
 */
export function replaceUser(call: Call): HandlerReply {
  const body = bodyOf(call);
  const fields = parseUserFields(body);
  const user = requireResource(call, call.state.users, 'User');
  const active = own(body, 'active');
  const changed = changePerson(call, user, {
    ...fields,
    ...impliedFields(user, fields),
    isDeactivated: active === undefined || active === null ? user.isDeactivated : !parseActive(active),
    values: withExtension(call.state, user.values, extensionEntries(body), 'invalidValue'),
  });
  auditUser(call, 'Updated user via SCIM', changed);
  return resourceReply(call, 200, toUserResource(call, changed));
}

/** Handles `PATCH /Users/{id}`: all operations or none (ASSUMED-30). 400, 403, 404, 409. */
export function patchUser(call: Call): HandlerReply {
  const operations = parseOperations(bodyOf(call));
  const user = requireResource(call, call.state.users, 'User');
  const draft = draftOf(user);
  for (const operation of operations) patchDraft(call.state, draft, operation);
  const changed = changePerson(call, user, { ...draft, ...impliedFields(user, draft) });
  auditUser(call, 'Updated user via SCIM', changed);
  return resourceReply(call, 200, toUserResource(call, changed));
}

/** Handles `DELETE /Users/{id}`: 204; 403 last administrator, 404. */
export function deleteUser(call: Call): HandlerReply {
  const user = requireResource(call, call.state.users, 'User');
  removePerson(call, user);
  auditUser(call, 'Deleted user via SCIM', user);
  return { status: 204 };
}
