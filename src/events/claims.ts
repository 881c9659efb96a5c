// Builds the claims of a security event token (RFC 8417 §2, RFC 9967 §2): names of attributes without values.
import type { EventName, StoredEvent } from '../directory/logs/event-stream.ts';

/** Event URIs (RFC 9967 §2.4). Deletion, activation and deactivation have no `notice` form, because they have no attributes. */
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
  /** Id of the token: `<connection>.<id of the event in the stream>`. */
  jti: string;
  /** Has the form of a `jti` and names the first event of the change. All events of one change share it. */
  txn: string;
  /** The changed resource; `uri` is `/Users/<id>` or `/Groups/<id>`. */
  sub_id: { format: 'scim'; uri: string; externalId?: string };
  /** Payload by event URI. */
  events: Record<string, object>;
}

/** The parties of a token: the name of the connection, and the issuer and audience of its settings. */
interface Parties {
  connection: string;
  issuer: string;
  audience: string;
}

/**
 * Returns an id that is unique in the bridge: each connection has a stream, and ids of two streams may be equal. The first dot ends
 * the name, because names of connections have no dot.
 */
const tokenId = (connection: string, id: string): string => `${connection}.${id}`;

/** Returns the id in the stream from a `jti`; undefined for a token of another connection. */
export function eventIdOf(jti: string, connection: string): string | undefined {
  const start = `${connection}.`;
  return jti.startsWith(start) ? jti.slice(start.length) : undefined;
}

export function toClaims(event: StoredEvent, { connection, issuer, audience }: Parties): Claims {
  const { id, at, kind, resource: resourceId, what: types, names, version, externalId, transaction } = event;
  const payload = {
    attributes: names,
    // Equals the ETag in the answer to the request that made the change (RFC 7644 §3.14).
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
      uri: `/${kind}s/${resourceId}`,
      ...(externalId !== undefined && { externalId }),
    },
    events: Object.fromEntries(types.map((name) => [URIS[name], hasPayload(name) ? payload : {}])),
  };
}
