// Validates the settings by their schema: fills in defaults and describes each fault in a sentence.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { variableFor } from './environment.ts';
import type { ConfigFault } from './faults.ts';
import { setAt, toKeys, toPath } from './places.ts';
import { settingsSchema } from './schema.ts';
import { OWN_SCHEMA } from '../support/own-schema.ts';
import { NAME_PATTERN, type SchemaNode } from './schema/node.ts';

/**
 * Fills the defaults into the document, in place, and returns the faults.
 * @param wholeReferences paths of texts that were one `${NAME}` only. Such a text is converted to the type of its setting, so that
 * `port: ${PORT}` is a number
 */
export function validateSchema(
  document: Record<string, unknown>,
  wholeReferences: ReadonlySet<string>,
): ConfigFault[] {
  const validate = validator();
  if (validate(document)) return [];
  const errors = validate.errors ?? [];
  const converted = errors.filter((error) => convertReplaced(document, error, wholeReferences));
  if (converted.length > 0 && validate(document)) return [];
  return (validate.errors ?? []).map((error) => toFault(document, error));
}

let compiled: ValidateFunction | undefined;

/** Returns the compiled schema, the same for all documents. Settings are seldom validated, so ajv need not optimise its code. */
function validator(): ValidateFunction {
  if (compiled) return compiled;
  const options = { ...OWN_SCHEMA, allErrors: true, useDefaults: true, verbose: true, allowUnionTypes: true };
  // ajv in strict mode refuses a default of the whole document.
  const { default: _, ...schema } = settingsSchema;
  compiled = new Ajv({ ...options, code: { optimize: false } }).compile(schema);
  return compiled;
}

/** Converts a text that was one `${NAME}` to number or boolean if its type is the fault. @returns whether it was converted */
function convertReplaced(
  document: unknown,
  error: ErrorObject,
  wholeReferences: ReadonlySet<string>,
): boolean {
  const keys = toKeys(error.instancePath);
  if (error.keyword !== 'type' || !wholeReferences.has(toPath(keys)) || typeof error.data !== 'string')
    return false;
  const types = typesOf(error.schema);
  if (types.includes('boolean') && /^(true|false)$/.test(error.data)) {
    return setAt(document, keys, error.data === 'true');
  }
  if (!types.some((type) => type === 'integer' || type === 'number')) return false;
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(error.data) && setAt(document, keys, Number(error.data));
}

function toFault(document: unknown, error: ErrorObject): ConfigFault {
  // With the option `verbose` ajv gives the schema node at fault, and all nodes are SchemaNodes.
  const parent = (error.parentSchema ?? {}) as SchemaNode;
  const params: Record<string, unknown> = error.params;
  const keys = toKeys(error.instancePath);
  if (error.keyword === 'required') {
    const key = String(params.missingProperty);
    return missing(document, toPath([...keys, key]), parent.properties?.[key]);
  }
  if (error.keyword === 'additionalProperties') {
    const path = toPath([...keys, String(params.additionalProperty)]);
    return { path, message: unknownKey(parent) };
  }
  const meaning = parent.description ? ` ${parent.description}` : '';
  return { path: toPath(keys), message: `${problem(error.keyword, error.schema, parent)}${meaning}` };
}

function missing(document: unknown, path: string, node: SchemaNode | undefined): ConfigFault {
  const variable = variableFor(document, path);
  const advice = variable ? `Set the variable ${variable}, or write it into the settings file.` : 'Add it.';
  return { path, message: `This is missing. ${advice} ${node?.description ?? ''}`.trim() };
}

function unknownKey(parent: SchemaNode): string {
  if (parent.properties) {
    return `This key is not known. Remove it or use one of: ${Object.keys(parent.properties).join(', ')}.`;
  }
  return Object.hasOwn(parent.patternProperties ?? {}, NAME_PATTERN)
    ? 'This name cannot be used. Take 1 to 32 lower-case letters, digits and inner hyphens.'
    : 'This name cannot be used. Take letters, digits and underscores, not starting with a digit.';
}

function problem(keyword: string, limit: unknown, parent: SchemaNode): string {
  switch (keyword) {
    case 'type':
      return `Must be ${typesOf(limit).map(typeName).join(' or ')}.`;
    case 'enum':
      return `Must be one of: ${(parent.enum ?? []).map(String).join(', ')}.`;
    case 'minimum':
      return `Must be at least ${String(limit)}.`;
    case 'maximum':
      return `Must be at most ${String(limit)}.`;
    case 'exclusiveMinimum':
      return `Must be more than ${String(limit)}.`;
    case 'minLength':
      return 'Must not be empty.';
    case 'maxLength':
      return `Must have at most ${String(limit)} characters.`;
    case 'minProperties':
    case 'minItems':
      return 'Must hold at least one entry.';
    case 'pattern':
      return limit === NAME_PATTERN
        ? 'Take 1 to 32 lower-case letters, digits and inner hyphens.'
        : 'Does not have the right form.';
    default:
      return 'Is not valid.';
  }
}

function typesOf(type: unknown): string[] {
  return Array.isArray(type) ? type.map(String) : [String(type)];
}

function typeName(type: string): string {
  const names = new Map([
    ['integer', 'a whole number'],
    ['number', 'a number'],
    ['boolean', 'true or false'],
    ['string', 'text (in quotes if it looks like a number)'],
    ['array', 'a list'],
    ['object', 'a mapping (key: value)'],
  ]);
  return names.get(type) ?? type;
}
