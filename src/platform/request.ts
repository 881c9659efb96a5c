// What a call to the platform is: its options, its template, and the address that it makes.
import type { JsonBounds } from '../support/json-bounds.ts';
import { PlatformArgument, type CallContext } from './errors.ts';
import type { Reader } from './readers.ts';

/** Per call: a signal that ends it, and an id that is sent as x-request-id. */
export interface CallOptions {
  signal?: AbortSignal;
  correlationId?: string;
  /** For a call that is not worth the client's whole timeout; waiting for the budget does not count. */
  timeoutMs?: number;
  /** Follows the call in a trace, and tells the platform where it belongs. */
  trace?: TraceCall;
}

/** Opens the step of one call; `traceparent` is sent, and `end` is told the status (0 = none) and the error's name. */
export type TraceCall = (
  method: string,
  route: string,
) => { traceparent: string; end(status: number, error?: string): void };

/** What an observer learns of a finished call: no ids, no personal data. */
export interface PlatformCall {
  method: string;
  /** Template such as '/api/scim/v2/Users/{id}'. */
  route: string;
  /** HTTP status, or 0 when there was no complete answer. */
  status: number;
  durationMs: number;
  correlationId?: string;
  /** Name of the error that the caller got. */
  error?: string;
}

/** The families of the platform's API; each has a credential of its own. */
export type Family = 'scim' | 'rest' | 'data' | 'chat';

/** How much of an answer is read and parsed (answer-bounds.ts). */
export interface AnswerBounds extends JsonBounds {
  /** Bytes of the body. */
  maxBytes: number;
}

export interface PlatformRequest<T> {
  /** Chooses the credential. */
  family: Family;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path template; `{name}` is filled from `params`. */
  route: string;
  params?: Record<string, string>;
  /** Undefined members are left out. */
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** True for a POST that changes nothing, such as a query. */
  isSafe?: boolean;
  /** Media type asked for; default JSON. */
  accept?: string;
  /** Sent as x-request-id instead of the caller's correlation id. */
  requestId?: string;
  /** For an answer that may be larger than usual. */
  bounds?: AnswerBounds;
  /** Reads the JSON of a success; without it the body of a success is ignored. */
  read: Reader<T> | 'ignore';
}

/** True when a request that got no answer may have changed something. */
export function isWrite(request: Pick<PlatformRequest<unknown>, 'method' | 'isSafe'>): boolean {
  return request.method !== 'GET' && request.isSafe !== true;
}

/** Sends one request; throws a PlatformError, or what `admit` threw. */
export type Send = <T>(request: PlatformRequest<T>, options?: CallOptions) => Promise<T>;

/** The path with ids and query filled in. An id that would change the path is a PlatformArgument. */
export function pathOf(request: Omit<PlatformRequest<unknown>, 'read'>, call: CallContext): string {
  const path = request.route.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.params?.[name] ?? '';
    // '.' and '..' are path segments however they are encoded; '' would address the whole collection
    if (value === '' || value === '.' || value === '..' || /\p{Surrogate}/u.test(value)) {
      throw new PlatformArgument(name, call);
    }
    return encodeURIComponent(value);
  });
  const query = Object.entries(request.query ?? {})
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) => `${key}=${encodeURIComponent(String(value).replace(/\p{Surrogate}/gu, '\uFFFD'))}`,
    );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}
