// Prepares and reports one call, for requests and streams alike: credential, headers, observer, error of a
// refusal.
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
} from './answer.ts';
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
export type Authorize = (family: Family) => Headers | Promise<Headers>;

export interface AttemptOptions {
  address: TenantAddress;
  authorize: Authorize;
  redact: RedactText;
  clock: Clock;
  /** Resolves when the request budget allows one more call. */
  admit?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  onCall?: ((call: PlatformCall) => void) | undefined;
}

/** One call in progress: its address and its report. */
export interface Attempt {
  readonly call: CallContext;
  readonly path: string;
  /** Waits for the request budget and the credential. @throws PlatformAborted when the signal fires first */
  ready(signal: AbortSignal | undefined): Promise<Record<string, string>>;
  /** Reports the end of the call to the observer; `status` 0 means no complete answer. */
  report(status: number, fault: unknown): void;
}

type Outline = Omit<PlatformRequest<unknown>, 'read'>;

function headersOf(
  request: Outline,
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

/** @throws PlatformArgument for an id that cannot be part of a path */
export function createAttempt(
  options: AttemptOptions,
  request: Outline,
  correlationId?: string,
  trace?: TraceCall,
): Attempt {
  // Other characters would make the header invalid or allow header injection.
  const safeId = correlationId?.replace(/[^\x21-\x7e]/g, '').slice(0, 200) || undefined;
  const call: CallContext = { method: request.method, route: request.route, correlationId: safeId };
  const path = options.address.prefix + pathOf(request, call);
  let started = 0;
  let step: ReturnType<TraceCall> | undefined;
  const leaveIfAborted = (signal: AbortSignal | undefined): void => {
    if (signal?.aborted) throw new PlatformAborted(call, { cause: signal.reason, redact: options.redact });
  };
  return {
    call,
    path,
    async ready(signal) {
      try {
        if (!signal?.aborted) await options.admit?.(signal);
      } catch (fault) {
        if (!signal?.aborted) throw fault; // An error of the budget itself is passed to the caller.
      }
      leaveIfAborted(signal);
      started = performance.now();
      step = trace?.(request.method, request.route);
      const credential = options.authorize(request.family);
      if (!(credential instanceof Promise)) return headersOf(request, call, credential, step?.traceparent);
      const fetched = await credential;
      leaveIfAborted(signal);
      return headersOf(request, call, fetched, step?.traceparent);
    },
    report(status, fault) {
      const error = fault instanceof PlatformError ? fault.name : 'Error';
      step?.end(status, fault === undefined ? undefined : error);
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

/** Statuses with the same meaning from a proxy as from the platform: credentials, sizes and rates. */
const PLAIN_STATUS = new Set([401, 408, 413, 414, 425, 429, 431]);

/** Returns true when a proxy produced the error: error bodies of the platform are JSON (contract 7) or empty. */
function isForeign(status: number, text: string): boolean {
  if (status < 400) return true;
  if (status >= 500 || PLAIN_STATUS.has(status) || text.trim() === '') return false;
  return !isRecord(parseJson(text)?.value);
}

/** Returns the error for an answer with a status outside 200..299. */
export function refusedAnswer(
  options: AttemptOptions,
  request: Outline,
  answer: { status: number; headers: AnswerHeaders; text: string },
  call: CallContext,
): PlatformError {
  const { redact, clock } = options;
  const words = platformMessage(answer.text, redact);
  // An open-source Cube server answers a path that it does not have with the page of its framework.
  if (request.family === 'data' && answer.status === 404 && isWebPage(answer.text))
    return new EndpointAbsent(answer.status, call, words);
  const cut = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : redact(value).slice(0, 200);
  const Refusal = isForeign(answer.status, answer.text) ? PlatformIntermediary : PlatformResponse;
  return new Refusal(
    {
      status: answer.status,
      platformMessage: words,
      scimType: cut(scimTypeOf(answer.text)),
      retryAfterMs: retryAfterMs(answer.headers, clock.now()),
      requestId: cut(header(answer.headers, 'x-request-id')),
    },
    { ...call, mayHaveCommitted: isWrite(request) && answer.status >= 500 },
  );
}
