// Defines the parts that JSON Schemas of the admin API are built from.
import type { JsonSchema } from './route.ts';

export const textField = { type: 'string' };
export const integerField = { type: 'integer' };
export const booleanField = { type: 'boolean' };
export const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] });
export const dateTime = { type: 'string', format: 'date-time' };
export const unixMs = { type: 'integer', description: 'Unix milliseconds' };

/** Schema of an answer: `required` properties are always present, and later versions may add properties. */
export const object = (properties: Record<string, JsonSchema>, required?: string[]): JsonSchema => ({
  type: 'object',
  properties,
  required: required ?? Object.keys(properties),
});
/** Schema of a body; unknown properties are refused. */
export const body = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  ...object(properties, required),
  additionalProperties: false,
});
export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
