// Defines the parts that JSON Schemas of the admin API are built from.
import type { JsonSchema, Parameter } from './route.ts';

export const textField = { type: 'string' };
export const integerField = { type: 'integer' };
export const booleanField = { type: 'boolean' };
/** Schema of a value of this JSON type, or null. */
export const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] });
export const dateTime = { type: 'string', format: 'date-time' };
export const unixMs = { type: 'integer', description: 'Unix milliseconds' };

/**
 * Schema of an object in an answer. Properties in `required`, by default all, are always present. Later versions may add
 * properties.
 */
export const object = (properties: Record<string, JsonSchema>, required?: string[]): JsonSchema => ({
  type: 'object',
  properties,
  required: required ?? Object.keys(properties),
});

/** Names of fields that JSON may lack: optional ones, and those whose value may be undefined. */
type OptionalOf<T> = {
  [Name in keyof T]-?: undefined extends T[Name] ? Name : object extends Pick<T, Name> ? Name : never;
}[keyof T] &
  string;

/**
 * Schema of an answer of type T. A field of T that the schema lacks, or has beyond T, does not compile.
 * @param optional fields that may be absent
 */
export const objectOf =
  <T>() =>
  <Properties extends Record<keyof T & string, JsonSchema>>(
    properties: Properties & Record<Exclude<keyof Properties, keyof T>, never>,
    optional: readonly OptionalOf<T>[] = [],
  ): JsonSchema =>
    object(
      properties,
      Object.keys(properties).filter((name) => !optional.some((each) => each === name)),
    );

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
export const eachOf = <Name extends string>(
  names: readonly Name[],
  schema: JsonSchema,
): Record<Name, JsonSchema> =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, JsonSchema>;

/** Schema that accepts every value. */
export const anyField: JsonSchema = {};

/** Schema of the body of a request; unknown properties are refused. */
export const body = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  ...object(properties, required),
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
