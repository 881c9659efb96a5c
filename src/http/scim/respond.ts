// Answer → wire. Bypasses Express' send: the text is ready, and hashing it for an ETag would be wasted work.
import type { Response } from 'express';
import type { Answer } from '../../provider/context.ts';
import { errorBody, type ScimError } from '../../scim/index.ts';
import { correlationIdOf, REQUEST_ID } from '../middleware/request-context.ts';

const SCIM_JSON = 'application/scim+json';

export function respond(response: Response, { status, text, location, etag }: Answer): void {
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
  // Text of one byte a character is ASCII, which leaves faster under the name of Latin 1.
  response.writeHead(status, headers).end(text, length === text.length ? 'latin1' : 'utf8');
}

export function respondError(response: Response, error: ScimError): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  respond(response, { status: error.status, text: JSON.stringify(errorBody(error)) });
}
