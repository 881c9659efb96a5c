// Defines what the OpenAPI document is built from: short functions for JSON Schemas, and the description of an operation.

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
/** Returns properties with these names that are text or null. */
export const nullableTexts = (...names: string[]): SpecSchema =>
  Object.fromEntries(names.map((name) => [name, orNull(textSchema)]));

/** Returns an object schema; `required` are names of `properties`, other properties are allowed (ASSUMED-109). */
export const record = (required: readonly string[], properties: SpecSchema): SpecSchema => ({
  type: 'object',
  required,
  properties,
});

export interface OperationText {
  readonly id: string;
  readonly summary: string;
  /** Names of query parameters in PARAMETERS of document.ts. */
  readonly query?: readonly string[];
  /** Name of the schema of the request body. */
  readonly body?: string;
  /** Name of the schema of the answer; any JSON when absent. */
  readonly answer?: string;
  /** Status of a success; default 200. */
  readonly status?: number;
  /** The operation returns 409 for a value that is in use. */
  readonly mayConflict?: true;
  /** Media type of a success that is not JSON. */
  readonly media?: string;
}

/** `<method> <path>` and the description of the operation. */
export type OperationLine = readonly [
  operation: string,
  id: string,
  summary: string,
  more?: Omit<OperationText, 'id' | 'summary'>,
];

export const CURSOR = ['first', 'after'];
/** Query parameters of both list styles of the Platform API. */
export const OFFSET_AND_CURSOR = ['offset', 'limit', ...CURSOR];
