// Says why calls of verify-access were not sent (the target is paused, fails, or limits the rate), and how calls to a target fail.
// Pure.
import { isKeyRefused, type BreakerState } from '../directory/outbox/breaker.ts';
import { failureAdvice, failureSinceWords, newKeyAdvice, pauseWords } from '../reconcile/breaker-words.ts';
import { isoTime } from '../support/sources.ts';

/**
 * Returns a sentence, without its full stop, that says why the calls to a target, or some of them, were not sent within the time
 * limit.
 * @param state of the breaker at the end of the time limit
 * @param limit.timeoutMs the time limit, milliseconds
 * @param limit.isPartly whether the other calls were sent
 */
export function notAskedText(
  target: string,
  state: BreakerState,
  { timeoutMs, isPartly }: { timeoutMs: number; isPartly: boolean },
): string {
  const asked = isPartly ? 'was not asked for everything' : 'was not asked';
  return `${target} ${asked} within ${timeoutMs / 1000} s: ${causeOf(target, state)}`;
}

/** Returns a sentence, without its full stop, about a target to which no call is sent now. */
export function heldBackText(target: string, state: BreakerState): string {
  const { pause } = state;
  const end = pause && isKeyRefused(state) ? `; ${pauseWords(pause)}` : '';
  return `waits for ${target}: ${causeOf(target, state)}${end}`;
}

/** Returns how the calls to a target fail, with advice for the operator, without full stop; undefined: they do not fail. */
export function badAnswersText(target: string, state: BreakerState): string | undefined {
  // `since` is set while the breaker is open or the key is refused. Status 0: no answer.
  const { open, since = 0, status = 0 } = state;
  if (!open && !isKeyRefused(state)) return undefined;
  const failure = { ...state, status };
  const advice = failureAdvice(target, failure);
  return `${target} ${failureSinceWords(failure, isoTime(since))}${advice === undefined ? '' : `: ${advice}`}`;
}

/** Returns why the calls to the target waited. */
function causeOf(target: string, state: BreakerState): string {
  // `since` is set while the breaker is open or the key is refused. Status 0: no answer.
  const { open, since = 0, status = 0, pause } = state;
  if (isKeyRefused(state))
    return `${target} ${failureSinceWords({ ...state, status }, isoTime(since))}: ${newKeyAdvice(target, state)}`;
  if (pause) return pauseWords(pause);
  if (open) return `${target} ${failureSinceWords({ status }, isoTime(since))}, so only probes are sent`;
  return `targets.${target}.rateLimit, or a pause that has just ended, held the calls back`;
}
