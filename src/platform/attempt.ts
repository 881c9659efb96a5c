// Implements the common part of requests (transport.ts) and streams (streams.ts): builds path and headers, waits for the request
// budget, reports the end of the call, and builds the error for a refusal.
import { performance } from 'node:perf_hooks';
import type { Clock } from '../support/sources.ts';
import {
  header,
  isRecord,
  isWebPage,
  parseJson,
  platformMessage,
  retryAfterMs,
  scimTypeOf,
  type AnswerHeaders,
} from './readers.ts';
import {
  EndpointAbsent,
  PlatformAborted,
  PlatformError,
  PlatformIntermediary,
  PlatformResponse,
  type CallContext,
} from './errors.ts';
import type { RedactText } from './redact.ts';
import {
  type CallOptions,
  type Family,
  isWrite,
  pathOf,
  type PlatformCall,
  type PlatformRequest,
  type TraceCall,
} from './request.ts';
import type { TenantAddress } from './settings.ts';

type Headers = Readonly<Record<string, string>>;

/** Returns the headers with the credential of an API family; a promise when a token has to be fetched. */
type Authorize = (family: Family) => Headers | Promise<Headers>;

export interface AttemptOptions {
  address: TenantAddress;
  authorize: Authorize;
  redact: RedactText;
  /** Clock for a Retry-After that is a date. */
  clock: Clock;
  /** Resolves when the request budget (calls per second) allows one more call. */
  admit?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  /** Called right before every call is sent, after all waits. */
  onStart?: (() => void) | undefined;
  /** Called with a report after every call. */
  onCall?: ((call: PlatformCall) => void) | undefined;
}

/** One call in progress: its address and its report. */
interface Attempt {
  /** Context for errors of the call, without `mayHaveCommitted`. */
  readonly call: CallContext;
  readonly path: string;
  /** Waits for request budget and credential, and returns the headers. @throws PlatformAborted, or an error of a wait */
  ready(call: Pick<CallOptions, 'signal' | 'beforeWrite'>): Promise<Record<string, string>>;
  /** Reports the end of the call to the observer; `status` 0 means no complete answer. */
  report(status: number, fault: unknown): void;
}

/** Longest text of a header that is sent, or taken from an answer, in characters. */
const MAX_HEADER_TEXT = 200;

/** A request without the reader of its answer: requests and streams read answers in different ways. */
type UnreadRequest = Omit<PlatformRequest<unknown>, 'read'>;

/**
 * Prepares one call and sends nothing.
 * @param correlationId sent as x-request-id, unless the request has an id of its own
 * @throws PlatformArgument for an id that cannot be part of a path
 */
export function createAttempt(
  options: AttemptOptions,
  request: UnreadRequest,
  correlationId?: string,
  trace?: TraceCall,
): Attempt {
  // Only printable ASCII without space: other characters make the header invalid or allow header injection.
  const safeId = correlationId?.replace(/[^\x21-\x7e]/g, '').slice(0, MAX_HEADER_TEXT) || undefined;
  const call: CallContext = { method: request.method, route: request.route, correlationId: safeId };
  const path = options.address.prefix + pathOf(request, call);
  let started = 0;
  let span: ReturnType<TraceCall> | undefined;
  const throwIfAborted = (signal: AbortSignal | undefined): void => {
    if (signal?.aborted) throw new PlatformAborted(call, { cause: signal.reason, redact: options.redact });
  };
  return {
    call,
    path,
    async ready({ signal, beforeWrite }) {
      try {
        if (!signal?.aborted) await options.admit?.(signal);
      } catch (fault) {
        // After an abort the error is PlatformAborted; an error of the budget itself is passed to the caller.
        if (!signal?.aborted) throw fault;
      }
      throwIfAborted(signal);
      const credential = options.authorize(request.family);
      const fetched = credential instanceof Promise ? await credential : credential;
      throwIfAborted(signal);
      if (isWrite(request) && beforeWrite) {
        await beforeWrite();
        throwIfAborted(signal);
      }
      // The span opens last: an error above would leave it open, because a call whose `ready` throws is not reported.
      options.onStart?.();
      started = performance.now();
      span = trace?.(request.method, request.route);
      return headersOf(request, call, fetched, span?.traceparent);
    },
    report(status, fault) {
      const error = fault instanceof PlatformError ? fault.name : 'Error';
      span?.end(status, fault === undefined ? undefined : error);
      options.onCall?.({
        method: request.method,
        route: request.route,
        status,
        durationMs: performance.now() - started,
        ...(safeId === undefined ? {} : { correlationId: safeId }),
        ...(fault === undefined ? {} : { error }),
      });
    },
  };
}

function headersOf(
  request: UnreadRequest,
  call: CallContext,
  credential: Headers,
  traceparent: string | undefined,
): Record<string, string> {
  const requestId = request.requestId ?? call.correlationId;
  return {
    ...credential,
    accept: request.accept ?? 'application/json',
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Returns the error for an answer with a status outside 200..299. */
export function refusedAnswer(
  options: AttemptOptions,
  request: UnreadRequest,
  answer: { status: number; headers: AnswerHeaders; text: string },
  call: CallContext,
): PlatformError {
  const { redact, clock } = options;
  const message = platformMessage(answer.text, redact);
  // An open-source Cube server answers an unknown path with 404 and an HTML page.
  if (request.family === 'data' && answer.status === 404 && isWebPage(answer.text))
    return new EndpointAbsent(answer.status, call, message);
  const shortened = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : redact(value).slice(0, MAX_HEADER_TEXT);
  const Refusal = isFromProxy(answer.status, answer.text) ? PlatformIntermediary : PlatformResponse;
  return new Refusal(
    {
      status: answer.status,
      platformMessage: message,
      scimType: shortened(scimTypeOf(answer.text)),
      retryAfterMs: retryAfterMs(answer.headers, clock.now()),
      requestId: shortened(header(answer.headers, 'x-request-id')),
      redirectOrigin: shortened(originOf(header(answer.headers, 'location'), options.address.origin)),
    },
    // A 4xx says that the write was not applied, a 5xx does not.
    { ...call, mayHaveCommitted: isWrite(request) && answer.status >= 500 },
  );
}

/** Statuses that mean the same from a proxy as from the platform: they are about credentials, sizes, rates and timing. */
const TRUSTED_STATUS = new Set([401, 408, 413, 414, 425, 429, 431]);

/** Returns true for a redirect, and for a 4xx with a body that is no JSON object: the platform sends neither (contract 7). */
function isFromProxy(status: number, text: string): boolean {
  // The platform redirects no call.
  if (status < 400) return true;
  // A 5xx and a trusted status mean the same from a proxy as from the platform, so the sender does not matter.
  if (status >= 500 || TRUSTED_STATUS.has(status) || text.trim() === '') return false;
  return !isRecord(parseJson(text)?.value);
}

/** Returns the origin of a redirect, without the path, which may contain a token; undefined without a readable address. */
const originOf = (location: string | undefined, base: string): string | undefined =>
  location !== undefined && URL.canParse(location, base) ? new URL(location, base).origin : undefined;
