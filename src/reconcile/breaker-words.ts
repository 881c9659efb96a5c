// Formats how a target fails, and why its calls pause, as text. Pure.
import { LONGEST_PAUSE_MS } from '../sync/calls/failures.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LONG_WAIT_MS = 10 * HOUR_MS;

/** How the last call to a target failed. */
interface TargetFailure {
  /** Status of the last answer; 0: no answer; 200: a web page. */
  status: number;
  /** HTTP methods that are answered with 401 while others accept the key. */
  only?: readonly string[] | null | undefined;
  /** Whether the refused key differs from the key in the settings of this process. */
  ofOtherKey?: boolean | undefined;
}

/** Returns how the target fails, in words that follow its name. */
export function breakerWords({ status, only, ofOtherKey }: TargetFailure): string {
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
export const failureSinceWords = (failure: TargetFailure, since: string): string =>
  `${breakerWords(failure)}${failure.status === 401 ? '' : '; no call has succeeded'} since ${since}`;

/** A 2xx reaches this file only when a web page came in place of data. */
const isWebPage = (status: number): boolean => status >= 200 && status < 300;

/** The platform redirects no call. */
const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** Returns the last answer of a target whose calls fail, for a text in brackets. */
export const answerWords = (status: number | undefined): string =>
  !status ? 'no answer' : isWebPage(status) ? 'web pages' : `status ${status}`;

/** A pause of all calls. */
interface ToldPause {
  /** Unix milliseconds or ISO 8601. */
  until: number | string;
  /** Status of the answer that caused the pause. */
  status: number;
  /** Whether the pause has the length that the platform asked for by Retry-After. */
  asked: boolean;
  /** The wait that the platform asked for, if the bridge pauses for less; `asked` is false then. */
  askedMs?: number | undefined;
}

/**
 * Returns words about a pause, which has one of four causes: the key was refused; the platform asked for it; the platform asked for
 * more, and the bridge pauses for less; or the platform did not ask, and the bridge chose its length.
 */
export const pauseWords = (pause: ToldPause): string =>
  `all calls pause until ${new Date(pause.until).toISOString()}, because ${pauseCause(pause)}`;

function pauseCause({ status, asked, askedMs }: ToldPause): string {
  if (status === 401) return 'the platform answered a call with 401';
  if (asked) return `the platform asked for it (HTTP ${status})`;
  return askedMs === undefined
    ? `the platform answered HTTP ${status} without a Retry-After: the bridge chose the wait`
    : `the platform asked for a wait of ${waitText(askedMs)} (HTTP ${status}), and the bridge tries again after ${waitText(LONGEST_PAUSE_MS)} at most`;
}

/** Returns a wait in words: in hours if whole or above ten, else in minutes. */
const waitText = (ms: number): string =>
  ms % HOUR_MS === 0 || ms > LONG_WAIT_MS
    ? `${Math.floor(ms / HOUR_MS)} h`
    : `${Math.ceil(ms / MINUTE_MS)} min`;

/** Advice about a target that answers 403: the tenant has SCIM switched off, or the owner of the key is no administrator. */
export const RIGHTS_ADVICE = 'switch SCIM on for the tenant and use the key of an administrator';

/** Advice about a 403 of which only the status is known. */
const FORBIDDEN_ADVICE = `scim-bridge doctor tells whether the platform or a proxy answers; if it is the platform, ${RIGHTS_ADVICE}`;

/** Returns what an operator does about a target whose calls fail; undefined: no setting or right of the target can mend it. */
export function failureAdvice(target: string, failure: TargetFailure): string | undefined {
  const { status } = failure;
  if (status === 401) return newKeyAdvice(target, failure);
  if (status === 403) return FORBIDDEN_ADVICE;
  return isWebPage(status) || isRedirect(status) ? `check targets.${target}.url, or a proxy` : undefined;
}

/**
 * Returns what an operator does about a refused key. The 20 s: files are read every 2 s (config/secret-files.ts), and a refused
 * change is tried again after 15 s (CREDENTIAL_PAUSE_MS).
 */
export const newKeyAdvice = (
  target: string,
  { only, ofOtherKey }: Pick<TargetFailure, 'only' | 'ofOtherKey'> = {},
): string => {
  const token = `targets.${target}.token`;
  if (only) return `check the rights of ${token}, and any gateway before the platform`;
  return ofOtherKey
    ? `a process takes a key over from its file and tries it within 20 s; if this is still said then, restart the service, unless it was restarted since, so that every process uses the ${token} of these settings`
    : `set a new ${token}, and restart the service unless it takes the token over from its file`;
};
