// Handles SCIM Users: list, create, read, replace, patch, delete (contract 2.1, 2.2, 2.7).
import { audit, bodyOf, pathText, type Call, type HandlerReply } from '../call.ts';
import { own } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { UserRecord } from '../records.ts';
import type { TableView } from '../table.ts';
import { changePerson, createPerson, impliedEmail, impliedFirstName, removePerson } from '../users/people.ts';
import { extensionEntries, withExtension } from './extension.ts';
import type { Filterable } from './filter.ts';
import { answerList, excludedAttributes, filterById, findByScimId, withoutAttributes } from './list.ts';
import { parseOperations } from './patch-body.ts';
import { draftOf, patchDraft } from './patch-user.ts';
import { parseActive, parseUserFields, toUserResource, type UserFields } from './user-resource.ts';

/** Returns the attributes that a filter of users may name. */
function grammarOf(call: Call): ReadonlyMap<string, Filterable<UserRecord>> {
  const { users } = call.read;
  const isEqual = (value: string | null, text: string): boolean => value?.toLowerCase() === text;
  return new Map<string, Filterable<UserRecord>>([
    ['id', filterById(call, users)],
    [
      'username',
      {
        kind: 'text',
        find: (text) => users.find('userName', text),
        test: (user, text) => isEqual(user.userName, text),
      },
    ],
    [
      'externalid',
      {
        kind: 'text',
        find: (text) => users.find('externalId', text),
        test: (user, text) => isEqual(user.externalId, text),
      },
    ],
    [
      'displayname',
      {
        kind: 'text',
        find: (text) => users.find('displayName', text),
        test: (user, text) => isEqual(user.displayName, text),
      },
    ],
    [
      'emails.value',
      {
        kind: 'text',
        find: (text) => users.find('email', text),
        test: (user, text) =>
          isEqual(user.email, text) || user.emails.some((entry) => isEqual(entry.value, text)),
      },
    ],
    ['active', { kind: 'boolean', test: (user, isActive) => user.isDeactivated !== isActive }],
  ]);
}

function requireUser(call: Call, users: TableView<UserRecord>): UserRecord {
  const user = findByScimId(users, call.settings, pathText(call, 'id'));
  if (!user) throw new SandboxProblem(404, `User ${pathText(call, 'id')} not found`);
  return user;
}

function toReply(call: Call, status: 200 | 201, user: UserRecord): HandlerReply {
  const body = withoutAttributes(toUserResource(call, user), excludedAttributes(call));
  const location = `${call.platformUrl}/api/scim/v2/Users/${String(own(body, 'id'))}`;
  return status === 201 ? { status, body, headers: { Location: location } } : { status, body };
}

function auditUser(call: Call, eventName: string, user: UserRecord): void {
  audit(call, eventName, { userName: user.userName, userId: user.id });
}

/** Handles `GET /Users`. */
export function listUsers(call: Call): HandlerReply {
  const excluded = excludedAttributes(call);
  const show = (user: UserRecord): unknown => withoutAttributes(toUserResource(call, user), excluded);
  return answerList(call, call.read.users, grammarOf(call), show);
}

/** Handles `GET /Users/{id}`: 200 or 404. */
export function readScimUser(call: Call): HandlerReply {
  return toReply(call, 200, requireUser(call, call.read.users));
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
  return toReply(call, 201, user);
}

/** Returns the console user's first name and e-mail, which follow from SCIM attributes when these change. */
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
  const user = requireUser(call, call.state.users);
  const active = own(body, 'active');
  const changed = changePerson(call, user, {
    ...fields,
    ...impliedFields(user, fields),
    isDeactivated: active === undefined || active === null ? user.isDeactivated : !parseActive(active),
    values: withExtension(call.state, user.values, extensionEntries(body), 'invalidValue'),
  });
  auditUser(call, 'Updated user via SCIM', changed);
  return toReply(call, 200, changed);
}

/** Handles `PATCH /Users/{id}`: all operations or none (ASSUMED-30). 400, 403, 404, 409. */
export function patchUser(call: Call): HandlerReply {
  const operations = parseOperations(bodyOf(call));
  const user = requireUser(call, call.state.users);
  const draft = draftOf(user);
  for (const operation of operations) patchDraft(call.state, draft, operation);
  const changed = changePerson(call, user, { ...draft, ...impliedFields(user, draft) });
  auditUser(call, 'Updated user via SCIM', changed);
  return toReply(call, 200, changed);
}

/** Handles `DELETE /Users/{id}`: 204; 403 last administrator, 404. */
export function deleteUser(call: Call): HandlerReply {
  const user = requireUser(call, call.state.users);
  removePerson(call, user);
  auditUser(call, 'Deleted user via SCIM', user);
  return { status: 204 };
}
