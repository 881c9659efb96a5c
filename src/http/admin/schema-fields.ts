// Defines the parts that JSON Schemas of the admin API are built from.
import type { JsonSchema, Parameter } from './route.ts';

export const textField = { type: 'string' };
export const integerField = { type: 'integer' };
export const booleanField = { type: 'boolean' };
/** Schema of a value of this JSON type, or null. */
export const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] });
/** Schema of the kind of a resource. */
export const kindField = { enum: ['User', 'Group'] };
export const dateTime = { type: 'string', format: 'date-time' };
export const unixMs = { type: 'integer', description: 'Unix milliseconds' };

/** Marks an omittable schema. The property is a symbol, because JSON, and so the OpenAPI document, leaves symbols out. */
const IS_OMITTABLE = Symbol('omittable');
/** Schema of a field that may be absent from an object in an answer. */
export interface OmittableSchema extends JsonSchema {
  readonly [IS_OMITTABLE]: true;
}

/** Marks the schema of a field as omittable. */
export const omittable = (schema: JsonSchema): OmittableSchema => ({
  ...schema,
  [IS_OMITTABLE]: true,
});

/** Schema of an object in an answer. Later versions may add properties. */
export const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.entries(properties).flatMap(([name, schema]) => (IS_OMITTABLE in schema ? [] : [name])),
});

/** Names of the fields of T that are omittable in JSON: those with `?`, and those whose value may be undefined. */
type OmittableNames<T> = {
  [Name in keyof T]-?: undefined extends T[Name]
    ? Name
    : HasNoRequired<Pick<T, Name>> extends true
      ? Name
      : never;
}[keyof T] &
  string;

/** Whether an object without fields is a T, as when all fields of T have `?`. */
type HasNoRequired<T> = Record<never, never> extends T ? true : false;

/** Schemas of the fields of T; only those of omittable fields may be `omittable`. */
type FieldsOf<T> = {
  [Name in keyof T & string]-?: Name extends OmittableNames<T>
    ? JsonSchema
    : JsonSchema & { readonly [IS_OMITTABLE]?: never };
};

/**
 * Schema of an answer of type T. A schema that lacks a field of T, or has a field that T lacks, does not compile:
 * `objectOf<{ id: string; note?: string }>()({ id: textField, note: omittable(textField) })`.
 * T is given in a call of its own, because TypeScript infers either all type arguments of a call (here `Fields`) or none.
 */
export const objectOf =
  <T>() =>
  <Fields extends FieldsOf<T>>(fields: Fields & Record<Exclude<keyof Fields, keyof T>, never>): JsonSchema =>
    object(fields);

/** Schema of null or of what `schema` describes. */
export const nullOr = (schema: JsonSchema, description?: string): JsonSchema => ({
  oneOf: [{ type: 'null' }, schema],
  ...(description !== undefined && { description }),
});

/** Schema of an object whose property names are data, such as ids. */
export const recordOf = (values: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: values,
});

/** Returns the same schema for each of the names. */
export const eachOf = <Name extends string, Schema extends JsonSchema>(
  names: readonly Name[],
  schema: Schema,
): Record<Name, Schema> => Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;

/** Schema that accepts every value. */
export const anyField: JsonSchema = {};

/** Schema of the body of a request; unknown properties are refused. */
export const body = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

export const onlyConnection = { ...textField, description: 'Only this connection.' };
export const onlyTarget = { ...textField, description: 'Only this target.' };

/** Schema of a field that takes a name or an id. */
export const nameField = (description: string) => ({
  ...textField,
  minLength: 1,
  maxLength: 1000,
  description,
});

/** Schema of the largest number of listed things. */
export const limitField = (maximum: number, description: string, byDefault = maximum) => ({
  ...integerField,
  minimum: 1,
  maximum,
  default: byDefault,
  description,
});

export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

/** Returns query parameters with these schemas and their descriptions. */
export const toQuery = (
  fields: Record<string, JsonSchema & { description: string }>,
  required: readonly string[] = [],
): Record<string, Parameter> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [
      name,
      { description: schema.description, schema, ...(required.includes(name) && { required: true }) },
    ]),
  );
