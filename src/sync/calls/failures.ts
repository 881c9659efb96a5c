// Decides from a PlatformError whether a sync is retried or needs an operator. Other files handle only the statuses that one
// call expects (isStatus, isGone).
import {
  PlatformAborted,
  PlatformError,
  PlatformIntermediary,
  PlatformResponse,
} from '../../platform/errors.ts';
import { backoffMs } from '../../support/backoff.ts';

/** A refusal that needs an operator. */
export interface RefusedVerdict {
  kind: 'refused';
  /** Reason of the condition. */
  reason: string;
  message: string;
  status: number;
}

/** `later`: retry; `pauseMs`: pause of all requests to the target, 0: none. */
type FailureVerdict = { kind: 'later'; afterMs: number; pauseMs: number; message: string } | RefusedVerdict;

/** Bounds of the wait between attempts, which grows with each failure. */
const BACKOFF = { baseMs: 500, maxMs: 30_000 };
/** Retry-After is capped at one hour, so that a wrong header cannot delay deactivations for days. */
export const LONGEST_PAUSE_MS = 3_600_000;
/** Pause of all requests to a target that refuses the API key. */
const CREDENTIAL_PAUSE_MS = 15_000;
/** Number of consecutive transient 4xx answers after which a refusal counts as permanent. */
const TRANSIENT_TRIES = 8;
/** Statuses below 500 after which a retry may succeed: timeout, too early, too many requests. */
const RETRY_STATUS = new Set([408, 425, 429]);

/**
 * Returns whether the sync is retried, and when, or needs an operator.
 * @param attempt number of consecutive failures of this resource, including this one
 * @param transientRefusals number of the latest consecutive failures that were possibly transient refusals
 */
export function judgeFailure(
  error: PlatformError,
  attempt: number,
  random: () => number,
  transientRefusals = 0,
): FailureVerdict {
  const wait = backoffMs(attempt, BACKOFF, random);
  const later = (afterMs: number, pauseMs = 0): FailureVerdict => ({
    kind: 'later',
    afterMs,
    pauseMs,
    message: error.message,
  });
  if (error instanceof PlatformAborted) return later(0);
  // There is no answer, an unreadable one, or a web page with status 200, which a proxy may have sent.
  if (!(error instanceof PlatformResponse)) return later(wait);
  const { status } = error;
  if (RETRY_STATUS.has(status) || status >= 500) {
    // Without Retry-After only a 429 pauses the target.
    const pauseMs = Math.min(error.retryAfterMs ?? (status === 429 ? wait : 0), LONGEST_PAUSE_MS);
    return later(Math.max(wait, pauseMs), pauseMs);
  }
  // A 401 is about the API key, so no resource becomes a dead letter for it.
  if (status === 401) return later(CREDENTIAL_PAUSE_MS, CREDENTIAL_PAUSE_MS);
  if (mayBeTransient(error) && transientRefusals < TRANSIENT_TRIES) return later(wait);
  const reason = REFUSAL_REASONS[status] ?? 'Refused';
  return { kind: 'refused', reason, status, message: error.platformMessage || error.message };
}

/** HTTP status → reason of the condition; every other status is `Refused`. */
const REFUSAL_REASONS: Record<number, string> = { 403: 'Forbidden', 409: 'Conflict' };

/** Returns whether a failed write may have taken effect. */
export const mayHaveCommitted = (error: unknown): boolean =>
  error instanceof PlatformError && error.mayHaveCommitted;

/**
 * Returns whether a refusal may be transient: an answer of a proxy, or a 404, which a gateway without a route to
 * the endpoint sends in the form of the platform.
 */
export const mayBeTransient = (error: unknown): boolean =>
  error instanceof PlatformIntermediary || isStatus(error, 404);

/** Returns whether the answer is a 404; absence.ts proves the absence before anything is given up. */
export const isGone = (error: unknown): error is PlatformResponse => isStatus(error, 404);

/** Returns whether the platform itself answered with one of the statuses. */
export const isStatus = (error: unknown, ...statuses: number[]): error is PlatformResponse =>
  error instanceof PlatformResponse &&
  !(error instanceof PlatformIntermediary) &&
  statuses.includes(error.status);

/** Returns the metric outcome of a failed write: `refused` or `failed`. */
export function outcomeOfFailure(error: PlatformError): 'refused' | 'failed' {
  if (!(error instanceof PlatformResponse)) return 'failed';
  const { status } = error;
  const mayPass = RETRY_STATUS.has(status) || status === 401 || status >= 500 || mayBeTransient(error);
  return mayPass ? 'failed' : 'refused';
}
