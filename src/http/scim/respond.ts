// Answer → wire. Bypasses Express' send: the text is ready, and hashing it for an ETag would be wasted work.
import type { Response } from 'express';
import type { Answer } from '../../provider/context.ts';
import { errorBody, type ScimError } from '../../scim/index.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import { correlationIdOf, REQUEST_ID } from '../middleware/request-context.ts';

const SCIM_JSON = 'application/scim+json';

/** @param defer decides when the answer ends; all of it has been sent before. Absent = at once */
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
  // Text of one byte a character is ASCII, which leaves faster under the name of Latin 1.
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
