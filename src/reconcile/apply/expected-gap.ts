// Computes times of a schedule: the longest time between two reconciles, for the alert about a missing one, and the
// next reconcile.
import cron from 'node-cron';

/** Number of future runs that are computed. */
const RUNS = 600;
/** Number of runs that are computed if the first ones span less than ENOUGH_MS. */
const MOST_RUNS = 8000;
/** A week and a day: a shorter span may not contain the longest gap of a weekly schedule, such as a weekend. */
const ENOUGH_MS = 8 * 86_400_000;

/**
 * Returns the longest time between two of the next runs, in milliseconds; null without a schedule, and for one that never
 * runs or is not valid.
 * @param schedule node-cron pattern
 */
export function expectedGapMs(schedule: string | null, timezone: string): number | null {
  if (schedule === null) return null;
  try {
    const task = cron.createTask(schedule, () => undefined, { timezone });
    const few = task.getNextRuns(RUNS);
    const isShort = Number(few.at(-1)) - Number(few[0]) < ENOUGH_MS;
    const moments = (isShort ? task.getNextRuns(MOST_RUNS) : few).map(Number);
    void task.destroy();
    // A loop, because Math.max would get thousands of arguments.
    let longest = 0;
    for (const [index, moment] of moments.entries())
      longest = Math.max(longest, moment - (moments[index - 1] ?? moment));
    return longest > 0 ? longest : null;
  } catch {
    return null;
  }
}

/** Returns a function that returns the next run of a schedule, Unix milliseconds; null without one. */
export function nextRunOf(schedule: string | null, timezone: string): (now: number) => number | null {
  if (schedule === null) return () => null;
  const task = cron.createTask(schedule, () => undefined, { timezone });
  let known: number | null = null;
  return (now) => {
    if (known !== null && known > now) return known;
    try {
      known = task.getNextRuns(1)[0]?.getTime() ?? null;
    } catch {
      // A pattern that never fits, such as the 30th of February.
      known = null;
    }
    return known;
  };
}
