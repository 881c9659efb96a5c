// What a request and a stream have in common before and after the wire: credential, headers, report, refusals.
import { performance } from 'node:perf_hooks';
import type { Clock } from '../support/clock.ts';
import {
  header,
  isRecord,
  parseJson,
  platformMessage,
  retryAfterMs,
  scimTypeOf,
  type AnswerHeaders,
} from './answer.ts';
import {
  PlatformAborted,
  PlatformError,
  PlatformIntermediary,
  PlatformResponse,
  type CallContext,
} from './errors.ts';
import type { RedactText } from './redact.ts';
import { isWrite, pathOf, type Family, type PlatformCall } from './request.ts';
import type { PlatformRequest, TraceCall } from './request.ts';
import type { TenantAddress } from './settings.ts';

type Headers = Readonly<Record<string, string>>;

/** Headers that carry the credential of a family; a promise where it has to be fetched first. */
export type Authorize = (family: Family) => Headers | Promise<Headers>;

export interface AttemptOptions {
  address: TenantAddress;
  authorize: Authorize;
  redact: RedactText;
  clock: Clock;
  admit?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  onCall?: ((call: PlatformCall) => void) | undefined;
}

/** One call on its way: where it goes, and what is told of it when it has ended. */
export interface Attempt {
  readonly call: CallContext;
  readonly path: string;
  /** Waits for the budget and the credential; throws PlatformAborted when the signal is faster. */
  ready(signal: AbortSignal | undefined): Promise<Record<string, string>>;
  /** Tells the observer; `status` 0 = no complete answer. */
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

/** Throws PlatformArgument for ids that cannot stand in an address. */
export function createAttempt(
  options: AttemptOptions,
  request: Outline,
  correlationId?: string,
  trace?: TraceCall,
): Attempt {
  // anything but visible ASCII would be refused as a header, or smuggle another one in
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
        if (!signal?.aborted) throw fault; // the budget's own refusal is for the caller to read
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

/** Statuses that mean what they say, whoever says them: credentials, sizes, time and haste. */
const PLAIN_STATUS = new Set([401, 408, 413, 414, 425, 429, 431]);

/** Whether a refusal comes from something in between: the platform's own are JSON (contract 7), or empty. */
function isForeign(status: number, text: string): boolean {
  if (status < 400) return true;
  if (status >= 500 || PLAIN_STATUS.has(status) || text.trim() === '') return false;
  return !isRecord(parseJson(text)?.value);
}

/** The error for an answer outside 200..299. */
export function refusedAnswer(
  options: AttemptOptions,
  request: Outline,
  answer: { status: number; headers: AnswerHeaders; text: string },
  call: CallContext,
): PlatformResponse {
  const { redact, clock } = options;
  const cut = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : redact(value).slice(0, 200);
  const Refusal = isForeign(answer.status, answer.text) ? PlatformIntermediary : PlatformResponse;
  return new Refusal(
    {
      status: answer.status,
      platformMessage: platformMessage(answer.text, redact),
      scimType: cut(scimTypeOf(answer.text)),
      retryAfterMs: retryAfterMs(answer.headers, clock.now()),
      requestId: cut(header(answer.headers, 'x-request-id')),
    },
    { ...call, mayHaveCommitted: isWrite(request) && answer.status >= 500 },
  );
}
