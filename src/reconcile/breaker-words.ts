// Formats how a target fails, and why its calls pause, as text. Pure.

interface ToldBreaker {
  /** Status of the last answer; 0: no answer. */
  status: number;
  /** Methods that are answered with 401 while the key is accepted for others. */
  only?: readonly string[] | null | undefined;
}

/** Returns words that follow the name of the target. */
export function breakerWords({ status, only }: ToldBreaker): string {
  if (status === 0) return 'does not answer';
  if (status !== 401) return `answers ${status}`;
  return only
    ? `answers ${only.join(' and ')} with 401 and accepts the key for other calls`
    : 'refuses the key (401)';
}

interface ToldPause {
  until: number | string;
  status: number;
  asked: boolean;
}

/** Returns words about a pause that the platform asked for, that the bridge chose, or that follows a refused key. */
export function pauseWords({ until, status, asked }: ToldPause): string {
  const cause =
    status === 401
      ? 'the platform answered a call with 401'
      : asked
        ? `the platform asked for it (HTTP ${status})`
        : `the platform answered HTTP ${status} without Retry-After: the bridge chose the wait`;
  return `all calls pause until ${new Date(until).toISOString()}, because ${cause}`;
}

/** Returns what an operator does about a refused key. */
export const newKeyAdvice = (target: string, only?: ToldBreaker['only']): string =>
  only
    ? `check the rights of targets.${target}.token, and any gateway before the platform`
    : `set a new targets.${target}.token`;
