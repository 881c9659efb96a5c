// Truncates times to granularities: the predefined ones, and those that a model defines with an interval.
import { momentOfFilter } from './date-range.ts';
import { wallClock } from './time-zone.ts';
import type { CustomGranularity } from './model.ts';

export const GRANULARITIES = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
type Unit = (typeof GRANULARITIES)[number];

/** An interval as the engine adds it: months and days have no fixed length. */
interface Interval {
  readonly months: number;
  readonly days: number;
  readonly seconds: number;
}

/** Returns the SQL of the beginning of the interval that contains the time of a column. */
export type TimeBucket = (column: string) => string;

// Length of each unit: those of the calendar in months and days, the others in seconds.
const MONTHS: Partial<Record<Unit, number>> = { month: 1, quarter: 3, year: 12 };
const DAYS: Partial<Record<Unit, number>> = { day: 1, week: 7 };
const SECONDS: Partial<Record<Unit, number>> = { second: 1, minute: 60, hour: 3600 };
/**
 * Number of each unit in the next longer unit. The intervals of a granularity without an origin begin with the year, so
 * their length must divide this number; it is 1 where only an interval of one unit fits.
 */
const UNITS_IN_NEXT: Readonly<Record<Exclude<Unit, 'year'>, number>> = {
  second: 60,
  minute: 60,
  hour: 24,
  day: 1,
  week: 1,
  month: 12,
  quarter: 4,
};
/** Largest number of pairs of a count and a unit in one interval. */
const MAX_PARTS = 8;

/** Parses an interval such as `1 month 10 days`; undefined for other text. */
function partsOf(text: string): { count: number; unit: Unit }[] | undefined {
  const words = text.split(/\s+/);
  if (words.length % 2 !== 0 || words.length > 2 * MAX_PARTS) return undefined;
  const parts = Array.from({ length: words.length / 2 }, (_, index) => {
    const [count = '', written = ''] = words.slice(2 * index);
    const unit = GRANULARITIES.find((known) => known === written || `${known}s` === written);
    return unit && /^-?\d{1,6}$/.test(count) ? { count: Number(count), unit } : undefined;
  });
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

function intervalOf(text: string): Interval {
  const total = { months: 0, days: 0, seconds: 0 };
  for (const { count, unit } of partsOf(text) ?? []) {
    total.months += count * (MONTHS[unit] ?? 0);
    total.days += count * (DAYS[unit] ?? 0);
    total.seconds += count * (SECONDS[unit] ?? 0);
  }
  return total;
}

/** Returns the fault of a granularity as text, or undefined when it is valid. */
export function granularityFault({
  interval,
  offset,
  origin,
}: Omit<CustomGranularity, 'title'>): string | undefined {
  const parts = partsOf(interval);
  const [only, ...others] = parts ?? [];
  if (!only || parts?.some(({ count }) => count <= 0))
    return '"interval" must be a count and a unit, such as "1 year" or "2 weeks"';
  if (offset !== undefined && origin !== undefined) return 'a granularity has "offset" or "origin", not both';
  if (offset !== undefined && !partsOf(offset))
    return '"offset" must be a count and a unit, such as "-1 day"';
  if (origin !== undefined)
    return isMoment(origin) ? undefined : '"origin" must be a date or a moment, such as "2026-01-05"';
  const dividesNext = only.unit === 'year' || UNITS_IN_NEXT[only.unit] % only.count === 0;
  return others.length === 0 && dividesNext
    ? undefined
    : `the interval "${interval}" needs "origin", because it does not divide the next longer unit`;
}

function isMoment(text: string): boolean {
  try {
    momentOfFilter(text, 'from', 'UTC');
    return true;
  } catch {
    // The text is no date.
    return false;
  }
}

const intervalSql = ({ months, days, seconds }: Interval): string =>
  `(to_months(${months}) + to_days(${days}) + to_seconds(${seconds}))`;

/** Returns the beginning of one interval in the zone: the origin, else the beginning of the year with the offset. */
function originOf(granularity: CustomGranularity, nowMs: number, timezone: string): string {
  const { interval, offset, origin } = granularity;
  if (origin !== undefined) return `TIMESTAMP '${momentOfFilter(origin, 'from', timezone)}'`;
  const start = new Date(Date.UTC(wallClock(nowMs, timezone).getUTCFullYear(), 0, 1));
  // Intervals of weeks begin on a Monday.
  if (partsOf(interval)?.every(({ unit }) => unit === 'week'))
    start.setUTCDate(start.getUTCDate() - ((start.getUTCDay() + 6) % 7));
  const text = `TIMESTAMP '${start.toISOString().slice(0, -1).replace('T', ' ')}'`;
  return offset === undefined ? text : `(${text} + ${intervalSql(intervalOf(offset))})`;
}

/** Returns the length as PostgreSQL counts it: a year has 365.25 days, a month 30. */
const secondsOf = ({ months, days, seconds }: Interval): number =>
  Math.trunc(months / 12) * 365.25 * 86_400 + (months % 12) * 30 * 86_400 + days * 86_400 + seconds;

/** Returns the bucket of a predefined granularity. */
export const plainTimeBucket =
  (unit: Unit): TimeBucket =>
  (column) =>
    `date_trunc('${unit}', ${column})`;

/** Returns the bucket of a granularity of the model, in the way of Cube over PostgreSQL. */
export function customTimeBucket(
  granularity: CustomGranularity,
  nowMs: number,
  timezone: string,
): TimeBucket {
  const { interval, offset } = granularity;
  const [only, ...others] = partsOf(interval) ?? [];
  if (only?.count === 1 && others.length === 0) {
    const moved = offset === undefined ? undefined : intervalSql(intervalOf(offset));
    // An interval of one unit follows the calendar, so an origin has no effect.
    return (column) =>
      moved === undefined
        ? `date_trunc('${only.unit}', ${column})`
        : `(date_trunc('${only.unit}', ${column} - ${moved}) + ${moved})`;
  }
  const { months, days, seconds } = intervalOf(interval);
  const origin = originOf(granularity, nowMs, timezone);
  const length = secondsOf({ months, days, seconds });
  return (column) => {
    // Number of whole intervals from the origin to the time.
    const count = `CAST(floor((epoch(${column}) - epoch(${origin})) / ${length}) AS INTEGER)`;
    const parts = [
      `to_months(${months} * ${count})`,
      `to_days(${days} * ${count})`,
      `to_seconds(${seconds} * ${count})`,
    ];
    return `(${origin} + (${parts.join(' + ')}))`;
  };
}
