// Reads a JSON body in bounded memory: refuses by the headers a body that is too large (`readBytes`), collects the bytes and counts
// them as they arrive (`collect`), lets few large bodies go on at a time, and scans the structure before it parses (`parseJson`).
// `express.json()` limits single bodies only. This reader also limits the bodies of all requests together, by the byte budget
// `bodies`: bytes are taken from it as they arrive, and given back as SMALL_BYTES says.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type { RequestHandler, Response } from 'express';
import {
  invalidSyntax,
  payloadTooLarge,
  scanBody,
  unavailable,
  unsupportedMediaType,
  type ScimError,
} from '../../scim/index.ts';
import { afterIterations } from '../../support/pace.ts';
import type { Admitted } from '../admission/admission.ts';
import { feedDecoder } from './feed-decoder.ts';

interface JsonBodyOptions {
  /** Largest body in bytes, after decompression. */
  limit: number;
  /** Share of the connection in the limits of the process. */
  admitted: Pick<Admitted, 'bodies' | 'largeBodies'>;
}

/** A body up to this size leaves the byte budget when it is complete, a larger one only when the answer was sent. */
const SMALL_BYTES = 16_384;
/** Bodies beyond this size are parsed a few at a time. */
const LARGE_BYTES = 262_144;
/** Largest ratio of decompressed to compressed size, for bodies above LARGE_BYTES; a higher one is a compression bomb. */
const MAX_RATIO = 200;
/** Memory that a chunk takes besides its bytes, so that many tiny chunks use up the byte budget too. */
const CHUNK_OVERHEAD = 256;
/** After this number of chunks, reading pauses until the next iteration of the event loop, so that other requests are served. */
const CHUNKS_AT_ONCE = 1000;
/** Event loop iterations before a large body is parsed, so that new connections such as probes are accepted first. */
const ITERATIONS_BEFORE_LARGE = 50;
const RETRY_AFTER_SECONDS = 2;

const OTHER_CHARSET = /charset=(?!"?utf-8)/i;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Returns middleware that sets `request.body` to the parsed JSON, or leaves it undefined without a body. The media type is
 * ignored, because providers send several or none. Errors: 400, 413, 415, and 503 when too many bytes or large bodies are in work.
 */
export function createJsonBody(options: JsonBodyOptions): RequestHandler {
  const { largeBodies } = options.admitted;
  return (request, response, next) => {
    const parse = (bytes: Buffer): void => {
      try {
        request.body = parseJson(bytes);
      } catch (error) {
        next(error);
        return;
      }
      next();
    };
    readBytes(request, response, options, (error, bytes) => {
      if (error || !bytes) next(error);
      else if (bytes.length <= LARGE_BYTES) parse(bytes);
      else {
        largeBodies.enter().then((leave) => {
          response.once('close', leave);
          afterIterations(ITERATIONS_BEFORE_LARGE, () => {
            // The client disconnected while its body waited.
            if (response.closed) leave();
            else parse(bytes);
          });
        }, next);
      }
    });
  };
}

/** Returns the JSON value of a body. @throws ScimError 400 for no JSON or too deep a nesting, 413 for too large a structure */
function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidSyntax('The body is not UTF-8.');
  scanBody(bytes);
  const text = bytes.toString();
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    throw invalidSyntax('The body is not JSON.');
  }
}

/**
 * Reads the decompressed bytes of the body and calls `done` once: with an error, with the bytes, or with neither when there is no
 * body. @throws ScimError 413, 415 or 503 when the headers already violate a limit
 */
function readBytes(
  request: IncomingMessage,
  response: Response,
  { limit, admitted: { bodies } }: JsonBodyOptions,
  done: (error?: ScimError, bytes?: Buffer) => void,
): void {
  const {
    'content-length': contentLength,
    'content-type': type,
    'transfer-encoding': transfer,
  } = request.headers;
  if (OTHER_CHARSET.test(type ?? '')) throw unreadable();
  const decoder = decoderOf(request);
  const length = Number(contentLength ?? 0);
  if (length > limit) throw tooLarge(limit);
  if (length === 0 && transfer === undefined) {
    done();
    return;
  }
  if (!bodies.fits(length)) throw tooMuch();
  collect({ request, response, decoder }, { limit, bodies }, done);
}

/**
 * Collects the bytes of a body chunk by chunk, within the limit of one body and the budget of all bodies. Calls `done` once: with
 * an error or with all bytes.
 * @param decoder undefined: the body is not compressed
 */
function collect(
  {
    request,
    response,
    decoder,
  }: { request: IncomingMessage; response: Response; decoder: ReturnType<typeof decoderOf> },
  { limit, bodies }: { limit: number; bodies: Admitted['bodies'] },
  done: (error?: ScimError, bytes?: Buffer) => void,
): void {
  const source = decoder ?? request;
  let chunks: Buffer[] = [];
  /** Size of `chunks`. */
  let bodyBytes = 0;
  /** Bytes that are taken from the budget. */
  let countedBytes = 0;
  /** Bytes that arrived before decompression. */
  let compressedBytes = 0;
  let isOver = false;
  const release = (): void => {
    bodies.give(countedBytes);
    countedBytes = 0;
  };
  /** Ends the reading once, with an error or with all bytes. */
  const end = (error?: ScimError): void => {
    if (isOver) return;
    isOver = true;
    source.off('data', onData);
    if (!error) {
      // The parsed value of a body above SMALL_BYTES stays in memory until the answer was sent, so its bytes stay counted.
      if (countedBytes <= SMALL_BYTES || response.closed) release();
      else response.once('close', release);
      done(undefined, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      return;
    }
    stopFeeding?.();
    decoder?.destroy();
    chunks = [];
    release();
    done(error);
  };
  const readOn = (): void => {
    if (!isOver) source.resume();
  };
  /** Keeps a chunk, or ends the reading when the chunk exceeds a limit. */
  const onData = (chunk: Buffer): void => {
    const size = bodyBytes + chunk.length;
    const isBomb = decoder && size > Math.max(LARGE_BYTES, compressedBytes * MAX_RATIO);
    if (size > limit) end(tooLarge(limit));
    else if (isBomb) end(compressionBomb());
    else if (!bodies.take(chunk.length + CHUNK_OVERHEAD)) end(tooMuch());
    else {
      bodyBytes = size;
      countedBytes += chunk.length + CHUNK_OVERHEAD;
      chunks.push(chunk);
      if (chunks.length % CHUNKS_AT_ONCE !== 0) return;
      source.pause();
      setImmediate(readOn);
    }
  };
  request.on('error', () => end(invalidSyntax('The body ended early.')));
  source.on('data', onData).on('end', () => end());
  decoder?.on('error', () => end(invalidSyntax('The body cannot be decompressed.')));
  const countCompressed = (bytes: number): void => {
    compressedBytes += bytes;
  };
  const stopFeeding = decoder && feedDecoder(request, decoder, countCompressed);
}

/** Returns the decompressor of the body; undefined for an uncompressed one. @throws 415 for an unknown encoding */
function decoderOf(request: IncomingMessage): (Readable & NodeJS.WritableStream) | undefined {
  switch (request.headers['content-encoding']?.toLowerCase() ?? 'identity') {
    case 'identity':
      return undefined;
    case 'gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    default:
      throw unreadable();
  }
}

const unreadable = (): ScimError => unsupportedMediaType('Send the body as UTF-8, plain, gzip or deflate.');

const tooMuch = (): ScimError =>
  unavailable('Too many request bodies are being read: retry later.', RETRY_AFTER_SECONDS);

const compressionBomb = (): ScimError => payloadTooLarge('The body grows too much by decompression.');

/** Returns the error for a body over the limit. Its message names the limit, as RFC 7644 §3.7.4 requires. */
const tooLarge = (limit: number): ScimError =>
  payloadTooLarge(
    `The body is larger than ${limit} bytes (maxPayloadSize: server.maxBodyBytes; for a user: server.limits.userBodyBytes).`,
  );
