// Validates queries and bodies of the admin API with ajv, by the JSON Schemas of the OpenAPI document.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { OWN_SCHEMA } from '../../support/own-schema.ts';
import { invalid } from './problem.ts';
import type { AdminRoute, JsonSchema } from './route.ts';

export interface Checks {
  /** Parses and validates the query of an address. @throws Problem 400 with every fault */
  query: (search: string) => Record<string, unknown>;
  /** Validates a body; returns undefined for a route without one. @throws Problem 400 with every fault */
  body: (value: unknown) => unknown;
}

/** Returns a function that creates the checks of a route. Schemas are compiled at their first use: compiling is slow. */
export function createChecks(): (route: AdminRoute) => Checks {
  // Formats are for the reader of the document; the handlers check them.
  const options = { ...OWN_SCHEMA, allErrors: true, allowUnionTypes: true, validateFormats: false };
  // Bodies and queries contain their whole schema: a $ref to a component of the document cannot be resolved here.
  const bodies = new Ajv2020(options);
  // The values of a query are texts, which ajv converts in place to the types of the schema. `array`: a list that has one value
  // comes as a single text, of which ajv makes a list.
  const queries = new Ajv2020({ ...options, coerceTypes: 'array' });

  return ({ query = {}, body }) => {
    let checkQuery: ValidateFunction | undefined;
    let checkBody: ValidateFunction | undefined;
    return {
      query: (search) => {
        checkQuery ??= queries.compile(querySchema(query));
        return validated(checkQuery, readQuery(search), '/query') as Record<string, unknown>;
      },
      body: (value) => {
        if (!body) return undefined;
        checkBody ??= bodies.compile(body);
        return validated(checkBody, value, '/body');
      },
    };
  };
}

const querySchema = (query: NonNullable<AdminRoute['query']>): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(Object.entries(query).map(([name, { schema }]) => [name, schema])),
  required: Object.entries(query).flatMap(([name, { required }]) => (required ? [name] : [])),
});

/** Returns the parameters by name; a repeated parameter becomes a list. */
function readQuery(search: string): Record<string, unknown> {
  const found = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const before = found.get(name);
    found.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(found);
}

/** Returns the value. @param place `/query` or `/body`, put before the path of a fault @throws Problem 400 with every fault */
function validated(check: ValidateFunction, value: unknown, place: string): unknown {
  if (!check(value)) throw invalid((check.errors ?? []).map((error) => toFault(error, place)));
  return value;
}

function toFault({ instancePath, keyword, params, message }: ErrorObject, place: string) {
  const path = place + instancePath;
  const extra = (params as { additionalProperty?: string }).additionalProperty;
  if (keyword === 'additionalProperties')
    return { path: `${path}/${extra ?? ''}`, message: 'there is no such field' };
  const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
  if (keyword === 'enum') return { path, message: `must be one of ${(allowed ?? []).join(', ')}` };
  return { path, message: message ?? keyword };
}
