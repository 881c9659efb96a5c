// Defines short functions for the JSON Schemas of the OpenAPI document.

export type SpecSchema = Readonly<Record<string, unknown>>;

export const textSchema: SpecSchema = { type: 'string' };
export const integer: SpecSchema = { type: 'integer' };
export const flagSchema: SpecSchema = { type: 'boolean' };
export const momentSchema: SpecSchema = { type: 'string', format: 'date-time' };
export const anything: SpecSchema = {};
export const anyObject: SpecSchema = { type: 'object', additionalProperties: true };

export const ref = (name: string): SpecSchema => ({ $ref: `#/components/schemas/${name}` });
export const listSchema = (items: SpecSchema): SpecSchema => ({ type: 'array', items });
export const oneOfWords = (...words: string[]): SpecSchema => ({ type: 'string', enum: words });
export const orNull = (schema: SpecSchema): SpecSchema => ({ anyOf: [schema, { type: 'null' }] });
/** Returns properties with these names and the same schema. */
export const each = (schema: SpecSchema, ...names: string[]): SpecSchema =>
  Object.fromEntries(names.map((name) => [name, schema]));
/** Returns properties with these names that are text or null. */
export const nullableTexts = (...names: string[]): SpecSchema => each(orNull(textSchema), ...names);

/** Returns an object schema; `required` are names of `properties`, other properties are allowed (ASSUMED-109). */
export const record = (required: readonly string[], properties: SpecSchema): SpecSchema => ({
  type: 'object',
  required,
  properties,
});
