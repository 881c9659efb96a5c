// Sends one request and returns one answer: address, credential, deadline and errors. There are no retries here, because only the
// caller knows whether a call may be repeated. `send` waits for its turn, `sendNow` prepares and reports the call, `exchange` makes
// it within the deadline, and `readAnswer` reads the record of a success. `noteSent` notes whether a write has left the process,
// because only such a write may have been applied.
import { type Dispatcher, Pool } from 'undici';
import { scanJson, readAtMost } from '../support/limits.ts';
import { type AnswerHeaders, isWebPage, parseJson } from './readers.ts';
import { type AttemptOptions, createAttempt, refusedAnswer } from './attempt.ts';
import {
  AnswerTooLarge,
  type CallContext,
  EndpointAbsent,
  PlatformAborted,
  PlatformConnection,
  PlatformDecode,
  PlatformError,
  PlatformTimeout,
} from './errors.ts';
import { faultCode } from './redact.ts';
import {
  type AnswerBounds,
  boundsOf,
  type CallOptions,
  isWrite,
  type PlatformRequest,
  type Send,
} from './request.ts';

/** An error body is read up to this size; its message is shortened further. */
const REFUSAL_BYTES = 64 * 1024;

/** Longest time to open a connection. */
const MAX_CONNECT_MS = 10_000;

/** Runs one call, at once or after a wait, for example until fewer calls are running. */
export type CallGate = <T>(run: () => Promise<T>, call: CallOptions) => Promise<T>;

export interface TransportOptions extends AttemptOptions {
  /** Time for one request including the body of the answer, milliseconds. */
  timeoutMs: number;
  /** Largest number of connections. */
  connections: number;
  gate?: CallGate | undefined;
}

/** The request as it is sent. */
interface Wire {
  path: string;
  headers: Record<string, string>;
}

interface Answer {
  status: number;
  headers: AnswerHeaders;
  bytes: Buffer;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Opens a pool of keep-alive connections to the tenant. `send` first waits for the gate, then for `admit`, which
 * takes one call from the request budget (attempt.ts). After that, `timeoutMs` covers connecting, sending and
 * reading the whole answer. `close` waits for running calls and may be called twice.
 */
export function createTransport(options: TransportOptions): { send: Send; close(): Promise<void> } {
  const { address, redact } = options;
  const pool = new Pool(address.origin, {
    connections: options.connections,
    pipelining: 1,
    // 0 = off: the deadline of `send` covers headers and body together.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: Math.min(options.timeoutMs, MAX_CONNECT_MS) },
  });
  // The pool for writes: `noteSent` records whether a write was sent, because only a sent write may have been applied.
  const watchedPool: Dispatcher = pool.compose(noteSent);

  /** Sends the request and reads the answer in time. @throws PlatformError if no complete answer arrives */
  async function exchange(
    request: PlatformRequest<unknown>,
    wire: Wire,
    call: CallContext,
    { signal, timeoutMs = options.timeoutMs }: CallOptions,
  ): Promise<Answer> {
    const flight: Flight = { sent: false };
    const early = createEarlyEnd(signal, timeoutMs);
    try {
      const answer = sendAndRead(request, { ...wire, signal: early.signal, opaque: flight }, call);
      return await Promise.race([answer, early.end]);
    } catch (fault) {
      // Without an answer, a write may have been applied if it was sent.
      const unanswered: CallContext = { ...call, mayHaveCommitted: isWrite(request) && flight.sent };
      if (early.reason() === 'aborted')
        throw new PlatformAborted(unanswered, { cause: signal?.reason, redact });
      if (early.reason() === 'timeout') throw new PlatformTimeout(timeoutMs, unanswered);
      if (fault instanceof PlatformError) throw fault;
      throw new PlatformConnection(faultCode(fault), unanswered, { cause: fault, redact });
    } finally {
      early.release();
    }
  }

  /** Sends the request and reads the answer up to its limit of bytes. @throws AnswerTooLarge, or an error of the connection */
  async function sendAndRead(
    request: PlatformRequest<unknown>,
    wire: Wire & { signal: AbortSignal; opaque: Flight },
    call: CallContext,
  ): Promise<Answer> {
    const isWriting = isWrite(request);
    const response = await (isWriting ? watchedPool : pool).request({
      method: request.method,
      ...wire,
      body: request.body === undefined ? null : JSON.stringify(request.body),
    });
    const { statusCode: status, headers, body } = response;
    const maxBytes = isSuccess(status) ? boundsOf(request).maxBytes : REFUSAL_BYTES;
    const { bytes, isWhole } = await readAtMost(body, maxBytes);
    if (isSuccess(status) && !isWhole) {
      throw new AnswerTooLarge(`more than ${maxBytes} bytes`, { ...call, mayHaveCommitted: isWriting });
    }
    return { status, headers, bytes };
  }

  /** Returns the JSON of a success as `request.read` reads it. @throws PlatformError for every other answer */
  function readAnswer<T>(
    request: PlatformRequest<T>,
    { status, headers, bytes }: Answer,
    call: CallContext,
  ): T {
    const text = new TextDecoder().decode(bytes);
    if (!isSuccess(status)) throw refusedAnswer(options, request, { status, headers, text }, call);
    // After a success a write may have been applied, even if its answer cannot be read.
    const answered: CallContext = { ...call, mayHaveCommitted: isWrite(request) };
    // A tenant without the endpoint may answer 200 with its web page (contract 12.9).
    if (isWebPage(text)) throw new EndpointAbsent(status, answered);
    if (request.read === 'ignore') return undefined as T;
    const tooMuch = tooMuchIn(bytes, boundsOf(request));
    if (tooMuch !== undefined) throw new AnswerTooLarge(tooMuch, answered);
    const refuse = (reason: string): PlatformDecode => new PlatformDecode(reason, answered);
    if (text.trim() === '') return request.read(undefined, refuse);
    const json = parseJson(text);
    if (json === undefined) throw refuse('no JSON');
    return request.read(json.value, refuse);
  }

  /** Makes the call without a wait for the gate, and reports its end. */
  async function sendNow<T>(request: PlatformRequest<T>, call: CallOptions): Promise<T> {
    const attempt = createAttempt(options, request, call.correlationId, call.trace);
    const headers = await attempt.ready(call);
    // 0: no complete answer.
    let status = 0;
    let failed: unknown;
    try {
      const answer = await exchange(request, { path: attempt.path, headers }, attempt.call, call);
      status = answer.status;
      return readAnswer(request, answer, attempt.call);
    } catch (fault) {
      failed = fault;
      throw fault;
    } finally {
      attempt.report(status, failed);
    }
  }

  const send: Send = (request, call = {}) =>
    options.gate ? options.gate(() => sendNow(request, call), call) : sendNow(request, call);

  return {
    send,
    async close() {
      if (!pool.destroyed) await pool.close();
    },
  };
}

/**
 * Ends a call after `timeoutMs`, or when the caller aborts it: `signal` aborts, `end` rejects, and `reason` tells the cause.
 * `release` is called at the end of every call.
 */
function createEarlyEnd(callerSignal: AbortSignal | undefined, timeoutMs: number) {
  // Each call has its own controller and removes its listener at the end, so that a long-lived signal collects no listeners.
  const controller = new AbortController();
  let reason: 'timeout' | 'aborted' | undefined;
  let endEarly: (why: 'timeout' | 'aborted') => void = () => undefined;
  // The pool handles an abort only when a connection is free. `end` rejects at once, so that the call does not wait for one.
  const end = new Promise<never>((_, reject) => {
    endEarly = (why) => {
      reason ??= why;
      controller.abort();
      reject(new Error(why));
    };
  });
  const onAbort = (): void => endEarly('aborted');
  callerSignal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => endEarly('timeout'), timeoutMs);
  return {
    signal: controller.signal,
    end,
    reason: () => reason,
    release: (): void => {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', onAbort);
    },
  };
}

/** Returns the reason why the bytes must not be parsed, or undefined. */
const tooMuchIn = (bytes: Uint8Array, bounds: AnswerBounds): string | undefined => {
  const fault = scanJson(bytes, bounds);
  return fault && `the answer ${fault.reason}`;
};

/** One write in progress, passed to undici as the option `opaque` of the request. */
export interface Flight {
  /** Becomes true just before the first byte is written. */
  sent: boolean;
}

function isFlight(value: unknown): value is Flight {
  return typeof value === 'object' && value !== null && 'sent' in value;
}

/** undici interceptor that sets `sent` when a connected socket takes the request. */
export const noteSent: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const flight: unknown = 'opaque' in options ? options.opaque : undefined;
  if (!isFlight(flight)) return dispatch(options, handler);
  return dispatch(options, {
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context);
      // undici drops a request that was aborted while it waited for a socket: nothing of it is written.
      if (!controller.aborted) flight.sent = true;
    },
    onResponseStart: (...start) => handler.onResponseStart?.(...start),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...fault) => handler.onResponseError?.(...fault),
  });
};
