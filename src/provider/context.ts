// Defines the dependencies of the SCIM operations, the context of one request, and the answer.
import type { Directory } from '../directory/resources/directory.ts';
import type { Comparisons, LengthLimits, Profile, ResourceType } from '../scim/index.ts';
import type { Clock, Ids } from '../support/sources.ts';
import type { Slice } from '../support/pace.ts';
import type { Serially } from '../support/serially.ts';
import type { Turns } from '../support/limits.ts';

/** Dependencies of the SCIM operations of one connection. */
export interface ProviderDeps {
  /** Stored users and groups of the connection. */
  directory: Directory;
  userType: ResourceType;
  groupType: ResourceType;
  profile: Profile;
  /** Whether a POST that means a stored inactive user (users.ts, `isRevival`) reactivates that user. Okta re-hires in this way. */
  reviveInactive: boolean;
  /** `pageBytes`: largest page of a list. `inFlightBytes`: bytes of all unread answers; one connection may have half of them. */
  limits: LengthLimits & { pageBytes: number; inFlightBytes: number };
  /** Limits of concurrent requests: `singles` for one resource, `lists` for lists and searches. */
  singles: Turns;
  lists: Turns;
  /** Limits groups above `pageBytes` that are in memory as text at once. */
  largeAnswers: Turns;
  /** Starts a long calculation that pauses regularly, so that short requests are served (support/pace.ts). */
  pace: () => Slice;
  clock: Clock;
  ids: Ids;
  /** Runs the writes of one resource one after the other. */
  serially: Serially;
  /** URIs of the security events that receivers get (RFC 9967 §4); undefined: none. */
  eventUris?: readonly string[] | undefined;
}

/** The part of a request that shapes its answer. */
export interface RequestContext {
  /** Id of the request, also in the log lines and platform calls of its change. */
  request: string;
  /** Address of the connection's SCIM root, without a trailing slash. */
  baseUrl: string;
  /** Returns a signal that aborts when the client disconnects; undefined for short requests. */
  untilLeft?: () => AbortSignal;
  /** Counts the values that the PATCH operations of a Bulk request compare; undefined: each PATCH has a count of its own. */
  comparisons?: Comparisons;
  /** The answer needs no body, as of an operation of a Bulk request that succeeds (RFC 7644 §3.7.3). */
  isSilent?: boolean;
  /** Query parameters that select the attributes of the answer (RFC 7644 §3.9). */
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
  /** If-Match, where the client sent one. */
  ifMatch?: string | undefined;
  /** If-None-Match, where the client sent one. */
  ifNoneMatch?: string | undefined;
}

/** An answer ready to be sent. `text` is JSON; without it the answer has no body. `location` and `etag` are headers. */
export interface Answer {
  status: number;
  text?: string;
  location?: string;
  etag?: string;
}
