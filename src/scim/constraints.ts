// Checks types and formats of a resource by a JSON Schema that ajv runs (RFC 7643 §2). Lengths: validate.ts.
import { Ajv, type ErrorObject } from 'ajv';
import { OWN_SCHEMA } from '../support/own-schema.ts';
import type { Attribute, Field, Section } from './attributes.ts';
import { invalidValue, type ScimError } from './errors.ts';
import { CONTROL, NAMES } from './names.ts';

type JsonSchema = Record<string, unknown>;

/** A value of an attribute that an open extension does not declare, or one element of it (`open` in attributes.ts). */
const SCALAR = { type: ['string', 'number', 'boolean'] };
/** A date and time (RFC 7643 §2.3.5); the time zone may be missing. */
const DATE_TIME =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)?$';
/** A character that no URI has, or a `%` without two hex digits; non-ASCII letters are accepted unencoded. */
const NOT_IN_URI = /[\s\p{Cc}<>"{}|\\^`]|%(?![0-9A-Fa-f]{2})/u;

/** base64 or base64url, padded or not (RFC 7643 §2.3.6). */
function isBase64(text: string): boolean {
  if (!/^[\w+/-]*={0,2}$/.test(text)) return false;
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}

/**
 * Formats that ajv checks. No regular expression repeats a group here: on a text of some megabytes its stack would overflow, and
 * texts are checked before their lengths.
 */
const FORMATS = {
  /** An absolute or relative URI (RFC 7643 §2.3.7). */
  uri: (text: string): boolean => !NOT_IN_URI.test(text),
  base64: isBase64,
};

/** Returns the JSON Schema of one value of an attribute. */
function valueSchema(definition: Attribute): JsonSchema {
  switch (definition.type) {
    case 'reference':
      return {
        type: 'string',
        format: 'uri' satisfies keyof typeof FORMATS,
        ...(definition.required && { minLength: 1 }),
      };
    case 'binary':
      return {
        type: 'string',
        format: 'base64' satisfies keyof typeof FORMATS,
        ...(definition.required && { minLength: 1 }),
      };
    case 'string':
      return definition.required ? { type: 'string', pattern: '\\S' } : { type: 'string' };
    case 'dateTime':
      return { type: 'string', pattern: DATE_TIME };
    case 'boolean':
      return { type: 'boolean' };
    case 'decimal':
      return { type: 'number' };
    case 'integer':
      return { type: 'integer' };
    case 'complex':
      return objectSchema(definition.subAttributes ?? []);
  }
}

function attributeSchema(definition: Attribute): JsonSchema {
  return definition.multiValued ? { type: 'array', items: valueSchema(definition) } : valueSchema(definition);
}

/** Returns the JSON Schema of an object that has no other keys than the attributes. */
function objectSchema(attributes: readonly Attribute[]): JsonSchema {
  const properties = Object.fromEntries(attributes.map((each) => [each.name, attributeSchema(each)]));
  const required = attributes.filter((each) => each.required).map((each) => each.name);
  return { type: 'object', properties, required, additionalProperties: false };
}

function extensionSchema(section: Section): JsonSchema {
  const schema = objectSchema(section.schema.attributes);
  if (!section.schema.open) return schema;
  return { ...schema, additionalProperties: { anyOf: [SCALAR, { type: 'array', items: SCALAR }] } };
}

/** Refuses control characters in names, because names appear on terminals of operators. */
function withoutControls(properties: JsonSchema): JsonSchema {
  const names = Object.entries(properties).filter(([name]) => NAMES.has(name));
  const strict = names.map(([name, schema]) => [
    name,
    { ...(schema as JsonSchema), not: { pattern: CONTROL } },
  ]);
  return { ...properties, ...(Object.fromEntries(strict) as JsonSchema) };
}

/**
 * Returns the JSON Schema of a resource type.
 * @param core section of the core schema
 * @param extensions sections of the extensions
 */
export function toJsonSchema(core: Section, extensions: readonly Section[]): JsonSchema {
  const schema = objectSchema(core.fields.list.map((field) => field.attribute));
  const urns = Object.fromEntries(extensions.map((section) => [section.urn, extensionSchema(section)]));
  // Any value passes for read-only attributes, which the server sets, and for members, which are validated separately.
  const unchecked = core.fields.list.filter(
    ({ attribute }) => attribute.mutability === 'readOnly' || attribute.name === 'members',
  );
  const anyValue = Object.fromEntries(unchecked.map((field) => [field.name, {}]));
  const properties = { ...withoutControls(schema.properties as JsonSchema), ...anyValue, ...urns };
  const required = [
    ...(schema.required as string[]),
    ...extensions.filter(({ required }) => required).map(({ urn }) => urn),
  ];
  return { ...schema, properties, required };
}

/** Converts a JSON pointer of ajv to a SCIM path: `/emails/0/value` to `emails.value`. */
function attributePath(pointer: string, core: Section, extensions: readonly Section[]): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const section = extensions.find((each) => each.urn === steps[0]);
  const names = steps.filter((step) => !/^\d+$/.test(step));
  if (section) return [section.urn, names.slice(1).join('.')].filter(Boolean).join(':');
  return names.join('.') || core.urn;
}

function toScimError(error: ErrorObject, core: Section, extensions: readonly Section[]): ScimError {
  const params = error.params as { missingProperty?: string; type?: unknown };
  const path = attributePath(error.instancePath, core, extensions);
  if (params.missingProperty !== undefined) {
    const isExtension = extensions.some(({ urn }) => urn === path);
    const parent = path === core.urn ? '' : `${path}${isExtension ? ':' : '.'}`;
    return invalidValue(`Attribute "${parent}${params.missingProperty}" is required.`);
  }
  if (error.keyword === 'not')
    return invalidValue(`Attribute "${path}" holds a control character, such as a line break or a tab.`);
  if (error.keyword === 'pattern' || error.keyword === 'format')
    return invalidValue(`Attribute "${path}" is empty or not well formed.`);
  return invalidValue(`Attribute "${path}" ${error.message ?? 'is not valid'}.`);
}

/** Validates resources of one type in canonical form: attributes are named as in the schema. */
export interface Validator {
  /** Returns the error for the first violation; it names the attribute. Undefined for a valid resource. */
  fault(resource: object): ScimError | undefined;
  /** Returns an error for each violation. */
  faults(resource: object): ScimError[];
}

/**
 * Creates the validator of a resource type. The two ajv functions are compiled at their first use, because compiling is
 * slow and many resource types are used for name lookups only.
 */
export function compileValidator(core: Section, extensions: readonly Section[]): Validator {
  const compile = (allErrors: boolean) =>
    // Without `ownProperties` ajv would find a configured attribute such as `toString` in every object, by inheritance.
    new Ajv({
      ...OWN_SCHEMA,
      strict: true,
      strictTypes: false,
      ownProperties: true,
      formats: FORMATS,
      allErrors,
    }).compile(toJsonSchema(core, extensions));
  let stopsAtFirst: ReturnType<typeof compile> | undefined;
  let findsAll: ReturnType<typeof compile> | undefined;
  const faultsIn = (validate: ReturnType<typeof compile>, resource: object): ScimError[] =>
    validate(resource) ? [] : (validate.errors ?? []).map((error) => toScimError(error, core, extensions));
  return {
    fault: (resource) => faultsIn((stopsAtFirst ??= compile(false)), resource)[0],
    faults: (resource) => faultsIn((findsAll ??= compile(true)), resource),
  };
}

/** Creates the 400 invalidValue for a value of the wrong type. `expected` completes the sentence "… must be". */
export function notA(field: Field, expected: string): ScimError {
  return invalidValue(`Attribute "${field.path}" must be ${expected}.`);
}
