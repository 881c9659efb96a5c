// Generates the discovery documents (RFC 7644 §4) from the resource types.
import type { Attribute, Schema } from '../attributes.ts';
import type { ResourceType } from '../resource-type.ts';
import { serviceProviderSchemas } from './service-provider.ts';
import { RESOURCE_TYPE_URN, SCHEMA_URN, SERVICE_PROVIDER_CONFIG_URN } from '../urns.ts';

interface ServiceProviderOptions {
  /** Address of the SCIM root, without a trailing slash. */
  readonly baseUrl: string;
  /** Limits of a bulk request: operations, and bytes. */
  readonly bulk: { readonly maxOperations: number; readonly maxPayloadSize: number };
  /** Largest number of resources in one answer. */
  readonly maxResults: number;
  /** Page sizes of cursors (RFC 9865 §4). */
  readonly pagination: { readonly defaultPageSize: number; readonly maxPageSize: number };
  /** URIs of the supported security events (RFC 9967 §4); undefined: none. */
  readonly eventUris?: readonly string[] | undefined;
}

const BEARER = {
  type: 'oauthbearertoken',
  name: 'Bearer token',
  description: 'A token issued for this connection, in the Authorization header',
  specUri: 'https://www.rfc-editor.org/info/rfc6750',
  primary: true,
};

/** Returns the document of `/ServiceProviderConfig` (RFC 7643 §5). */
export function serviceProviderConfig(options: ServiceProviderOptions): Record<string, unknown> {
  return {
    schemas: [SERVICE_PROVIDER_CONFIG_URN],
    patch: { supported: true },
    bulk: { supported: true, ...options.bulk },
    filter: { supported: true, maxResults: options.maxResults },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    // `cursorTimeout` is left out, because cursors do not expire.
    pagination: { cursor: true, index: true, defaultPaginationMethod: 'index', ...options.pagination },
    // Asynchronous requests (RFC 9967 §2.5) are not supported.
    ...(options.eventUris && { securityEvents: { asyncRequest: 'none', eventUris: options.eventUris } }),
    authenticationSchemes: [BEARER],
    meta: {
      resourceType: 'ServiceProviderConfig',
      location: `${options.baseUrl}/ServiceProviderConfig`,
    },
  };
}

/** Returns the documents of `/ResourceTypes` (RFC 7643 §6). `baseUrl` has no trailing slash. */
export function resourceTypeDocuments(
  types: readonly ResourceType[],
  baseUrl: string,
): Record<string, unknown>[] {
  return types.map((type) => ({
    schemas: [RESOURCE_TYPE_URN],
    id: type.name,
    name: type.name,
    endpoint: type.endpoint,
    description: type.description,
    schema: type.schema.id,
    schemaExtensions: type.extensions.map(({ schema, required }) => ({ schema: schema.id, required })),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${type.name}` },
  }));
}

/** Leaves out attributes with `announced: false`: requests may use them, but no answer has them. */
const announced = (attributes: readonly Attribute[]): Attribute[] =>
  attributes
    .filter((each) => each.announced !== false)
    .map((each) => (each.subAttributes ? { ...each, subAttributes: announced(each.subAttributes) } : each));

/**
 * Returns the documents of `/Schemas` (RFC 7643 §7): each schema of the resource types once, then the schemas of the
 * discovery documents. `baseUrl` has no trailing slash.
 */
export function schemaDocuments(types: readonly ResourceType[], baseUrl: string): Record<string, unknown>[] {
  const schemas = new Map<string, Schema>();
  for (const type of types) {
    for (const schema of [type.schema, ...type.extensions.map((each) => each.schema)])
      schemas.set(schema.id, schema);
  }
  for (const schema of serviceProviderSchemas) schemas.set(schema.id, schema);
  return [...schemas.values()].map((schema) => ({
    schemas: [SCHEMA_URN],
    id: schema.id,
    name: schema.name,
    description: schema.description,
    attributes: announced(schema.attributes),
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  }));
}
