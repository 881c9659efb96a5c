// Short words for writing JSON Schemas.

export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const integer: Schema = { type: 'integer' };
export const flag: Schema = { type: 'boolean' };
export const moment: Schema = { type: 'string', format: 'date-time' };
export const anything: Schema = {};
export const anyObject: Schema = { type: 'object', additionalProperties: true };

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const oneOfWords = (...words: string[]): Schema => ({ type: 'string', enum: words });
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
/** Texts that may be null, by name. */
export const nullableTexts = (...names: string[]): Schema =>
  Object.fromEntries(names.map((name) => [name, orNull(text)]));

/** An object; `required` are names of `properties`, further members are allowed (ASSUMED-109). */
export const record = (required: readonly string[], properties: Schema): Schema => ({
  type: 'object',
  required,
  properties,
});
