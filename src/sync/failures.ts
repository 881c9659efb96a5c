// PlatformError → what to do with the resource. The only place that judges the platform's answers.
import {
  PlatformAborted,
  PlatformError,
  PlatformIntermediary,
  PlatformResponse,
} from '../platform/errors.ts';
import { backoffMs } from '../support/backoff.ts';

/** `later`: try again, and with `pauseMs` keep all requests away from the target meanwhile. `refused`: needs a person. */
export type FailureVerdict =
  | { kind: 'later'; afterMs: number; pauseMs: number; message: string }
  | { kind: 'refused'; reason: string; message: string; status: number };

const BACKOFF = { baseMs: 500, maxMs: 30_000 };
/** A wish for more is heard once an hour: a mistake in a header must not keep leavers in for days. */
const LONGEST_PAUSE_MS = 3_600_000;
const CREDENTIAL_PAUSE_MS = 15_000;
/** A refusal that may pass is believed after so many in a row. */
const DOUBTED_TRIES = 8;
const RETRY_STATUS = new Set([408, 425, 429]);

/**
 * @param attempt how many times in a row this resource has failed, this time included
 * @param doubted how many of them, without a break and up to now, were refusals that may pass
 */
export function judgeFailure(
  error: PlatformError,
  attempt: number,
  random: () => number,
  doubted = 0,
): FailureVerdict {
  const wait = backoffMs(attempt, BACKOFF, random);
  if (error instanceof PlatformAborted)
    return { kind: 'later', afterMs: 0, pauseMs: 0, message: error.message };
  if (!(error instanceof PlatformResponse)) {
    // A web page among the answers may be a proxy's and pass soon, so it waits no longer than any other fault.
    return { kind: 'later', afterMs: wait, pauseMs: 0, message: error.message };
  }
  const { status } = error;
  if (RETRY_STATUS.has(status) || status >= 500) {
    const pauseMs = Math.min(error.retryAfterMs ?? (status === 429 ? wait : 0), LONGEST_PAUSE_MS);
    return { kind: 'later', afterMs: Math.max(wait, pauseMs), pauseMs, message: error.message };
  }
  if (status === 401) {
    // The credential is refused for everybody: no resource is to blame and none may be given up.
    return {
      kind: 'later',
      afterMs: CREDENTIAL_PAUSE_MS,
      pauseMs: CREDENTIAL_PAUSE_MS,
      message: error.message,
    };
  }
  if (isDoubtful(error) && doubted < DOUBTED_TRIES) {
    return { kind: 'later', afterMs: wait, pauseMs: 0, message: error.message };
  }
  const reason = status === 409 ? 'Conflict' : status === 403 ? 'Forbidden' : 'Refused';
  return { kind: 'refused', reason, status, message: error.platformMessage || error.message };
}

/** Whether a write may have taken effect although its answer was no success. */
export const mayHaveCommitted = (error: unknown): boolean =>
  error instanceof PlatformError && error.mayHaveCommitted;

/**
 * Whether a refusal may be nobody's fault and pass: what something in between says, and a 404, which a gateway without
 * its route says in the platform's form.
 */
export const isDoubtful = (error: unknown): boolean =>
  error instanceof PlatformIntermediary || isStatus(error, 404);

/** Whether the answer says that the thing itself is not there; before anything is given up, see absence.ts. */
export const isGone = (error: unknown): boolean => isStatus(error, 404);

/** Whether the platform itself refused with one of these. */
export const isStatus = (error: unknown, ...statuses: number[]): error is PlatformResponse =>
  error instanceof PlatformResponse &&
  !(error instanceof PlatformIntermediary) &&
  statuses.includes(error.status);

/** Whether the platform said no to a write, or it may go better next time. */
export function outcomeOfFailure(error: PlatformError): 'refused' | 'failed' {
  if (!(error instanceof PlatformResponse)) return 'failed';
  const { status } = error;
  const mayPass = RETRY_STATUS.has(status) || status === 401 || status >= 500 || isDoubtful(error);
  return mayPass ? 'failed' : 'refused';
}
