// Validates answers of the admin API and the JSON of commands by the OpenAPI document. Fields that it does not
// describe are faults.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { OWN_SCHEMA } from '../../src/support/own-schema.ts';
import { adminRoutes } from '../../src/http/admin/admin.ts';
import { openApiDocument } from '../../src/http/admin/openapi.ts';
import type { AdminContext, JsonSchema } from '../../src/http/admin/route.ts';

/** Throws an Error that names the place of the fault. */
type CheckBySchema = (name: string, schema: object, value: unknown) => void;

/** Returns the schema with `additionalProperties: false` at every object whose properties it lists. */
function closed(schema: any): any {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const lists = typeof schema.properties === 'object' && schema.type !== undefined;
  return lists && !('additionalProperties' in schema) ? { ...parts, additionalProperties: false } : parts;
}

/** Returns a check by schema. @param document OpenAPI document with the named schemas that the checked schemas refer to */
export function createSchemaCheck(document: any): CheckBySchema {
  const ajv = new Ajv2020({ ...OWN_SCHEMA, strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'admin', components: closed(document.components) });
  const compiled = new Map<string, ValidateFunction>();
  return (name, schema, value) => {
    const validate =
      compiled.get(name) ??
      ajv.compile(JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/', '"admin#/')) as object);
    compiled.set(name, validate);
    if (validate(value)) return;
    const faults = validate.errors?.map(({ instancePath, message, params }) =>
      [instancePath, message, params.additionalProperty].filter(Boolean).join(' '),
    );
    throw new Error(`${name} is not as described: ${faults?.join('; ')} in ${JSON.stringify(value)}`);
  };
}

/** Commands with subcommands, such as `approvals list`. */
const GROUPS = new Set(['approvals', 'dead-letters', 'events', 'links', 'notices', 'token']);
const commandOf = ([first = '', second = '']: readonly string[]): string =>
  GROUPS.has(first) ? `${first} ${second}` : first;

// Routes read their context only when they are called.
const routes = adminRoutes({} as AdminContext);
const check = createSchemaCheck(openApiDocument(routes));
/**
 * Schemas of answers that equal the JSON of a command. Operations (202) are left out, because their answer has no
 * result yet.
 */
const schemas = new Map(
  routes.flatMap(({ command, answers: { status, schema } }): [string, JsonSchema][] =>
    command?.endsWith('--json') && schema && status !== 202 ? [[commandOf(command.split(' ')), schema]] : [],
  ),
);

/** Validates the JSON that a command printed. @throws Error when it does not fit the schema of the admin API */
export function checkCommandJson(words: readonly string[], printed: readonly unknown[]): void {
  const name = commandOf(words);
  const schema = schemas.get(name);
  if (!schema || !words.includes('--json')) return;
  for (const value of printed) {
    // A log is printed as one record a line.
    const isLine = schema.type === 'array' && !Array.isArray(value);
    const isFailure = typeof value === 'object' && value !== null && 'error' in value;
    if (!isFailure)
      check(isLine ? `one of ${name}` : name, (isLine ? schema.items : schema) as object, value);
  }
}
