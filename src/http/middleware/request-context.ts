// Gives each request a correlation id, and logs it once it is answered. The log holds the route, because paths name people.
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import type { Clock, Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';

/** An id is text of the client: another one is replaced by an id of ours. */
const GIVEN_ID = /^[A-Za-z0-9_.:-]{1,64}$/;
const CORRELATION_ID = Symbol('correlation id');

/** The header that names it. */
export const REQUEST_ID = 'X-Request-Id';

/** Kept on the request itself: a map on the side costs more, request after request. */
interface Identified {
  [CORRELATION_ID]?: string;
}

/** The id that follows a push to the platform call; a client may bring its own in `X-Request-Id`. */
export const correlationIdOf = (request: IncomingMessage): string =>
  (request as Identified)[CORRELATION_ID] ?? '-';

/** Tells the caller the id. Where SCIM is answered it stands among the other headers: one set apart costs all of them. */
export const tellRequestId: RequestHandler = (request, response, next) => {
  response.setHeader(REQUEST_ID, correlationIdOf(request));
  next();
};

/** A request that came to its end. Times are Unix milliseconds. */
export interface Answered {
  /** Correlation id. */
  request: string;
  method: string;
  /** As it was asked for, with its query: it names people, so it is for looking at, not for keeping. */
  url: string;
  /** 499: the caller left before the answer was there. */
  status: number;
  startedAt: number;
  endedAt: number;
  /** W3C trace context that the caller brought, unchecked. */
  traceparent: string | undefined;
}

export type OnAnswered = (answered: Answered) => void;

const CALLER_LEFT = 499;

/**
 * The log has the route of a request: paths and filters name people.
 * @param root mount path, which stands in the route as it is
 */
export function createRequestContext(
  deps: { logger: Logger; clock: Clock; ids: Ids },
  onAnswered?: OnAnswered,
  root = '',
): RequestHandler {
  const { logger, clock, ids } = deps;
  return (request, response, next) => {
    const given = request.headers['x-request-id'];
    const id = typeof given === 'string' && GIVEN_ID.test(given) ? given : ids.request();
    (request as Identified)[CORRELATION_ID] = id;
    const startedAt = clock.now();
    const { method, originalUrl } = request;
    response.on('close', () => {
      const endedAt = clock.now();
      logger.info(
        {
          request: id,
          method,
          route: routeOf(originalUrl, root),
          status: response.statusCode,
          durationMs: endedAt - startedAt,
          ...(response.writableFinished ? {} : { aborted: true }),
        },
        'request',
      );
      onAnswered?.({
        request: id,
        method,
        url: originalUrl,
        startedAt,
        endedAt,
        status: response.writableFinished ? response.statusCode : CALLER_LEFT,
        traceparent: request.headers.traceparent as string | undefined,
      });
    });
    next();
  };
}

/** Every word that the addresses of the service consist of, as it is spelled there. */
const WORDS = new Map(
  [
    'scim v2 connections Users Groups .search Bulk Me ServiceProviderConfig ResourceTypes Schemas events keys',
    'admin v1 openapi.json status config doctor explain verify-access acts log plan apply reconcile sync resync',
    'hold release operations approvals links tokens dead-letters refused show search verify export import',
    'forget approve reject withdraw retry drop cancel deep repair',
  ]
    .flatMap((words) => words.split(' '))
    .map((word) => [word.toLowerCase(), word]),
);
/** The longest address of the service has six segments. */
const MAX_SEGMENTS = 8;

/**
 * `/scim/v2/Users/2819c223?attributes=id` becomes `/scim/v2/Users/{id}`. A segment that is no word of the service's own
 * addresses becomes `{id}`, so that no text of a client is left.
 * @param root what the path begins with and is kept, because it comes from the settings: the mount path of a connection
 */
export function routeOf(path: string, root = ''): string {
  const start = path.startsWith(root) ? root : '';
  const end = path.search(/[?#]/);
  const segments = path.slice(start.length, end < 0 ? undefined : end).split('/', MAX_SEGMENTS + 2);
  const route = segments.filter((each) => each !== '').map((each) => WORDS.get(each.toLowerCase()) ?? '{id}');
  if (route.length > MAX_SEGMENTS) route.splice(MAX_SEGMENTS, Infinity, '...');
  return `${start}/${route.join('/')}`;
}
