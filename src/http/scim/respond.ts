// Answers SCIM requests. `createScimHandlers` creates what the routes of one connection share: the readers of request bodies, the
// context of a request for the functions of src/provider, and the handlers that send the answers of these functions. Below are the
// functions that send, which other routers use too. `response.send` of Express is not used: it would compute an ETag of its own
// from the text.
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Answer, RequestContext } from '../../provider/context.ts';
import { errorBody, methodNotAllowed, readQuery, type ScimError } from '../../scim/index.ts';
import { Busy, type ByteShare } from '../../support/limits.ts';
import type { Admitted } from '../admission/admission.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import { createJsonBody } from '../middleware/json-body.ts';
import { correlationIdOf, REQUEST_ID } from '../middleware/request-context.ts';

export interface ScimHandlerOptions {
  /** Path of the SCIM root, such as `/scim/v2`. */
  root: string;
  /** Configured address of the service without a trailing slash; null: the Host header is used. */
  publicUrl: string | null;
  maxBodyBytes: number;
  limits: { userBodyBytes: number; pageBytes: number };
  admitted: Admitted;
}

const SCIM_JSON = 'application/scim+json';

/** Answers up to this size fit into the send buffer of the operating system, so their bytes are not counted. */
const LARGE_CHARACTERS = 16_384;
/** Time after which the connection of a client that does not read a large answer is closed. */
const READ_LIMIT_MS = 60_000;
const RETRY_AFTER_SECONDS = 2;
/** Form of an accepted Host header. The header becomes part of addresses in answers, so other characters are refused. */
const HOST = /^[A-Za-z0-9.\-:[\]]{1,255}$/;

export type ScimHandlers = ReturnType<typeof createScimHandlers>;

export function createScimHandlers(options: ScimHandlerOptions) {
  const { admitted, maxBodyBytes } = options;
  // A search body is read with the smaller limit, that of users.
  const readBody = {
    Users: createJsonBody({ limit: Math.min(options.limits.userBodyBytes, maxBodyBytes), admitted }),
    Groups: createJsonBody({ limit: maxBodyBytes, admitted }),
  };

  /** Returns the address of the SCIM root, for addresses in answers. */
  function baseUrl(request: Request): string {
    if (options.publicUrl !== null) return options.publicUrl + options.root;
    const host = request.headers.host ?? '';
    // The service itself has no TLS; behind a TLS proxy `publicUrl` gives the public address.
    return `http://${HOST.test(host) ? host : 'localhost'}${options.root}`;
  }

  /** Returns the part of a request that the functions of src/provider need besides the id in its path and its body. */
  function contextOf(request: Request): RequestContext {
    const context: RequestContext = { request: correlationIdOf(request), baseUrl: baseUrl(request) };
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifMatch !== undefined) context.ifMatch = ifMatch;
    if (ifNoneMatch !== undefined) context.ifNoneMatch = ifNoneMatch;
    // Parsing costs time, so the query is parsed only when it has `attributes` or `excludedAttributes`, which is rare. The names of
    // both parameters end in `ttributes`, in any letter case.
    if (/ttributes=/i.test(request.url)) {
      const { attributes, excludedAttributes } = readQuery(searchParamsOf(request));
      // An empty parameter counts as absent.
      context.attributes = attributes || undefined;
      context.excludedAttributes = excludedAttributes || undefined;
    }
    return context;
  }

  /** Returns a handler that sends what `make` returns; `make` waits for a turn in the share of the connection. */
  const answer =
    (make: (request: Request) => Promise<Answer> | Answer): RequestHandler =>
    async (request: Request, response: Response, _next: NextFunction) => {
      send(response, await admitted.singles.run(() => make(request)), admitted.answers);
    };

  /**
   * As `answer`, for a list. Lists wait for their turn in src/provider, because only src/provider knows whether an index answers a
   * list. A list is refused at once when a full page of unread bytes would not fit into the share of the connection.
   */
  const answerList =
    (make: (request: Request, context: RequestContext) => Promise<Answer>): RequestHandler =>
    async (request, response) => {
      if (!admitted.answers.fits(options.limits.pageBytes)) throw new Busy(RETRY_AFTER_SECONDS);
      const context = contextOf(request);
      context.untilLeft = () => untilClosed(response);
      send(response, await make(request, context), admitted.answers);
    };

  return { readBody, baseUrl, contextOf, answer, answerList };
}

/** Returns all parameters of the query. */
export function searchParamsOf(request: Request): URLSearchParams {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : request.url.slice(start + 1));
}

/**
 * Writes headers and body of an answer.
 * @param defer gets the function that ends the response, and calls it later; default: the response ends immediately
 */
function respond(
  response: Response,
  { status, text, location, etag }: Answer,
  defer?: (end: () => void) => void,
): void {
  const headers: Record<string, string | number> = { [REQUEST_ID]: correlationIdOf(response.req) };
  if (etag !== undefined) headers.ETag = etag;
  if (location !== undefined) headers.Location = location;
  if (text === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const length = Buffer.byteLength(text);
  headers['Content-Type'] = SCIM_JSON;
  headers['Content-Length'] = length;
  Object.assign(headers, JSON_HEADERS);
  // ASCII text is written faster as latin1, because Node.js copies it without conversion.
  const encoding = length === text.length ? 'latin1' : 'utf8';
  response.writeHead(status, headers);
  if (!defer) {
    response.end(text, encoding);
    return;
  }
  response.write(text, encoding);
  defer(() => response.end());
}

/** Sends a SCIM error with its headers. @param defer as for `respond` */
export function respondError(response: Response, error: ScimError, defer?: (end: () => void) => void): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  respond(response, { status: error.status, text: JSON.stringify(errorBody(error)) }, defer);
}

/**
 * Sends an answer and counts its characters (about its bytes) until the client has read it, so that slow clients cannot fill
 * the memory.
 * @throws Busy when unread answers use up the share of the connection
 */
export function send(response: Response, answer: Answer, answers: ByteShare): void {
  const size = answer.text?.length ?? 0;
  if (size <= LARGE_CHARACTERS) {
    respond(response, answer);
    return;
  }
  countUntilRead(response, size, answers);
  respond(response, answer);
}

/**
 * Counts `size` bytes until the client has read them, and closes the connection of a client that takes too long.
 * @throws Busy when unread answers use up the share
 */
export function countUntilRead(response: Response, size: number, answers: ByteShare): void {
  // The client has disconnected. `close` comes no second time, so nothing would give the bytes back.
  if (response.closed) return;
  if (!answers.take(size)) throw new Busy(RETRY_AFTER_SECONDS);
  const timer = setTimeout(() => response.destroy(), READ_LIMIT_MS);
  response.once('close', () => {
    clearTimeout(timer);
    answers.give(size);
  });
}

/** Returns a handler that answers 405 and names the methods that the path allows. */
export const allowOnly =
  (...methods: string[]): RequestHandler =>
  () => {
    throw methodNotAllowed(methods);
  };

/**
 * Returns a signal that is aborted when the response is closed: by a disconnected client, or after a complete answer.
 * @param reason undefined: an AbortError
 */
export function untilClosed(response: Response, reason?: Error): AbortSignal {
  const closed = new AbortController();
  response.once('close', () => closed.abort(reason));
  return closed.signal;
}
