// Formats how a target fails, and why its calls pause, as text. Pure.
import { LONGEST_PAUSE_MS } from '../sync/calls/failures.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LONG_WAIT_MS = 10 * HOUR_MS;

interface ToldBreaker {
  /** Status of the last answer; 0: no answer; 200: a web page. */
  status: number;
  /** Methods that are answered with 401 while the key is accepted for others. */
  only?: readonly string[] | null | undefined;
  /** The refused key is not the one of the settings that this process has read. */
  ofOtherKey?: boolean | undefined;
}

/** Returns how the target fails, in words that follow its name. */
export function breakerWords({ status, only, ofOtherKey }: ToldBreaker): string {
  if (status === 0) return 'does not answer';
  if (isWebPage(status)) return 'answers with web pages (a wrong url, or a proxy)';
  if (isRedirect(status)) return `answers with redirects (${status}; a wrong url, a proxy or a sign-in page)`;
  if (status !== 401) return `answers ${status}`;
  if (only) return `answers ${only.join(' and ')} with 401 and accepts the key for other calls`;
  return ofOtherKey
    ? 'refuses the key (401) of a process of the service (not the key of these settings)'
    : 'refuses the key (401)';
}

/**
 * Returns how the target fails, and since when, in words that follow its name. A refused key (401) has a time of its own. All
 * other failures share the time of the first failure in a row, which may have been of another kind than the last one.
 * @param since time of BreakerState.since as text
 */
export const failureSinceWords = (failure: ToldBreaker, since: string): string =>
  `${breakerWords(failure)}${failure.status === 401 ? '' : '; no call has succeeded'} since ${since}`;

/** A success counts as a failure only if it is a web page in place of data. */
const isWebPage = (status: number): boolean => status >= 200 && status < 300;

/** The platform redirects no call. */
const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** Returns the last answer of a target whose calls fail, for a text in brackets. */
export const answerWords = (status: number | undefined): string =>
  !status ? 'no answer' : isWebPage(status) ? 'web pages' : `status ${status}`;

/**
 * A pause of all calls until a time, Unix milliseconds or ISO 8601. `asked`: the platform set it by Retry-After. `askedMs`: it asked
 * for this longer wait.
 */
interface ToldPause {
  until: number | string;
  status: number;
  asked: boolean;
  askedMs?: number | undefined;
}

/** Returns words about a pause that the platform asked for, that the bridge chose, or that follows a refused key. */
export const pauseWords = (pause: ToldPause): string =>
  `all calls pause until ${new Date(pause.until).toISOString()}, because ${pauseCause(pause)}`;

function pauseCause({ status, asked, askedMs }: ToldPause): string {
  if (status === 401) return 'the platform answered a call with 401';
  if (asked) return `the platform asked for it (HTTP ${status})`;
  return askedMs === undefined
    ? `the platform answered HTTP ${status} without a Retry-After: the bridge chose the wait`
    : `the platform asked for a wait of ${waitText(askedMs)} (HTTP ${status}), and the bridge tries again after ${waitText(LONGEST_PAUSE_MS)} at most`;
}

/** Returns a wait in words: in hours if they are whole or many. */
const waitText = (ms: number): string =>
  ms % HOUR_MS === 0 || ms > LONG_WAIT_MS
    ? `${Math.floor(ms / HOUR_MS)} h`
    : `${Math.ceil(ms / MINUTE_MS)} min`;

/** Advice about a target that answers 403: the tenant has SCIM switched off, or the owner of the key is no administrator. */
export const RIGHTS_ADVICE = 'switch SCIM on for the tenant and use the key of an administrator';

/** Advice about a 403 of which only the status is known. */
const FORBIDDEN_ADVICE = `scim-bridge doctor tells whether the platform or a proxy answers; if it is the platform, ${RIGHTS_ADVICE}`;

/** Returns what an operator does about a target whose calls fail; undefined: no setting or right of the target can mend it. */
export function failureAdvice(target: string, failure: ToldBreaker): string | undefined {
  const { status } = failure;
  if (status === 401) return newKeyAdvice(target, failure);
  if (status === 403) return FORBIDDEN_ADVICE;
  return isWebPage(status) || isRedirect(status) ? `check targets.${target}.url, or a proxy` : undefined;
}

/** Returns what an operator does about a refused key. */
export const newKeyAdvice = (
  target: string,
  { only, ofOtherKey }: Pick<ToldBreaker, 'only' | 'ofOtherKey'> = {},
): string => {
  const token = `targets.${target}.token`;
  if (only) return `check the rights of ${token}, and any gateway before the platform`;
  return ofOtherKey
    ? `restart the service, unless it was restarted since, so that every process uses the ${token} of these settings`
    : `set a new ${token}, and restart the service unless it takes the token over from its file`;
};
