// Sends SCIM responses, and creates handlers and signals that routers share. `response.send` of Express is not used: it would
// compute an ETag of its own from the text.
import type { RequestHandler, Response } from 'express';
import type { Answer } from '../../provider/context.ts';
import { errorBody, methodNotAllowed, type ScimError } from '../../scim/index.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import { correlationIdOf, REQUEST_ID } from '../middleware/request-context.ts';
import { Busy, type ByteShare } from '../../support/limits.ts';

const SCIM_JSON = 'application/scim+json';

/** Answers up to this size fit into the send buffer of the operating system, so their bytes are not counted. */
const LARGE_CHARACTERS = 16_384;
/** Time after which the connection of a client that does not read a large answer is closed. */
const READ_LIMIT_MS = 60_000;
const RETRY_AFTER_SECONDS = 2;

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
  // The client has disconnected: `close` was emitted before, so the share would never be given back.
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
