// Parses the date ranges of queries and the dates of filters, in a time zone. Both may be dates (`2026-01-31`), moments
// (a date with a time) or words such as `last 7 days`.
import { LATEST_MS } from '../../support/sources.ts';
import { rangeOfWords } from './date-words.ts';
import { userError } from './members.ts';

/** First and last time in the zone, as the engine reads them: `2026-01-31 23:59:59.999`. */
export type Span = readonly [from: string, to: string];

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** A date with a time in the forms of ISO 8601: year, month, day, hours, minutes, seconds, fraction, offset. */
const MOMENT =
  /^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2}):?(\d{2})(?::?(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;
/** A date or a moment; any other text in a filter is taken as words. */
const DATE_OR_MOMENT = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$/;

/** Returns the zone as the list of zones spells it; undefined for a name that this machine does not know. */
export function zoneNamed(name: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return undefined;
  try {
    const zone = Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone;
    return zone.toLowerCase() === name.toLowerCase() ? zone : name;
  } catch {
    // A RangeError: the name is not a zone.
    return undefined;
  }
}

/** Returns true for an IANA zone name that this machine knows. */
export const isTimezone = (name: string): boolean => zoneNamed(name) !== undefined;

/** Returns the local time of `ms` in `timezone`, stored in a Date's UTC fields. */
export function wallClock(ms: number, timezone: string): Date {
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
  // The format above has every part that is read here.
  const at = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return new Date(
    Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second'), ms % 1000),
  );
}

/** Returns the time in the UTC fields as the engine reads it: `2026-01-31 12:00:00.000`. */
const toText = (date: Date): string => date.toISOString().slice(0, -1).replace('T', ' ');
const invalidDate = (): Error =>
  userError('Error: invalid input syntax for type timestamp with time zone: "Invalid date"');

/**
 * Parses a date (also `20260131`) or a moment, and other text as Date.parse does. Without an offset the text is UTC; `ms` is
 * NaN for no date.
 */
function readMoment(text: string): { ms: number; hasOffset: boolean } {
  const [, year, month, day, hours, minutes, seconds = '00', fraction = '', offset] = MOMENT.exec(text) ?? [];
  const date =
    year === undefined ? /^(\d{4})(\d{2})(\d{2})$/.exec(text)?.slice(1).join('-') : `${year}-${month}-${day}`;
  // Date.parse reads a year or a month alone as UTC.
  if (date === undefined)
    return { ms: Date.parse(/^\d{4}(-\d{2})?$/.test(text) ? text : `${text} UTC`), hasOffset: false };
  // The point and three digits of the fraction: milliseconds.
  const time = hours === undefined ? '00:00:00' : `${hours}:${minutes}:${seconds}${fraction.slice(0, 4)}`;
  // `+0200` and `+02` become `+02:00`.
  const zone =
    offset === undefined || offset === 'Z'
      ? 'Z'
      : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
  // False for a day that the month does not have.
  const isDay = !Number.isNaN(Date.parse(date)) && toText(new Date(date)).slice(0, 10) === date;
  return { ms: isDay ? Date.parse(`${date}T${time}${zone}`) : NaN, hasOffset: offset !== undefined };
}

const timeOfEnd = (end: 'from' | 'to'): string => (end === 'from' ? '00:00:00.000' : '23:59:59.999');

/**
 * Returns one end of a range. A moment with an offset becomes its UTC time, which is then used as a time in the zone,
 * as in Cube. @throws 400
 */
function endOfRange(text: string, end: 'from' | 'to'): string {
  if (DATE.test(text)) {
    if (Number.isNaN(readMoment(`${text}T00:00`).ms)) throw invalidDate();
    return `${text} ${timeOfEnd(end)}`;
  }
  const { ms } = readMoment(text);
  if (Number.isNaN(ms) || Math.abs(ms) > LATEST_MS) throw invalidDate();
  return toText(new Date(ms));
}

/**
 * Returns a date or moment of a filter as a time in the zone. A day that the month does not have becomes a day of the
 * next month. @throws 400
 */
export function momentOfFilter(text: string, end: 'from' | 'to', timezone: string): string {
  if (DATE.test(text)) {
    const ms = Date.parse(`${text}T${timeOfEnd(end)}Z`);
    if (Number.isNaN(ms)) throw invalidDate();
    return toText(new Date(ms));
  }
  const { ms, hasOffset } = readMoment(text);
  if (Number.isNaN(ms)) throw invalidDate();
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
