// Parses date ranges of queries: two dates, one date, or words such as `last 7 days`, in a time zone.
import { rangeOfWords } from './date-words.ts';
import { userError } from './members.ts';

/** First and last time in the zone, as the engine reads them: `2026-01-31 23:59:59.999`. */
export type Span = readonly [from: string, to: string];

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,6})?(Z|[+-]\d{2}:?\d{2})?$/;
/** Returns true for an IANA zone name that this machine knows. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
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

/** Parses one end of a range; a date without time is its first or last millisecond. Throws 400. */
export function parseMoment(text: string, end: 'from' | 'to', timezone: string): string {
  const fault = (): Error =>
    userError('Error: invalid input syntax for type timestamp with time zone: "Invalid date"');
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

/** Parses words. @throws 400 if they name no date */
function parseWords(words: string, nowMs: number, timezone: string): Span {
  const range = rangeOfWords(words, wallClock(nowMs, timezone));
  if (!range) throw userError(`Can't parse date: '${words.slice(0, 60).toLowerCase()}'`);
  const [first, last] = range;
  return [toText(first), toText(last)];
}

const isWritten = (text: string): boolean => DATE.test(text) || MOMENT.test(text);

/** Parses words, one date, or a list of one or two dates. Throws 400. */
export function parseSpan(range: string | readonly string[], nowMs: number, timezone: string): Span {
  const ends = typeof range === 'string' ? [range] : range;
  const [from = '', to = from] = ends;
  const areWords = ends.length === 1 && !/^\d/.test(from);
  if (areWords) return parseWords(from, nowMs, timezone);
  if (typeof range === 'string' && !isWritten(from)) return parseWords(from, nowMs, timezone);
  return [parseMoment(from, 'from', timezone), parseMoment(to, 'to', timezone)];
}
