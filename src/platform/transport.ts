// One request, one answer: address, credential, deadline, and the sorting of everything that can go wrong.
// No retries: whether a call is worth repeating is the caller's to know.
import { performance } from 'node:perf_hooks';
import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../support/clock.ts';
import {
  header,
  isWebPage,
  parseJson,
  platformMessage,
  retryAfterMs,
  scimTypeOf,
  type AnswerHeaders,
} from './answer.ts';
import {
  EndpointAbsent,
  PlatformAborted,
  PlatformConnection,
  PlatformDecode,
  PlatformError,
  PlatformResponse,
  PlatformTimeout,
  type CallContext,
} from './errors.ts';
import { faultCode, type RedactText } from './redact.ts';
import { pathOf, type PlatformCall, type PlatformRequest, type Send } from './request.ts';
import { noteSent, type Flight } from './flight.ts';
import type { TenantAddress } from './settings.ts';

/** Largest answer that is read, bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_CONNECT_MS = 10_000;

export interface TransportOptions {
  address: TenantAddress;
  tokens: { scim: string; rest: string };
  timeoutMs: number;
  connections: number;
  redact: RedactText;
  clock: Clock;
  admit?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  onCall?: ((call: PlatformCall) => void) | undefined;
}

interface Answer {
  status: number;
  headers: AnswerHeaders;
  text: string;
}

/**
 * Opens a keep-alive pool to the tenant. `send` does one request: waits for `admit`, then has `timeoutMs` for
 * connecting, sending and the whole answer. `close` lets running calls finish and may be called twice.
 */
export function createTransport(options: TransportOptions): { send: Send; close(): Promise<void> } {
  const { address, tokens, timeoutMs, redact, clock } = options;
  const pool = new Pool(address.origin, {
    connections: options.connections,
    pipelining: 1,
    // the deadline below covers headers and body together
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_ANSWER_BYTES,
    connect: { timeout: Math.min(timeoutMs, MAX_CONNECT_MS) },
  });
  // only writes need to know whether they left; reads skip the wrapping
  const writes: Dispatcher = pool.compose(noteSent);

  function headersOf(
    request: PlatformRequest<unknown>,
    correlationId: string | undefined,
  ): Record<string, string> {
    return {
      authorization: `Bearer ${tokens[request.family]}`,
      accept: 'application/json',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(correlationId === undefined ? {} : { 'x-request-id': correlationId }),
    };
  }

  async function exchange(
    request: PlatformRequest<unknown>,
    path: string,
    call: CallContext,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    // one controller per call, unhooked at the end: a long-lived signal collects no listeners
    const controller = new AbortController();
    const isWrite = request.method !== 'GET';
    const flight: Flight = { sent: false };
    const work = async (): Promise<Answer> => {
      const response = await (isWrite ? writes : pool).request({
        method: request.method,
        path,
        headers: headersOf(request, call.correlationId),
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: controller.signal,
        opaque: flight,
      });
      return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
    };
    let ended: 'timeout' | 'aborted' | undefined;
    let end: (why: 'timeout' | 'aborted') => void = () => undefined;
    // the pool notices an abort only once a connection is free, so the end does not wait for it
    const cutShort = new Promise<never>((_, reject) => {
      end = (why) => {
        ended ??= why;
        controller.abort();
        reject(new Error(why));
      };
    });
    const onAbort = (): void => end('aborted');
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => end('timeout'), timeoutMs);
    try {
      return await Promise.race([work(), cutShort]);
    } catch (fault) {
      const lost: CallContext = { ...call, mayHaveCommitted: isWrite && flight.sent };
      if (ended === 'aborted') throw new PlatformAborted(lost, { cause: signal?.reason, redact });
      if (ended === 'timeout') throw new PlatformTimeout(timeoutMs, lost);
      const code = faultCode(fault);
      if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
        throw new PlatformDecode(`more than ${MAX_ANSWER_BYTES} bytes`, lost);
      }
      throw new PlatformConnection(code, lost, { cause: fault, redact });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  function readAnswer<T>(
    request: PlatformRequest<T>,
    { status, headers, text }: Answer,
    call: CallContext,
  ): T {
    const isWrite = request.method !== 'GET';
    if (status < 200 || status >= 300) {
      const cut = (value: string | undefined): string | undefined =>
        value === undefined ? undefined : redact(value).slice(0, 200);
      throw new PlatformResponse(
        {
          status,
          platformMessage: platformMessage(text, redact),
          scimType: cut(scimTypeOf(text)),
          retryAfterMs: retryAfterMs(headers, clock.now()),
          requestId: cut(header(headers, 'x-request-id')),
        },
        { ...call, mayHaveCommitted: isWrite && status >= 500 },
      );
    }
    const answered: CallContext = { ...call, mayHaveCommitted: isWrite };
    if (isWebPage(text)) throw new EndpointAbsent(status, answered);
    if (request.read === 'ignore') return undefined as T;
    const refuse = (reason: string): PlatformDecode => new PlatformDecode(reason, answered);
    if (text.trim() === '') return request.read(undefined, refuse);
    const json = parseJson(text);
    if (json === undefined) throw refuse('no JSON');
    return request.read(json.value, refuse);
  }

  async function admitted(call: CallContext, signal: AbortSignal | undefined): Promise<void> {
    try {
      if (!signal?.aborted) await options.admit?.(signal);
    } catch (fault) {
      if (!signal?.aborted) throw fault; // the budget's own refusal is for the caller to read
    }
    if (signal?.aborted) throw new PlatformAborted(call, { cause: signal.reason, redact });
  }

  const send: Send = async (request, { signal, correlationId } = {}) => {
    // anything but visible ASCII would be refused as a header, or smuggle another one in
    const safeId = correlationId?.replace(/[^\x21-\x7e]/g, '').slice(0, 200) || undefined;
    const call: CallContext = { method: request.method, route: request.route, correlationId: safeId };
    const path = address.prefix + pathOf(request, call);
    await admitted(call, signal);
    const started = performance.now();
    let status = 0;
    let error: string | undefined;
    try {
      const answer = await exchange(request, path, call, signal);
      status = answer.status;
      return readAnswer(request, answer, call);
    } catch (fault) {
      error = fault instanceof PlatformError ? fault.name : 'Error';
      throw fault;
    } finally {
      options.onCall?.({
        method: request.method,
        route: request.route,
        status,
        durationMs: performance.now() - started,
        ...(safeId === undefined ? {} : { correlationId: safeId }),
        ...(error === undefined ? {} : { error }),
      });
    }
  };

  return {
    send,
    async close() {
      if (!pool.destroyed) await pool.close();
    },
  };
}
