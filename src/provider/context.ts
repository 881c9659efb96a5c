// Describes what every operation of the service provider needs: the connection's directory and types, and the request.
import type { Directory } from '../directory/resources/directory.ts';
import type { LengthLimits, Profile, ResourceType } from '../scim/index.ts';
import type { Clock, Ids } from '../support/sources.ts';
import type { Slice } from '../support/pace.ts';
import type { Serially } from '../support/serially.ts';
import type { Turns } from '../support/limits.ts';

export interface ProviderDeps {
  directory: Directory;
  userType: ResourceType;
  groupType: ResourceType;
  profile: Profile;
  /** Whether POST of a user that is there, inactive and has the same externalId brings it back (Okta re-hires so). */
  reviveInactive: boolean;
  /** `pageBytes`: a page of a list ends there. `inFlightBytes`: half of it is what answers of a connection may hold. */
  limits: LengthLimits & { pageBytes: number; inFlightBytes: number };
  /** Work on one resource, and work that reads many, a limited number at once. */
  singles: Turns;
  lists: Turns;
  /** Long calculations give way to others. */
  pace: () => Slice;
  clock: Clock;
  ids: Ids;
  serially: Serially;
  /** Security events that are told of changes (RFC 9967 §4); absent = none. */
  eventUris?: readonly string[] | undefined;
}

/** The part of a request that shapes its answer. */
export interface RequestContext {
  /** Correlation id, from push to platform call. */
  request: string;
  /** Address of the connection's SCIM root, without a trailing slash. */
  baseUrl: string;
  /** Makes a signal that ends when the client leaves; a short request does without. */
  untilLeft?: () => AbortSignal;
  /** The resource is not shown, as in Bulk. */
  isSilent?: boolean;
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
  /** If-Match, where the client sent one. */
  ifMatch?: string | undefined;
  /** If-None-Match, where the client sent one. */
  ifNoneMatch?: string | undefined;
}

/** An answer ready to be sent. `text` is JSON; without it the answer has no body. */
export interface Answer {
  status: number;
  text?: string;
  location?: string;
  etag?: string;
}
