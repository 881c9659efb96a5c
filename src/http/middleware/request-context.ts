// Gives each request a correlation id, and logs the request when it is answered. The log has the route instead of the path,
// because paths and filters contain personal data. Each finished request is reported to observers (`OnAnswered`), such as metrics
// (app/instruments.ts) and traces (http/traced.ts), which name a SCIM request by `operationOf`.
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { initiatorTypeOf } from '../../ops/log/initiator.ts';
import type { Clock, Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';

const GIVEN_ID = /^[A-Za-z0-9_.:-]{1,64}$/;
const CORRELATION_ID = Symbol('correlation id');

export const REQUEST_ID = 'X-Request-Id';

/** The correlation id is a property of the request, because a WeakMap would take more time at each request. */
interface WithCorrelationId {
  [CORRELATION_ID]?: string;
}

/**
 * Returns the correlation id of a request. It identifies a push in all logs, and in the calls to the platform that the push
 * causes. A client may set it in `X-Request-Id`. '-': the request did not pass `createRequestContext`.
 */
export const correlationIdOf = (request: IncomingMessage): string =>
  (request as WithCorrelationId)[CORRELATION_ID] ?? '-';

/** Sets the response header X-Request-Id. SCIM responses set it in respond.ts together with their other headers. */
export const setRequestIdHeader: RequestHandler = (request, response, next) => {
  response.setHeader(REQUEST_ID, correlationIdOf(request));
  next();
};

/** A finished request. Times are Unix milliseconds. */
export interface Answered {
  /** Correlation id. */
  request: string;
  method: string;
  /** Requested address with its query. It contains personal data and must not be stored or logged. */
  url: string;
  /** HTTP status; 499 when the client disconnected before the answer. */
  status: number;
  startedAt: number;
  endedAt: number;
  /** W3C trace context of the client, not validated. */
  traceparent: string | undefined;
}

/** Called after each request, except a stream of server-sent events. */
export type OnAnswered = (answered: Answered) => void;

/** Status of a request whose client disconnected before the answer, as nginx counts it. */
const CLIENT_CLOSED = 499;

/**
 * Returns middleware that sets the correlation id, and logs and reports the request when its response is closed.
 * @param root mount path; the logged route begins with it
 */
export function createRequestContext(
  deps: { logger: Logger; clock: Clock; ids: Ids },
  onAnswered?: OnAnswered,
  root = '',
): RequestHandler {
  const { logger, clock, ids } = deps;
  return (request, response, next) => {
    const given = request.headers['x-request-id'];
    const id = isAccepted(given) ? given : ids.request();
    (request as WithCorrelationId)[CORRELATION_ID] = id;
    const startedAt = clock.now();
    const { method, originalUrl } = request;
    response.on('close', () => {
      const endedAt = clock.now();
      logger.info(
        {
          request: id,
          method,
          route: routeOf(originalUrl, root),
          // Of an aborted request: the status that the client may not have received. `onAnswered` below gets CLIENT_CLOSED then.
          status: response.statusCode,
          durationMs: endedAt - startedAt,
          ...(response.writableFinished ? {} : { aborted: true }),
        },
        'request',
      );
      // A stream of server-sent events ends when its client disconnects. Its duration and status say nothing about the
      // service, so they are not measured.
      if (response.getHeader('Content-Type') === 'text/event-stream') return;
      onAnswered?.({
        request: id,
        method,
        url: originalUrl,
        startedAt,
        endedAt,
        status: response.writableFinished ? response.statusCode : CLIENT_CLOSED,
        traceparent: request.headers.traceparent as string | undefined,
      });
    });
    next();
  };
}

/**
 * Returns whether the id that a client sent is used. Ids that are long or have other characters are replaced. So are ids with which
 * a push would look like an operator's order in the logs (ops/log/initiator.ts).
 */
const isAccepted = (given: string | string[] | undefined): given is string =>
  typeof given === 'string' && GIVEN_ID.test(given) && initiatorTypeOf(given) === 'identityProvider';

/** All literal segments of the service's addresses, by their lower-case form. `routeOf` shows no other segment in the logs. */
const LITERAL_SEGMENTS = new Map(
  [
    'scim v2 connections Users Groups .search Bulk Me ServiceProviderConfig ResourceTypes Schemas events keys',
    'admin v1 openapi.json status config doctor explain verify-access acts log plan apply reconcile sync resync',
    'hold release operations approvals links tokens dead-letters refused show search verify export import',
    'forget keep approve reject withdraw retry drop cancel deep repair exceptions test notices',
    'caller session sign-in ways callback history live workbench try effect waiting',
  ]
    .flatMap((words) => words.split(' '))
    .map((word) => [word.toLowerCase(), word]),
);
/** Longest logged route, in segments; the longest address of the service has six. */
const MAX_SEGMENTS = 8;

/**
 * Returns the route of a path: `/scim/v2/Users/2819c223?attributes=id` becomes `/scim/v2/Users/{id}`. Every segment
 * that is no literal segment of the service becomes `{id}`, so the route contains no text of a client.
 * @param root mount path of a connection, from the settings; the route begins with it unchanged
 */
export function routeOf(path: string, root = ''): string {
  const start = path.startsWith(root) ? root : '';
  const end = path.search(/[?#]/);
  // The limit is two larger: the text before the first slash is empty, and a further segment shows that the path is too long.
  const segments = path.slice(start.length, end < 0 ? undefined : end).split('/', MAX_SEGMENTS + 2);
  const route = segments
    .filter((each) => each !== '')
    .map((each) => LITERAL_SEGMENTS.get(each.toLowerCase()) ?? '{id}');
  if (route.length > MAX_SEGMENTS) route.splice(MAX_SEGMENTS, Infinity, '...');
  return `${start}/${route.join('/')}`;
}

export const SCIM_OPERATIONS = [
  'list',
  'search',
  'get',
  'create',
  'replace',
  'patch',
  'delete',
  'bulk',
  'discovery',
  'me',
  'other',
] as const;
export type ScimOperation = (typeof SCIM_OPERATIONS)[number];

const ON_RESOURCE = new Map<string, ScimOperation>([
  ['GET', 'get'],
  ['PUT', 'replace'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const ON_COLLECTION = new Map<string, ScimOperation>([
  ['GET', 'list'],
  ['POST', 'create'],
]);
const DISCOVERY = new Set(['serviceproviderconfig', 'resourcetypes', 'schemas']);

/**
 * Returns the operation that method and path name; `other` for an address that SCIM does not have.
 * @param path path below the SCIM root, such as `/Users/2819c223?attributes=id`
 */
export function operationOf(method: string | undefined, path: string): ScimOperation {
  const queryAt = path.indexOf('?');
  const [_empty, endpoint = '', id = '', rest] = (queryAt < 0 ? path : path.slice(0, queryAt)).split('/', 4);
  // No SCIM address has a third segment.
  if (method === undefined || rest) return 'other';
  const name = endpoint.toLowerCase();
  if (name === 'users' || name === 'groups') {
    if (id === '') return ON_COLLECTION.get(method) ?? 'other';
    if (id === '.search') return method === 'POST' ? 'search' : 'other';
    return ON_RESOURCE.get(method) ?? 'other';
  }
  if (name === '.search' && method === 'POST') return 'search';
  if (name === 'bulk' && method === 'POST') return 'bulk';
  if (name === 'me') return 'me';
  return method === 'GET' && DISCOVERY.has(name) ? 'discovery' : 'other';
}
