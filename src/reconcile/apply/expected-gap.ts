// Computes times of a schedule: the longest time between two reconciles, for the alert about a missing one, and the
// next reconcile.
import cron from 'node-cron';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS_OF_YEAR = 366;

/**
 * Returns the longest time between two runs of a schedule, in milliseconds; null without a schedule, and for one that never runs or
 * is not valid. The change to and from daylight saving time is left out.
 *
 * Looks at each field alone: all runs of a year would be too many, and a schedule has the same times on each of its days. The
 * longest time is the longest gap of one field, less the part that the finer fields fill: `0,30 8-17 * * *` has a gap of 15 hours
 * from 17:00 to 8:00, of which the run at 17:30 fills half an hour.
 * @param schedule node-cron pattern, of five fields or of six (with seconds)
 */
export function expectedGapMs(schedule: string | null): number | null {
  if (schedule === null) return null;
  const fields = schedule.trim().split(/\s+/);
  const [second = '', minute = '', hour = '', ...days] = fields.length === 6 ? fields : ['0', ...fields];
  try {
    const byField = [
      gapOf(nextRuns(`${second} * * * * *`, 60), MINUTE),
      gapOf(nextRuns(`0 ${minute} * * * *`, 60), HOUR),
      gapOf(nextRuns(`0 0 ${hour} * * *`, 24), DAY),
      gapOf(daysOf(days.join(' ')), Infinity),
    ];
    let longest = 0;
    let filledByFiner = 0;
    for (const { gap, span } of byField) {
      longest = Math.max(longest, gap - filledByFiner);
      filledByFiner += span;
    }
    return longest;
  } catch {
    return null;
  }
}

/** Returns the next `count` runs of a pattern, and the one after them, which ends the last gap; Unix milliseconds. */
function nextRuns(pattern: string, count: number): number[] {
  const task = cron.createTask(pattern, () => undefined, { timezone: 'UTC' });
  const runs = task.getNextRuns(count + 1).map(Number);
  void task.destroy();
  return runs;
}

/**
 * Returns the next midnights that fit the fields day, month and weekday: 366 of them, which span a year at least. If twelve span a
 * year already, only these: of a yearly schedule, 366 midnights would take the search centuries ahead.
 */
function daysOf(fields: string): number[] {
  const few = nextRuns(`0 0 0 ${fields}`, 12);
  return Number(few.at(-1)) - Number(few[0]) < DAYS_OF_YEAR * DAY
    ? nextRuns(`0 0 0 ${fields}`, DAYS_OF_YEAR)
    : few;
}

/** Returns the longest gap between runs, and the time from the first to the last run of a period. */
function gapOf(runs: readonly number[], periodMs: number): { gap: number; span: number } {
  const gaps = runs.slice(1).map((run, index) => run - Number(runs[index]));
  const offsets = runs.map((run) => run % periodMs);
  return { gap: Math.max(...gaps), span: Math.max(...offsets) - Math.min(...offsets) };
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
