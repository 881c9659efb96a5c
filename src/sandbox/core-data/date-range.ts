// Parses date ranges of queries: two dates, one date, or words such as `last 7 days`, in a time zone.
import { userError } from './members.ts';

/** First and last time in the zone, as the engine reads them: `2026-01-31 23:59:59.999`. */
export type Span = readonly [from: string, to: string];

type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,6})?(Z|[+-]\d{2}:?\d{2})?$/;
const NAMED: Readonly<Record<string, string>> = {
  today: 'this day',
  yesterday: 'last day',
  tomorrow: 'next day',
};
/** Larger counts are outside the range of dates. */
const MAX_COUNT = 10_000;

/** Returns true for an IANA zone name that this machine knows. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z0-9_+\-/]{1,64}$/.test(name)) return false;
  try {
    return Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // A RangeError: the name is not a zone.
    return false;
  }
}

/** Returns the local time of `ms` in `timezone`, stored in a Date's UTC fields. */
function wallClock(ms: number, timezone: string): Date {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const at = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return new Date(
    Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second'), ms % 1000),
  );
}

const toText = (date: Date): string => date.toISOString().slice(0, -1).replace('T', ' ');

/** Returns the first day of the unit that contains `date`; weeks begin on Monday. */
function startOf(unit: Unit, date: Date): Date {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (unit === 'year') return new Date(Date.UTC(year, 0, 1));
  if (unit === 'quarter') return new Date(Date.UTC(year, month - (month % 3), 1));
  if (unit === 'month') return new Date(Date.UTC(year, month, 1));
  const weekday = unit === 'week' ? (date.getUTCDay() + 6) % 7 : 0;
  return new Date(Date.UTC(year, month, day - weekday));
}

function shift(unit: Unit, date: Date, count: number): Date {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (unit === 'day' || unit === 'week') {
    return new Date(Date.UTC(year, month, day + count * (unit === 'week' ? 7 : 1)));
  }
  const months = { month: 1, quarter: 3, year: 12 }[unit];
  return new Date(Date.UTC(year, month + count * months, day));
}

function toSpan(from: Date, end: Date): Span {
  return [toText(from), toText(new Date(end.getTime() - 1))];
}

/**
 * Parses `this month`, `last week`, `last 7 days`, `next 2 quarters`; without a number it is the whole previous
 * or next unit.
 */
function relativeSpan(words: string, nowMs: number, timezone: string): Span | undefined {
  const text = words.trim().toLowerCase();
  const named = Object.hasOwn(NAMED, text) ? NAMED[text] : text;
  const [, which, count = '1', name] =
    /^(this|last|next)(?: (\d{1,5}))? (day|week|month|quarter|year)s?$/.exec(named ?? '') ?? [];
  const number = Number(count);
  if (which === undefined || number < 1 || number > MAX_COUNT) return undefined;
  const unit = name as Unit;
  const current = startOf(unit, wallClock(nowMs, timezone));
  if (which === 'this') return number === 1 ? toSpan(current, shift(unit, current, 1)) : undefined;
  if (which === 'last') return toSpan(shift(unit, current, -number), current);
  const next = shift(unit, current, 1);
  return toSpan(next, shift(unit, next, number));
}

/** Parses one end of a range; a date without time is its first or last millisecond. Throws 400. */
export function parseMoment(text: string, end: 'from' | 'to', timezone: string): string {
  const fault = (): Error => userError(`'${text.slice(0, 60)}' is not a date`);
  if (DATE.test(text)) {
    if (Number.isNaN(Date.parse(text)) || toText(new Date(text)).slice(0, 10) !== text) throw fault();
    return `${text} ${end === 'from' ? '00:00:00.000' : '23:59:59.999'}`;
  }
  const [, date, minutes, seconds = ':00', fraction = '', zone] = MOMENT.exec(text) ?? [];
  const plain = `${date} ${minutes}${seconds}${fraction}`;
  const ms = Date.parse(`${plain.replace(' ', 'T')}${zone ?? 'Z'}`);
  if (date === undefined || Number.isNaN(ms)) throw fault();
  return zone === undefined ? plain : toText(wallClock(ms, timezone));
}

/** Parses words, one date, or a list of one or two dates. Throws 400. */
export function parseSpan(range: unknown, nowMs: number, timezone: string): Span {
  const ends = typeof range === 'string' ? [range] : range;
  if (!Array.isArray(ends) || ends.length < 1 || ends.length > 2) {
    throw userError('dateRange must be a text or a list of two dates');
  }
  const [from, to = from] = ends as unknown[];
  if (typeof from !== 'string' || typeof to !== 'string') throw userError('dateRange must hold texts');
  const relative = ends.length === 1 ? relativeSpan(from, nowMs, timezone) : undefined;
  return relative ?? [parseMoment(from, 'from', timezone), parseMoment(to, 'to', timezone)];
}
