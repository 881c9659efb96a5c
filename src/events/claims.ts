// Builds the claims of a security event token (RFC 8417 §2, RFC 9967 §2): names of attributes without values.
import type { EventName, StoredEvent } from '../directory/logs/event-stream.ts';

/** Event URIs (RFC 9967 §2.4). Deletion and activation have no `notice` form, because they have no attributes. */
const URIS: Record<EventName, string> = {
  create: 'urn:ietf:params:scim:event:prov:create:notice',
  put: 'urn:ietf:params:scim:event:prov:put:notice',
  patch: 'urn:ietf:params:scim:event:prov:patch:notice',
  delete: 'urn:ietf:params:scim:event:prov:delete',
  activate: 'urn:ietf:params:scim:event:prov:activate',
  deactivate: 'urn:ietf:params:scim:event:prov:deactivate',
};

/** Supported event URIs for ServiceProviderConfig (RFC 9967 §4). */
export const EVENT_URIS: readonly string[] = Object.values(URIS);

export interface Claims {
  iss: string;
  aud: string;
  /** Time of the change in Unix seconds. A repeated delivery has the same time. */
  iat: number;
  /** Id of the token. */
  jti: string;
  /** Id of the request that caused the change; its events share it. */
  txn: string;
  sub_id: { format: 'scim'; uri: string; externalId?: string };
  events: Record<string, object>;
}

/** The parties of a token: the connection, and the issuer and audience of its settings. */
export interface Parties {
  connection: string;
  issuer: string;
  audience: string;
}

/** Returns an id that is unique in the bridge: ids in the streams of different connections may be equal. */
const tokenId = (connection: string, id: string): string => `${connection}.${id}`;

/** Returns the id in the stream from a `jti`; undefined for a token of another connection. */
export function eventIdOf(jti: string, connection: string): string | undefined {
  const start = `${connection}.`;
  return jti.startsWith(start) ? jti.slice(start.length) : undefined;
}

/** Returns the claims of the token for a stored event. */
export function toClaims(event: StoredEvent, { connection, issuer, audience }: Parties): Claims {
  const { id, at, kind, resource, what: types, names, version, externalId, transaction } = event;
  const payload = {
    attributes: names,
    // Equals the ETag of the answer to the push (RFC 7644 §3.14).
    ...(version !== undefined && { version: `W/"${version}"` }),
  };
  const hasPayload = (name: EventName): boolean => URIS[name].endsWith(':notice');
  return {
    iss: issuer,
    aud: audience,
    iat: Math.floor(at / 1000),
    jti: tokenId(connection, id),
    txn: tokenId(connection, transaction),
    sub_id: {
      format: 'scim',
      uri: `/${kind}s/${resource}`,
      ...(externalId !== undefined && { externalId }),
    },
    events: Object.fromEntries(types.map((name) => [URIS[name], hasPayload(name) ? payload : {}])),
  };
}
