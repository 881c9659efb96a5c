// Sends SCIM responses. `response.send` of Express is not used, because it would hash the text for another ETag.
import type { Response } from 'express';
import type { Answer } from '../../provider/context.ts';
import { errorBody, type ScimError } from '../../scim/index.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import { correlationIdOf, REQUEST_ID } from '../middleware/request-context.ts';
import { Busy, type ByteShare } from '../../support/limits.ts';

const SCIM_JSON = 'application/scim+json';

/** Shorter answers fit into the send buffer of the operating system and are not counted. */
const LARGE_CHARACTERS = 16_384;
/** Time after which the connection of a client that does not read a large answer is closed. */
const READ_LIMIT_MS = 60_000;
const RETRY_AFTER_SECONDS = 2;

/** @param defer calls its argument to end the response, after the body was written; default: the response ends at once */
export function respond(
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

export function respondError(response: Response, error: ScimError, defer?: (end: () => void) => void): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  respond(response, { status: error.status, text: JSON.stringify(errorBody(error)) }, defer);
}

/**
 * Sends an answer and counts its bytes until the client has read it, so that slow clients cannot fill the memory.
 * @throws Busy when unread answers use up the share of the connection
 */
export function send(response: Response, answer: Answer, answers: ByteShare): void {
  const size = answer.text?.length ?? 0;
  if (size <= LARGE_CHARACTERS) {
    respond(response, answer);
    return;
  }
  // The client has left.
  if (response.closed) return;
  countUntilRead(response, size, answers);
  respond(response, answer);
}

/** Counts `size` bytes until the client has read them. @throws Busy when unread answers use up the share */
export function countUntilRead(response: Response, size: number, answers: ByteShare): void {
  if (!answers.take(size)) throw new Busy(RETRY_AFTER_SECONDS);
  const timer = setTimeout(() => response.destroy(), READ_LIMIT_MS);
  response.once('close', () => {
    clearTimeout(timer);
    answers.give(size);
  });
}
