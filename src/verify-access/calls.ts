// Makes the calls to the platform for one check of access: within one time limit, and with failures as values.
import { createPlatformClient } from '../platform/library.ts';
import { messageWithPlatformText, PlatformError, PlatformResponse } from '../platform/errors.ts';
import { newKeyAdvice } from '../reconcile/breaker-words.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { timeLimit } from '../support/time-limit.ts';
import type { TargetSettings } from '../sync/target.ts';
import { heldBackText, notAskedText } from './not-asked.ts';
import { UnclearQuestion, type AccessFault } from './report.ts';
import type { DataDeps } from './visibility.ts';

/** Address and credentials of a target, from its settings. */
export type TargetAddress = Pick<
  TargetSettings,
  'url' | 'token' | 'scimToken' | 'allowLoopbackHttp' | 'timeoutMs'
>;

/** Time that a call waits before `tell` gets the reason, milliseconds. */
const TELL_AFTER_MS = 2000;

/** Status of an answer that refuses the API key. */
const REFUSED_KEY = 401;

export interface Calls extends DataDeps {
  /** Options of each call: aborted by the caller, and when the time for all calls has passed. */
  options: { signal: AbortSignal };
  /**
   * Returns the result; if the platform fails or a choice is unclear, keeps the fault and returns undefined.
   * @throws other errors, and after an abort by the caller
   */
  unlessFault: <T>(work: Promise<T>) => Promise<T | undefined>;
  /** Returns the last fault; undefined: none. */
  fault: () => AccessFault | undefined;
}

/**
 * Opens a client for one target. Each call waits for the request budget, which all processes share, before it is sent. The caller
 * closes `platform`.
 * @param timeoutMs time limit of all calls together
 * @param tell called with a sentence when a call has waited some seconds before it is sent; once for each cause
 */
export function openCalls(
  { clock, target }: ReconcileScope,
  { url, token, scimToken, allowLoopbackHttp, timeoutMs: callMs }: TargetAddress,
  timeoutMs: number,
  signal: AbortSignal,
  tell: (text: string) => void,
): Calls {
  // `begun`: number of calls that asked for the budget; `sent`: number of those that got it.
  const count = { begun: 0, sent: 0 };
  let told = '';
  const tellWait = async (): Promise<void> => {
    const text = heldBackText(target.name, await target.breaker.read());
    if (text !== told) tell(text);
    told = text;
  };
  const admit = async (aborted?: AbortSignal): Promise<void> => {
    count.begun++;
    // If Redis fails here, it fails in `budget.take` too, and that error tells the cause.
    const timer = setTimeout(() => void tellWait().catch(() => undefined), TELL_AFTER_MS);
    try {
      await target.budget.take(aborted);
    } finally {
      clearTimeout(timer);
    }
    count.sent++;
  };
  const wire = { allowLoopbackHttp, timeoutMs: Math.min(callMs, timeoutMs), admit };
  const platform = createPlatformClient({
    ...wire,
    url,
    token,
    clock,
    ...(scimToken === null ? {} : { scimToken }),
  });
  const deadline = timeLimit(timeoutMs);
  const isHeldBack = (): boolean => deadline.aborted && count.sent < count.begun;
  let fault: AccessFault | undefined;
  return {
    clock,
    platform,
    wire,
    timeoutMs,
    isHeldBack,
    options: { signal: AbortSignal.any([signal, deadline]) },
    fault: () => fault,
    async unlessFault(work) {
      try {
        return await work;
      } catch (error) {
        fault = toFault(error, target.name, deadline.aborted ? timeoutMs : undefined);
        if (fault?.at === 'platform' && isHeldBack())
          fault.message = notAskedText(target.name, await target.breaker.read(), {
            timeoutMs,
            isPartly: count.sent > 0,
          });
        // No failure of the platform, or the caller no longer waits for a report.
        if (!fault || signal.aborted) throw error;
        return undefined;
      }
    },
  };
}

/**
 * Returns the fault for a failure of the platform or an unclear choice; undefined for any other error.
 * @param expiredMs the time limit, if it has passed
 */
function toFault(error: unknown, target: string, expiredMs: number | undefined): AccessFault | undefined {
  if (error instanceof UnclearQuestion) return { at: 'choice', message: error.message };
  if (!(error instanceof PlatformError)) return undefined;
  // After the time limit the message of the error names only the abort.
  if (expiredMs !== undefined)
    return {
      at: 'platform',
      message: `${error.method} ${error.route} did not answer within ${expiredMs / 1000} s`,
    };
  const advice =
    error instanceof PlatformResponse && error.status === REFUSED_KEY ? `; ${newKeyAdvice(target)}` : '';
  return { at: 'platform', message: `${messageWithPlatformText(error)}${advice}` };
}
