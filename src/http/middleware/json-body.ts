// Reads a JSON body. What identity providers send, plain UTF-8 of announced length, is read here, because the tracking
// and decoding of express.json cost more than the parsing; everything else (gzip, chunks) is left to it.
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import { invalidSyntax, isSound, payloadTooLarge, type ScimError } from '../../scim/index.ts';

const OTHER_CHARSET = /charset=(?!"?utf-8)/i;
const BYTE_ORDER_MARK = 0xfeff;

const SOUND = Symbol('sound body');

interface Read {
  [SOUND]?: boolean;
}

/** Whether the text of the body told that there is nothing in it to be refused. */
export const hasSoundBody = (request: IncomingMessage): boolean => (request as Read)[SOUND] ?? false;

/** The content type is not asked: providers send several, and some send none. */
export function createJsonBody(limit: number): RequestHandler {
  const readAnything = express.json({ type: () => true, limit, strict: false, verify: requireUtf8 });
  return (request, response, next) => {
    const length = Number(request.headers['content-length'] ?? 0);
    // Refused before it is read.
    if (length > limit) throw tooLarge(limit);
    if (!(length > 0) || !isPlain(request.headers)) {
      readAnything(request, response, next);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => next(invalidSyntax('The body ended early.')));
    request.on('end', () => {
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      if (!isUtf8(body)) {
        next(invalidSyntax('The body is not UTF-8.'));
        return;
      }
      try {
        const text = body.toString();
        request.body = parse(text);
        (request as Read)[SOUND] = isSound(text);
      } catch {
        next(invalidSyntax('The body is not JSON.'));
        return;
      }
      next();
    });
  };
}

/** RFC 7644 §3.7.4: the limit has to be named. */
export const tooLarge = (limit: number): ScimError =>
  payloadTooLarge(`The body is larger than ${limit} bytes (maxPayloadSize, server.maxBodyBytes).`);

function isPlain(headers: IncomingHttpHeaders): boolean {
  return headers['content-encoding'] === undefined && !OTHER_CHARSET.test(headers['content-type'] ?? '');
}

/** RFC 8259 §8.1: bodies are UTF-8; a lenient decoder would make one name of two broken ones. */
function requireUtf8(_request: unknown, _response: unknown, body: Buffer): void {
  if (!isUtf8(body)) throw new Error('The body is not UTF-8.');
}

function parse(text: string): unknown {
  return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
}
