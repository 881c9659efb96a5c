// Computes times of a schedule: the longest time between two reconciles, for the alert about a missing one, and the
// next reconcile.
import cron from 'node-cron';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Returns the longest time between two runs of a schedule, in milliseconds; null without a schedule, and for one that never runs
 * or is not valid. The change to and from daylight saving time is left out.
 *
 * A list of all runs would have to span weeks, which are 20,000 runs of a schedule with one run a minute. So each field is listed
 * alone: the times of a day are the same on all days, and the longest time is a gap of one field, less what the finer fields
 * fill of it.
 * @param schedule node-cron pattern, of five fields or of six (with seconds)
 */
export function expectedGapMs(schedule: string | null): number | null {
  if (schedule === null) return null;
  const fields = schedule.trim().split(/\s+/);
  const [second = '', minute = '', hour = '', ...days] = fields.length === 6 ? fields : ['0', ...fields];
  try {
    const byField = [
      runsIn(`${second} * * * * *`, MINUTE, 60),
      runsIn(`0 ${minute} * * * *`, HOUR, 60),
      runsIn(`0 0 ${hour} * * *`, DAY, 24),
      runsIn(`0 0 0 ${days.join(' ')}`, Infinity, 60),
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

/**
 * Returns the longest gap between the next runs of a pattern, and the time from the first to the last run in a period.
 * @param count number of runs: at least those of a period
 */
function runsIn(pattern: string, periodMs: number, count: number): { gap: number; span: number } {
  const task = cron.createTask(pattern, () => undefined, { timezone: 'UTC' });
  // One more, so that the gap behind the last run of a period is among the gaps.
  const runs = task.getNextRuns(count + 1).map(Number);
  void task.destroy();
  const gaps = runs.slice(1).map((run, index) => run - Number(runs[index]));
  const places = runs.map((run) => run % periodMs);
  return { gap: Math.max(...gaps), span: Math.max(...places) - Math.min(...places) };
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
