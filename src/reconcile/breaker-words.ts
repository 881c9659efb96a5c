// Formats the reason of an open breaker as text. Pure.

/** @param status of the last answer; 0: no answer @returns words that follow the name of the target */
export function breakerWords(status: number): string {
  if (status === 0) return 'does not answer';
  return status === 401 ? 'refuses the key (401)' : `answers ${status}`;
}
