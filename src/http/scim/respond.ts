// Answer → wire. Bypasses Express' send: the text is ready, and hashing it for an ETag would be wasted work.
import type { Response } from 'express';
import type { Answer } from '../../provider/context.ts';
import { errorBody, type ScimError } from '../../scim/index.ts';

const SCIM_JSON = 'application/scim+json';

export function respond(response: Response, { status, text, location, etag }: Answer): void {
  response.statusCode = status;
  if (etag !== undefined) response.setHeader('ETag', etag);
  if (location !== undefined) response.setHeader('Location', location);
  if (text === undefined) {
    response.end();
    return;
  }
  response.setHeader('Content-Type', SCIM_JSON);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

export function respondError(response: Response, error: ScimError): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  respond(response, { status: error.status, text: JSON.stringify(errorBody(error)) });
}
