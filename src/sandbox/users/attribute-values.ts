// Handles attribute values of users, `/api/v1/user-attribute-values` (contract 3.2).
import { requireAdmin } from '../auth.ts';
import { bodyOf, pathNumber, type Call, type HandlerReply } from '../call.ts';
import { own, WHOLE_NUMBER, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { AttributeDefinition, UserRecord } from '../records.ts';
import { requireUser } from './accounts.ts';
import { effectiveValue, fitValue, withValue } from './attribute-types.ts';
import { requireAttribute } from './attributes.ts';
import { changePerson } from './people.ts';

function toValueView(user: UserRecord, definition: AttributeDefinition): Record<string, unknown> {
  const stored = user.values.get(definition.id);
  return {
    userId: user.id,
    userAttributeId: definition.id,
    name: definition.name,
    type: definition.type,
    displayName: definition.displayName,
    description: definition.description,
    value: stored ?? null,
    formattedValue: effectiveValue(definition, stored),
  };
}

/** Returns an id that this endpoint expects as text; numbers are accepted unless strict (ASSUMED-41). */
function idOf(call: Call, body: SandboxJsonObject, name: string): number {
  const value = own(body, name);
  const text = typeof value === 'number' && !call.settings.strictValueIds ? String(value) : value;
  if (typeof text !== 'string' || !WHOLE_NUMBER.test(text))
    throw new SandboxProblem(400, `${name} must be an id as text`);
  return Number(text);
}

/** Handles `POST`: sets one value; null or absence clears it. 200 UserAttributeValue; 400, 403, 404. */
export function upsertValue(call: Call): HandlerReply {
  const body = bodyOf(call);
  const userId = idOf(call, body, 'userId');
  const attributeId = idOf(call, body, 'userAttributeId');
  const user = requireUser(call, userId);
  const definition = requireAttribute(call, attributeId);
  requireAdmin(call.caller);
  const sent = own(body, 'value') ?? null;
  const value = sent === null ? undefined : fitValue(definition.type, sent);
  if (sent !== null && value === undefined)
    throw new SandboxProblem(400, `value does not fit the type ${definition.type}`);
  const changed = changePerson(call, user, { values: withValue(user.values, attributeId, value) });
  return { status: 200, body: toValueView(changed, definition) };
}

/** Handles `GET /{userId}`: JSON array of the stored values; 400 for a SCIM id, 403 for another user, 404. */
export function listValues(call: Call): HandlerReply {
  const id = pathNumber(call, 'userId');
  const user = call.read.users.get(id);
  if (!user) throw new SandboxProblem(404, 'User not found');
  if (id !== call.caller.user.id) requireAdmin(call.caller);
  const values = call.state.attributes
    .rows()
    .filter((definition) => user.values.has(definition.id))
    .map((definition) => toValueView(user, definition));
  return { status: 200, body: values };
}
