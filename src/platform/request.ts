// Defines a request to the platform, its options and the limits of its answer, and builds its path.
import type { JsonBounds } from '../support/limits.ts';
import { PlatformArgument, type CallContext } from './errors.ts';
import type { Reader } from './readers.ts';

export interface CallOptions {
  /** Ends the call with PlatformAborted. */
  signal?: AbortSignal;
  /** Sent as x-request-id. */
  correlationId?: string;
  /** Overrides the client's timeout for this call; the wait for the request budget does not count. */
  timeoutMs?: number;
  /** True: the call does not wait at the client's option `gate`. */
  urgent?: boolean;
  /** Called right before a write is sent, after all waits. An error that it throws ends the call, and nothing is sent. */
  beforeWrite?: () => void | Promise<void>;
  /** Records the call as a span of a trace and sends its trace context. */
  trace?: TraceCall;
}

/** Opens the span of one call. `traceparent` is sent; `end` receives the status (0 = none) and the name of the error. */
export type TraceCall = (
  method: string,
  route: string,
) => { traceparent: string; end(status: number, error?: string): void };

/** Report of a finished call for observers: no ids, no personal data. */
export interface PlatformCall {
  method: string;
  /** Template such as '/api/scim/v2/Users/{id}'. */
  route: string;
  /** HTTP status, or 0 without a complete answer. */
  status: number;
  durationMs: number;
  correlationId?: string;
  /** Name of the error that the caller received. */
  error?: string;
}

/** The families of the platform's API: SCIM, REST, Core Data (`data`) and chat; each has its own credential. */
export type Family = 'scim' | 'rest' | 'data' | 'chat';

/** Limits for reading and parsing an answer, so that none can exhaust the memory of the process. */
export interface AnswerBounds extends JsonBounds {
  /** Largest body in bytes. */
  maxBytes: number;
}

export interface PlatformRequest<T> {
  /** Selects the credential. */
  family: Family;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path template; `{name}` is replaced from `params`. */
  route: string;
  params?: Record<string, string>;
  /** Undefined properties are left out. */
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** True for a POST without side effects, such as a query. */
  isSafe?: boolean;
  /** Accepted media type; default JSON. */
  accept?: string;
  /** Sent as x-request-id instead of the caller's correlation id. */
  requestId?: string;
  /** Limits for an answer that may exceed the default ones. */
  bounds?: AnswerBounds;
  /** Reads the JSON of a success; with 'ignore' the body is not parsed. */
  read: Reader<T> | 'ignore';
}

const MEGABYTE = 1024 * 1024;
const MAX_DEPTH = 32;
/** `maxStructure`: largest number of brackets, braces and commas. */
const DEFAULT_BOUNDS: AnswerBounds = { maxBytes: 8 * MEGABYTE, maxDepth: MAX_DEPTH, maxStructure: 500_000 };
/** Larger than any value that the bridge writes: 64,000 characters of up to four bytes. */
const MAX_SCIM_TEXT = 256 * 1024;
/** Larger than DEFAULT_BOUNDS, because the size of a query result depends on the query. */
const RESULT_BOUNDS: AnswerBounds = { maxBytes: 16 * MEGABYTE, maxDepth: MAX_DEPTH, maxStructure: 2_000_000 };

const BOUNDS: Record<Family, AnswerBounds> = {
  scim: { ...DEFAULT_BOUNDS, maxText: MAX_SCIM_TEXT },
  rest: DEFAULT_BOUNDS,
  data: RESULT_BOUNDS,
  chat: RESULT_BOUNDS,
};

/** Allows a group with about 150,000 members; the platform returns all members in one answer. */
export const MEMBERS_BOUNDS: AnswerBounds = {
  maxBytes: 16 * MEGABYTE,
  maxDepth: MAX_DEPTH,
  maxStructure: 1_000_000,
  maxText: MAX_SCIM_TEXT,
};

/** Returns the limits of a request: its own, or those of its API family. */
export const boundsOf = ({
  family,
  bounds,
}: Pick<PlatformRequest<unknown>, 'family' | 'bounds'>): AnswerBounds => bounds ?? BOUNDS[family];

/** Returns true when a request without an answer may have changed the platform. */
export function isWrite(request: Pick<PlatformRequest<unknown>, 'method' | 'isSafe'>): boolean {
  return request.method !== 'GET' && request.isSafe !== true;
}

/** Sends one request and reads its answer. @throws PlatformError, or an error of the client's option `admit` or of `beforeWrite` */
export type Send = <T>(request: PlatformRequest<T>, options?: CallOptions) => Promise<T>;

/** Sends one request of a list by `send`, and may call `send` again after a failure, which the client itself never does. */
export type RepeatRequest = <T>(send: () => Promise<T>) => Promise<T>;

/** Returns a function that sends requests of one API family: `(method, route, rest of the request, options)`. */
export const callsOf =
  (send: Send, family: Family) =>
  <T>(
    method: PlatformRequest<T>['method'],
    route: string,
    request: Omit<PlatformRequest<T>, 'family' | 'method' | 'route'>,
    options?: CallOptions,
  ): Promise<T> =>
    send({ family, method, route, ...request }, options);

/** Returns an id as the integer that the platform takes. @throws PlatformArgument for text that is not a whole number */
export function toWireId(name: string, id: string, call: CallContext): number {
  const number = /^\d{1,16}$/.test(id) ? Number(id) : NaN;
  if (!Number.isSafeInteger(number)) throw new PlatformArgument(name, call);
  return number;
}

/** Returns the path with ids and query. @throws PlatformArgument for an id that would change the path */
export function pathOf(request: Omit<PlatformRequest<unknown>, 'read'>, call: CallContext): string {
  const path = request.route.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.params?.[name] ?? '';
    // '.' and '..' are path segments in any encoding; '' would address the whole collection.
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
