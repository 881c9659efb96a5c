// Reads what the platform's SCIM service supports: configuration, resource types and schemas (contract 2.1).
import { isRecord, textsIn, readScimList, type Reader } from './readers.ts';
import { identified } from './fields.ts';
import { callsOf, type CallOptions, type Send } from './request.ts';

interface Supported {
  supported: boolean;
}

/** Service provider configuration (RFC 7643 §5). */
export interface PlatformProviderConfig {
  patch: Supported;
  bulk: Supported & { maxOperations?: number; maxPayloadSize?: number };
  filter: Supported & { maxResults?: number };
  changePassword: Supported;
  sort: Supported;
  etag: Supported;
  authenticationSchemes: Record<string, unknown>[];
}

/** Resource type (RFC 7643 §6). */
export interface PlatformResourceType {
  id: string;
  name: string;
  endpoint: string;
  schema: string;
  schemaExtensions: { schema: string; required: boolean }[];
}

/** Schema (RFC 7643 §7); `id` is its URN. */
export interface PlatformSchema {
  id: string;
  name?: string;
  description?: string;
  attributes: Record<string, unknown>[];
}

const BASE = '/api/scim/v2';

const recordsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

const readConfig: Reader<PlatformProviderConfig> = (body, refuse) => {
  if (!isRecord(body)) throw refuse('no service provider configuration');
  const feature = (name: string): Supported => {
    const value = body[name];
    return isRecord(value) ? { ...value, supported: value['supported'] === true } : { supported: false };
  };
  return {
    patch: feature('patch'),
    bulk: feature('bulk'),
    filter: feature('filter'),
    changePassword: feature('changePassword'),
    sort: feature('sort'),
    etag: feature('etag'),
    authenticationSchemes: recordsIn(body['authenticationSchemes']),
  };
};

const readType: Reader<PlatformResourceType> = (body, refuse) => {
  const name = isRecord(body) ? body['name'] : undefined;
  // The id is optional in RFC 7643 §6, the name is not.
  const type = identified(
    isRecord(body) ? { ...body, id: body['id'] ?? name } : body,
    'resource type',
    refuse,
  );
  return {
    id: type.id,
    name: type.text('name'),
    endpoint: type.text('endpoint'),
    schema: type.text('schema'),
    schemaExtensions: recordsIn(type.all['schemaExtensions']).map(({ schema, required }) => ({
      schema: String(schema),
      required: required === true,
    })),
  };
};

const readSchema: Reader<PlatformSchema> = (body, refuse) => {
  const schema = identified(body, 'schema', refuse);
  return {
    id: schema.id,
    ...textsIn(schema.all, ['name', 'description']),
    attributes: recordsIn(schema.all['attributes']),
  };
};

export type PlatformDiscovery = ReturnType<typeof createScimDiscovery>;

/**
 * Reads the discovery endpoints over `send`; every function throws PlatformError (errors.ts). PlatformResponse 404 for an unknown
 * id or URN.
 */
export function createScimDiscovery(send: Send) {
  const call = callsOf(send, 'scim');
  // These lists have one page, which begins at index 1.
  const all = async <T>(path: string, read: Reader<T>, options?: CallOptions): Promise<T[]> =>
    (await call('GET', `${BASE}/${path}`, { read: readScimList(read, 1) }, options)).resources;
  const one = <T>(path: string, id: string, read: Reader<T>, options?: CallOptions): Promise<T> =>
    call('GET', `${BASE}/${path}/{id}`, { params: { id }, read }, options);
  return {
    serviceProviderConfig: (options?: CallOptions) =>
      call('GET', `${BASE}/ServiceProviderConfig`, { read: readConfig }, options),
    resourceTypes: (options?: CallOptions) => all('ResourceTypes', readType, options),
    resourceType: (id: string, options?: CallOptions) => one('ResourceTypes', id, readType, options),
    schemas: (options?: CallOptions) => all('Schemas', readSchema, options),
    schema: (urn: string, options?: CallOptions) => one('Schemas', urn, readSchema, options),
  };
}
