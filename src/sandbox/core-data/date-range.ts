// Parses the date ranges of queries and the dates of filters, in a time zone. Both may be dates (`2026-01-31`), moments
// (a date with a time) or words such as `last 7 days`.
import { rangeOfWords } from './date-words.ts';
import { userError } from './members.ts';
import { wallClock } from './time-zone.ts';

/** First and last time in the zone, as the engine reads them: `2026-01-31 23:59:59.999`. */
export type Span = readonly [from: string, to: string];

/** An end of a range. A date without a time means the first time of its day at `from`, the last at `to`. */
type RangeEnd = 'from' | 'to';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** A date without hyphens: year, month, day. */
const COMPACT_DATE = /^(\d{4})(\d{2})(\d{2})$/;
/** A year, or a year and a month. */
const YEAR_OR_MONTH = /^\d{4}(-\d{2})?$/;
/** A date with a time in the forms of ISO 8601: year, month, day, hours, minutes, seconds, fraction, offset. */
const MOMENT =
  /^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2}):?(\d{2})(?::?(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;
/** A date or a moment in a filter. It allows fewer forms than MOMENT: any other text in a filter is taken as words. */
const DATE_OR_MOMENT = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$/;

/** Returns the time in the UTC fields as the engine reads it: `2026-01-31 12:00:00.000`. */
const toText = (date: Date): string => date.toISOString().slice(0, -1).replace('T', ' ');
const invalidDate = (): Error =>
  userError('Error: invalid input syntax for type timestamp with time zone: "Invalid date"');

/** Returns the time of a date, a moment or any other text that Date.parse knows, Unix milliseconds; NaN if it is none. */
function parseTime(text: string): number {
  const moment = MOMENT.exec(text);
  if (moment) return timeOfMoment(moment);
  const compact = COMPACT_DATE.exec(text);
  if (compact) return startOfDay(compact.slice(1).join('-'));
  // Date.parse reads a year or a month as UTC; any other text needs ` UTC` for it.
  return Date.parse(YEAR_OR_MONTH.test(text) ? text : `${text} UTC`);
}

/** Returns the time of a match of MOMENT, UTC if it has no offset; NaN for a day or a time that does not exist. */
function timeOfMoment(moment: RegExpExecArray): number {
  const [, year, month, day, hours, minutes, seconds = '00', fraction = '', offset = 'Z'] = moment;
  const date = `${year}-${month}-${day}`;
  if (Number.isNaN(startOfDay(date))) return NaN;
  // The point and three digits of the fraction: milliseconds.
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}${fraction.slice(0, 4)}${withMinutes(offset)}`);
}

/** Returns an offset as Date.parse takes it: `+0200` and `+02` become `+02:00`. */
const withMinutes = (offset: string): string =>
  offset === 'Z' ? offset : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;

/**
 * Returns the start of a day in UTC; NaN for a day that the month does not have, which Date.parse moves into the next month.
 */
function startOfDay(date: string): number {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && toText(new Date(ms)).startsWith(date) ? ms : NaN;
}

/** Returns the first or the last time of a day. */
const edgeOfDay = (end: RangeEnd): string => (end === 'from' ? '00:00:00.000' : '23:59:59.999');

/**
 * Returns one end of a range. A moment with an offset becomes its UTC time, which is then used as a time in the zone,
 * as in Cube. @throws 400
 */
function endOfRange(text: string, end: RangeEnd): string {
  const ms = DATE.test(text) ? startOfDay(text) : parseTime(text);
  if (Number.isNaN(ms)) throw invalidDate();
  return DATE.test(text) ? `${text} ${edgeOfDay(end)}` : toText(new Date(ms));
}

/**
 * Returns a date or moment of a filter as a time in the zone. A date whose day the month does not have becomes a day of the
 * next month. @throws 400
 */
export function momentOfFilter(text: string, end: RangeEnd, timezone: string): string {
  const ms = DATE.test(text) ? Date.parse(`${text}T${edgeOfDay(end)}Z`) : parseTime(text);
  if (Number.isNaN(ms)) throw invalidDate();
  // A time without an offset is a time in the zone already.
  const hasOffset = MOMENT.exec(text)?.at(-1) !== undefined;
  return toText(hasOffset ? wallClock(ms, timezone) : new Date(ms));
}

/** Returns true for a value of a filter that is a date or a moment, not words. */
export const isDateOrMoment = (text: string): boolean => DATE_OR_MOMENT.test(text);

/** Returns the range that words name. @throws 400 if they name no date */
export function parseWords(words: string, nowMs: number, timezone: string): Span {
  const [first, last] = rangeOfWords(words, wallClock(nowMs, timezone));
  return [toText(first), toText(last)];
}

/** Returns the range of words, or of a list with one or two dates or moments. @throws 400 */
export function parseSpan(range: string | readonly string[], nowMs: number, timezone: string): Span {
  if (typeof range === 'string') return parseWords(range, nowMs, timezone);
  const [from = '', to = from] = range;
  return [endOfRange(from, 'from'), endOfRange(to, 'to')];
}
