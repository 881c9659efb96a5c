// Reads the schemas of a service provider and generates values from them, as schema-driven test suites do.
import { randomUUID } from 'node:crypto';
import type { Client, Json } from './client.ts';

export interface Described {
  name: string;
  endpoint: string;
  schema: string;
  extensions: { schema: string; required: boolean }[];
  /** Attributes of /Schemas by URN. */
  attributes: Map<string, Json[]>;
}

/** Returns the resource types with their schemas, from discovery only. */
export async function discover(scim: Client): Promise<Described[]> {
  const schemas = (await scim.get('/Schemas')).body.Resources as Json[];
  const attributes = new Map(schemas.map((each) => [String(each.id), each.attributes as Json[]]));
  const types = (await scim.get('/ResourceTypes')).body.Resources as Json[];
  return types.map(({ name, endpoint, schema, schemaExtensions }) => ({
    name,
    endpoint,
    schema,
    extensions: schemaExtensions,
    attributes,
  }));
}

export const isWritable = ({ mutability }: Json): boolean => mutability !== 'readOnly';

/** Returns another value of an attribute: new text, a canonical value, or a new user for a reference. */
export async function valueOf(scim: Client, attribute: Json, parent = ''): Promise<Json> {
  if (!attribute.multiValued) return single(scim, attribute, parent);
  const value = await single(scim, attribute, parent);
  return [
    attribute.subAttributes?.some(({ name }: Json) => name === 'primary')
      ? { ...value, primary: true }
      : value,
  ];
}

async function single(scim: Client, attribute: Json, parent: string): Promise<Json> {
  const { name, type, canonicalValues, referenceTypes } = attribute;
  switch (type) {
    case 'boolean':
      return true;
    case 'integer':
      return 4711;
    case 'decimal':
      return 47.11;
    case 'dateTime':
      return '2026-06-15T10:30:00Z';
    case 'binary':
      return Buffer.from(randomUUID()).toString('base64');
    case 'reference':
      if (!referenceTypes.includes('User')) return `https://${randomUUID()}.test`;
      return (await scim.user(`${randomUUID()}@x.example`)).meta.location;
    case 'complex':
      return complex(scim, attribute);
    default:
      if (canonicalValues) return canonicalValues[0];
      return name === 'value' && parent === 'emails' ? `${randomUUID()}@x.example` : randomUUID();
  }
}

async function complex(scim: Client, { name, subAttributes }: Json): Promise<Json> {
  const value: Json = {};
  for (const part of subAttributes as Json[])
    if (isWritable(part)) value[part.name] = await single(scim, part, name);
  // A reference and its value refer to the same resource.
  if (value.$ref) value.value = value.$ref.slice(value.$ref.lastIndexOf('/') + 1);
  return value;
}

/** Returns a body with all writable attributes, or with the required ones only. */
export async function fill(scim: Client, type: Described, which: 'all' | 'required'): Promise<Json> {
  const body: Json = { schemas: [type.schema] };
  const put = async (target: Json, attributes: Json[]): Promise<void> => {
    for (const attribute of attributes) {
      if (isWritable(attribute) && (which === 'all' || attribute.required))
        target[attribute.name] = await valueOf(scim, attribute);
    }
  };
  await put(body, type.attributes.get(type.schema) ?? []);
  for (const { schema, required } of type.extensions) {
    const attributes = type.attributes.get(schema) ?? [];
    if (attributes.length === 0 || (which === 'required' && !required)) continue;
    body.schemas.push(schema);
    body[schema] = {};
    await put(body[schema], attributes);
  }
  return body;
}
