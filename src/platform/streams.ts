// Sends requests whose answers are streamed, and reads the answers piece by piece, until they end, the caller leaves the loop or
// aborts, or the pause between two pieces is too long.
import { Pool } from 'undici';
import { createAttempt, refusedAnswer, type AttemptOptions } from './attempt.ts';
import {
  EndpointAbsent,
  PlatformAborted,
  PlatformConnection,
  PlatformDecode,
  PlatformError,
  PlatformTimeout,
  type CallContext,
} from './errors.ts';
import { faultCode, type RedactText } from './redact.ts';
import { isWrite, type CallOptions, type PlatformRequest } from './request.ts';

/** Longest time to open a connection. */
const MAX_CONNECT_MS = 10_000;
/** Largest part of an error body that is read, in characters. */
const REFUSAL_LENGTH = 64 * 1024;

/** A successful answer whose body is not read yet. */
export interface OpenAnswer {
  /** The decoded body in pieces; a piece may end anywhere. */
  readonly text: AsyncIterable<string>;
  /** Context for errors of the call. */
  readonly call: CallContext;
  readonly redact: RedactText;
  /** Returns the error for an unreadable body; the reason must not quote the answer. */
  refuse(reason: string): PlatformDecode;
}

interface StreamRequest<T> extends Omit<PlatformRequest<unknown>, 'read'> {
  /** Converts the body to the items of the stream; may throw PlatformErrors. */
  read(answer: OpenAnswer): AsyncIterable<T>;
}

/**
 * Returns the items of a streamed answer. The request is sent when the first item is asked for. A caller that
 * leaves the loop early closes the connection.
 */
export type OpenStream = <T>(
  request: StreamRequest<T>,
  options?: CallOptions,
) => AsyncGenerator<T, void, undefined>;

interface StreamsOptions extends AttemptOptions {
  /** Time until the answer begins, milliseconds. */
  timeoutMs: number;
  /** Longest pause between two pieces of the body, milliseconds. */
  idleTimeoutMs: number;
}

/**
 * Creates streams to one tenant, each on its own connection; the pool opens with the first stream. A stream throws PlatformError
 * or an error of the option `admit`, also after some items. An end without error is the regular end of the body.
 */
export function createStreams(options: StreamsOptions): { stream: OpenStream; close(): Promise<void> } {
  const { address, timeoutMs, idleTimeoutMs, redact } = options;
  let pool: Pool | undefined;

  function openPool(): Pool {
    pool ??= new Pool(address.origin, {
      // null: no limit.
      connections: null,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: idleTimeoutMs,
      connect: { timeout: Math.min(timeoutMs, MAX_CONNECT_MS) },
    });
    return pool;
  }

  /** Returns a PlatformError for any error of the connection or of the function `read` of the request. */
  function toPlatformError(
    fault: unknown,
    signal: AbortSignal | undefined,
    call: CallContext,
  ): PlatformError {
    if (fault instanceof PlatformError) return fault;
    if (signal?.aborted) return new PlatformAborted(call, { cause: signal.reason, redact });
    const code = faultCode(fault);
    if (code === 'UND_ERR_HEADERS_TIMEOUT') return new PlatformTimeout(timeoutMs, call);
    if (code === 'UND_ERR_BODY_TIMEOUT') return new PlatformTimeout(idleTimeoutMs, call);
    return new PlatformConnection(code, call, { cause: fault, redact });
  }

  /** Sends the request, yields the items that it reads, and reports the end of the call. */
  async function* stream<T>(
    request: StreamRequest<T>,
    callOptions: CallOptions = {},
  ): AsyncGenerator<T, void, undefined> {
    const { signal, correlationId } = callOptions;
    const attempt = createAttempt(options, request, correlationId);
    const headers = await attempt.ready(callOptions);
    const call: CallContext = { ...attempt.call, mayHaveCommitted: isWrite(request) };
    const controller = new AbortController();
    const onAbort = (): void => controller.abort();
    signal?.addEventListener('abort', onAbort, { once: true });
    // 0: no complete answer.
    let status = 0;
    let failed: unknown;
    try {
      const response = await openPool().request({
        method: request.method,
        path: attempt.path,
        headers,
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: controller.signal,
      });
      const text = decoded(response.body);
      if (response.statusCode < 200 || response.statusCode >= 300) {
        const start = await firstOf(text, REFUSAL_LENGTH);
        status = response.statusCode;
        const answer = { status, headers: response.headers, text: start };
        // `refusedAnswer` sets `mayHaveCommitted` by the status, so it gets `attempt.call`, which lacks this property.
        throw refusedAnswer(options, request, answer, attempt.call);
      }
      const type = String(response.headers['content-type'] ?? '');
      // A tenant without the endpoint answers 200 with a web page (contract 12.9).
      if (type.startsWith('text/html')) throw new EndpointAbsent(response.statusCode, call);
      const refuse = (reason: string): PlatformDecode => new PlatformDecode(reason, call);
      yield* request.read({ text, call, redact, refuse });
      status = response.statusCode;
    } catch (fault) {
      failed = toPlatformError(fault, signal, call);
      throw failed;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      // Closes a connection that is still open because the caller left the loop, or the body was refused.
      controller.abort();
      attempt.report(status, failed);
    }
  }

  return {
    stream,
    async close() {
      if (pool && !pool.destroyed) await pool.close();
    },
  };
}

/** Yields the text of a UTF-8 body; a character that two pieces share comes with the later one. */
async function* decoded(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  for await (const piece of body) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

/** Returns at most the first `length` characters and leaves the rest unread. */
async function firstOf(text: AsyncIterable<string>, length: number): Promise<string> {
  let start = '';
  for await (const piece of text) {
    start += piece;
    if (start.length >= length) break;
  }
  return start.slice(0, length);
}
