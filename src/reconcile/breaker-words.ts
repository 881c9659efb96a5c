// Formats how a target fails, and why its calls pause, as text. Pure.

/** @param status of the last answer; 0: no answer @returns words that follow the name of the target */
export function breakerWords(status: number): string {
  if (status === 0) return 'does not answer';
  return status === 401 ? 'refuses the key (401)' : `answers ${status}`;
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
      ? 'the platform refuses the key (401)'
      : asked
        ? `the platform asked for it (HTTP ${status})`
        : `the platform answered HTTP ${status} without Retry-After: the bridge chose the wait`;
  return `all calls pause until ${new Date(until).toISOString()}, because ${cause}`;
}

/** Returns what an operator does about a refused key. */
export const newKeyAdvice = (target: string): string => `set a new targets.${target}.token`;
