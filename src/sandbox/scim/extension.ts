// Converts the user-attribute extension between its wire forms and stored values (contract 2.4).
import { isJsonObject, own, requireObject, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem, type ProblemScimType } from '../problem.ts';
import type { AttributeDefinition, StoredAttributeValue, UserRecord } from '../records.ts';
import type { State } from '../state.ts';
import { numberFromText, withValue } from '../users/attribute-types.ts';
import { EXTENSION_URN } from './urns.ts';

/** Returns `<name>` of a property name or PATCH path `<extension URN>:<name>`; undefined for other text. */
export function attributeReferenceIn(path: string): string | undefined {
  const prefix = `${EXTENSION_URN}:`;
  return path.toLowerCase().startsWith(prefix.toLowerCase()) ? path.slice(prefix.length) : undefined;
}

/**
 * Returns the attribute names and values of a resource, or of the value of a PATCH operation without path. Attributes
 * may be inside the extension object, or have names that begin with its URN (ASSUMED-22).
 */
export function extensionEntries(body: SandboxJsonObject): [reference: string, value: unknown][] {
  const nested = own(body, EXTENSION_URN);
  const inside = nested === undefined || nested === null ? {} : requireObject(nested, EXTENSION_URN);
  const flat = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const reference = attributeReferenceIn(name);
    return reference === undefined ? [] : [[reference, value]];
  });
  return [...Object.entries(inside), ...flat];
}

/**
 * Returns the definition of an attribute name (ASSUMED-21).
 * @throws 400 with the given `scimType` for an unknown name (ASSUMED-24)
 */
export function requireReference(
  state: State,
  reference: string,
  scimType: ProblemScimType,
): AttributeDefinition {
  const [definition] = state.attributes.find('name', reference);
  if (!definition) throw new SandboxProblem(400, `Unknown user attribute: ${reference}`, scimType);
  return definition;
}

/**
 * Returns the value to store, or undefined for null, which clears the value. Accepts single texts and numbers; for a
 * number, text such as "42" is converted. @throws 400 `invalidValue` for other values (ASSUMED-23)
 */
function extensionValue(definition: AttributeDefinition, value: unknown): StoredAttributeValue | undefined {
  if (value === null) return undefined;
  if (definition.type === 'string' && typeof value === 'string') return value;
  if (definition.type === 'number') {
    const number = typeof value === 'string' ? numberFromText(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  throw new SandboxProblem(400, `User attribute ${definition.name} cannot take this value`, 'invalidValue');
}

/** Returns a copy of `values` with the entries set or cleared. @throws 400 `unknownType` (unknown name), `invalidValue` */
export function withExtension(
  state: State,
  values: UserRecord['values'],
  entries: readonly [reference: string, value: unknown][],
  unknownType: ProblemScimType,
): UserRecord['values'] {
  return entries.reduce((before, [reference, sent]) => {
    const definition = requireReference(state, reference, unknownType);
    return withValue(before, definition.id, extensionValue(definition, sent));
  }, values);
}

/** Returns the extension object of a user: text and number values only. Undefined when there are none. */
export function toExtension(state: State, user: UserRecord): SandboxJsonObject | undefined {
  const entries = [...user.values].flatMap(([id, value]): [string, unknown][] => {
    const name = state.attributes.get(id)?.name;
    return name === undefined || typeof value === 'boolean' || isJsonObject(value) || Array.isArray(value)
      ? []
      : [[name, value]];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
