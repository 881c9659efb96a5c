// Parses the expiry of tokens, and decides when operators are warned.
import { parseDate } from '../support/dates.ts';

const DAY_MS = 86_400_000;
/** Minutes, hours, days and weeks, as a time from now is written. */
const UNIT_MS = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
/** Days before the expiry at which a warning is logged, descending. */
const WARN_DAYS = [30, 7, 1];

const PAST = { fault: 'is in the past.' };
const UNREADABLE = { fault: 'is not understood: write 90d, 12h, 4w, or a date such as 2027-01-31.' };

/**
 * Parses an expiry: a time from `now` such as `90d`, `12h`, `30m` or `4w`, a date and time such as 2027-01-31T00:00:00Z, or a
 * date (its start in UTC). `now` and `at` are Unix milliseconds.
 * @returns `fault`: end of a sentence whose subject is the expiry
 */
export function parseExpiry(text: string, now: number): { at: number } | { fault: string } {
  const span = /^(\d{1,5})([mhdw])$/.exec(text);
  if (span) {
    const [, count, unit] = span;
    const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
    return ms > 0 ? { at: now + ms } : PAST;
  }
  const at = parseDate(text);
  if (at === undefined) return UNREADABLE;
  return at > now ? { at } : PAST;
}

/** Returns the number of days in the warning: 0 for an expired token, else 1, 7 or 30; undefined more than 30 days before. */
export function warningOf(expiresAt: number, now: number): number | undefined {
  if (expiresAt <= now) return 0;
  return WARN_DAYS.findLast((days) => expiresAt - now <= days * DAY_MS);
}

/** Returns the number of days until a time, rounded up. */
export const daysUntil = (expiresAt: number, now: number): number => Math.ceil((expiresAt - now) / DAY_MS);
