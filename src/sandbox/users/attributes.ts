// Handles attribute definitions, `/api/v1/user-attributes` (contract 3.1).
import { requireAdmin } from '../auth.ts';
import { bodyOf, pathNumber, queryText, type Call, type HandlerReply } from '../call.ts';
import { textOrNull, own, requireText, type SandboxJsonObject } from '../json.ts';
import { cursorPage, offsetPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import type { AttributeDefinition, SandboxAttributeType } from '../records.ts';
import { ATTRIBUTE_NAME } from '../settings.ts';
import { ATTRIBUTE_TYPES, valueFromText, withValue } from './attribute-types.ts';

function typeOf(value: unknown): SandboxAttributeType {
  const type = ATTRIBUTE_TYPES.find((known) => known === value);
  if (!type) throw new SandboxProblem(400, `type must be one of ${ATTRIBUTE_TYPES.join(', ')}`);
  return type;
}

function requireFittingDefault(type: SandboxAttributeType, text: string | null): void {
  if (text !== null && valueFromText(type, text) === undefined) {
    throw new SandboxProblem(400, `defaultValue does not fit the type ${type}`);
  }
}

/** Returns the definition with that id. @throws 404 */
export function requireAttribute(call: Call, id: number): AttributeDefinition {
  const definition = call.state.attributes.get(id);
  if (!definition) throw new SandboxProblem(404, 'User attribute not found');
  return definition;
}

/** Handles `GET`: newest first, both list styles in one answer (ASSUMED-34); filters `name` (exact) and `type`. */
export function listAttributes(call: Call): HandlerReply {
  const name = queryText(call, 'name');
  const typeText = queryText(call, 'type');
  const type = typeText === undefined ? undefined : typeOf(typeText);
  requireAdmin(call.caller);
  const newestFirst = call.read.attributes.rows().reverse();
  const matches = newestFirst.filter(
    (definition) => (!name || definition.name === name) && (!type || definition.type === type),
  );
  const { items, pageInfo } = cursorPage(
    call,
    'user-attribute',
    matches,
    (definition) => definition,
    'descending',
  );
  const { page: data, pagination } = offsetPage(call, matches);
  return { status: 200, body: { items, pageInfo, data, count: pagination.total } };
}

/** Handles `POST`: 200 UserAttribute; 400, 403, 409 for a name in use (ASSUMED-36). */
export function createAttribute(call: Call): HandlerReply {
  const body = bodyOf(call);
  const name = requireText(body, 'name');
  if (!ATTRIBUTE_NAME.test(name)) throw new SandboxProblem(400, 'name must be an identifier');
  const definition = {
    name,
    type: typeOf(own(body, 'type')),
    displayName: null,
    description: null,
    defaultValue: null,
    ...labelsOf(body),
  };
  requireFittingDefault(definition.type, definition.defaultValue);
  requireAdmin(call.caller);
  const { attributes } = call.state;
  if (attributes.find('name', name).length > 0)
    throw new SandboxProblem(409, `User attribute ${name} exists already`);
  const stored: AttributeDefinition = { id: attributes.nextId(), ...definition };
  attributes.put(stored);
  return { status: 200, body: stored };
}

/** Returns label, description and default, which may change later. A property that the body lacks is absent. */
function labelsOf(
  body: SandboxJsonObject,
): Partial<Pick<AttributeDefinition, 'displayName' | 'description' | 'defaultValue'>> {
  return {
    ...(Object.hasOwn(body, 'displayName') ? { displayName: textOrNull(body, 'displayName') } : {}),
    ...(Object.hasOwn(body, 'description') ? { description: textOrNull(body, 'description') } : {}),
    ...(Object.hasOwn(body, 'defaultValue') ? { defaultValue: textOrNull(body, 'defaultValue') } : {}),
  };
}

/** Handles `PUT /{id}`: label, description, default; `name` and `type` are ignored (ASSUMED-37). 400, 403, 404. */
export function updateAttribute(call: Call): HandlerReply {
  const id = pathNumber(call, 'id');
  const labels = labelsOf(bodyOf(call));
  const definition = requireAttribute(call, id);
  requireAdmin(call.caller);
  requireFittingDefault(definition.type, labels.defaultValue ?? null);
  const stored: AttributeDefinition = { ...definition, ...labels };
  call.state.attributes.put(stored);
  return { status: 200, body: stored };
}

/** Handles `DELETE /{id}`: 200, and deletes all its values (ASSUMED-38); 403, 404. */
export function deleteAttribute(call: Call): HandlerReply {
  const id = pathNumber(call, 'id');
  requireAttribute(call, id);
  requireAdmin(call.caller);
  const { attributes, users } = call.state;
  attributes.remove(id);
  // Undefined clears the value.
  for (const user of users.rows())
    if (user.values.has(id)) users.put({ ...user, values: withValue(user.values, id, undefined) });
  return { status: 200, body: {} };
}
