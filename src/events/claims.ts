// A change as a security event token says it (RFC 8417 §2, RFC 9967 §2): names of attributes, no values.
import type { EventName, StoredEvent } from '../directory/logs/event-stream.ts';

/** RFC 9967 §2.4. Deletion and activation have nothing beside themselves, so they have no form of notice. */
const URIS: Record<EventName, string> = {
  create: 'urn:ietf:params:scim:event:prov:create:notice',
  put: 'urn:ietf:params:scim:event:prov:put:notice',
  patch: 'urn:ietf:params:scim:event:prov:patch:notice',
  delete: 'urn:ietf:params:scim:event:prov:delete',
  activate: 'urn:ietf:params:scim:event:prov:activate',
  deactivate: 'urn:ietf:params:scim:event:prov:deactivate',
};

/** The entry of ServiceProviderConfig (RFC 9967 §4). */
export const EVENT_URIS: readonly string[] = Object.values(URIS);

export interface Claims {
  iss: string;
  aud: string;
  /** Unix seconds at which the change was stored: the same whenever the token is signed. */
  iat: number;
  jti: string;
  txn: string;
  sub_id: { format: 'scim'; uri: string; externalId?: string };
  events: Record<string, object>;
}

export interface Parties {
  connection: string;
  issuer: string;
  audience: string;
}

/** Streams of connections have ids alike, and an issuer may have several connections. */
const tokenId = (connection: string, id: string): string => `${connection}.${id}`;

/** @returns the id within the stream, or undefined for a token that is not of this connection */
export function eventIdOf(jti: string, connection: string): string | undefined {
  const start = `${connection}.`;
  return jti.startsWith(start) ? jti.slice(start.length) : undefined;
}

export function toClaims(event: StoredEvent, { connection, issuer, audience }: Parties): Claims {
  const { id, at, kind, resource, what, names, version, externalId, transaction } = event;
  const payload = {
    attributes: names,
    // As the ETag that the answer to the push had (RFC 7644 §3.14).
    ...(version === undefined ? {} : { version: `W/"${version}"` }),
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
      ...(externalId === undefined ? {} : { externalId }),
    },
    events: Object.fromEntries(what.map((name) => [URIS[name], hasPayload(name) ? payload : {}])),
  };
}
