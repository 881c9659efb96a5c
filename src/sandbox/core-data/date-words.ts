// Parses words for dates. As in Cube, `rangeOfWords` tries the forms in this order: `last week`, `next 2 quarters`, `today`,
// `from A to B`, `A to B`, and other English phrases (`naturalMoment`). The last three name moments, which are widened to whole
// units.
import { userError } from './members.ts';

/** Local times in the UTC fields of a Date; both ends are included. */
type WordRange = readonly [first: Date, last: Date];
type TimeUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

const UNITS = 'day|week|month|year|quarter|hour|minute|second';
const ONE_UNIT = new RegExp(`(this|last|next)\\s+(${UNITS})`);
const SEVERAL_UNITS = new RegExp(`(last|next)\\s+(\\d+)\\s+(${UNITS})`);
/** A word for a count: digits, `a`, `an`, or a number up to ten. */
const COUNT_WORD = '\\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten';
/** `3 days ago`, `an hour from now`. */
const AGO = new RegExp(`\\b(${COUNT_WORD}) (${UNITS})s? (ago|from now|later)\\b`);
/** `in 2 weeks`. */
const AHEAD = new RegExp(`\\bin (${COUNT_WORD}) (${UNITS})s?\\b`);
/** `past week`, `this 3 months`, `+2 days`: a moment relative to now. */
const RELATIVE = new RegExp(`(?:^|\\s)(past|this|next|last|after|[+-])\\s*(?:(\\d+)\\s+)?(${UNITS})s?\\b`);
const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH_NAMES =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
/** `3 of March 2026`, `Mar. 3 2026`, `March`. */
const BY_MONTH = new RegExp(`\\b(?:(\\d{1,2}) (?:of )?)?${MONTH_NAMES}\\.?(?: (\\d{1,2}))?(?: (\\d{4}))?\\b`);
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const BY_WEEKDAY = /\b(?:(this|last|next) )?(sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?\b/;
const FIXED_MS = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
} as const;
const MONTHS_OF = { month: 1, quarter: 3, year: 12 } as const;
/** Largest count of units that is accepted; more, such as of years, could lead outside the range of dates. */
const MAX_COUNT = 10_000;

/** Returns the range that words name. `now` is the local time in UTC fields. @throws 400 if they name none */
export function rangeOfWords(words: string, now: Date): WordRange {
  const text = words.toLowerCase();
  const [, which, unit] = ONE_UNIT.exec(text) ?? [];
  if (which !== undefined) {
    const moved = addUnits(unit as TimeUnit, now, { this: 0, last: -1, next: 1 }[which] ?? 0);
    return wholeUnits(unit as TimeUnit, moved, moved);
  }
  const [, direction, number, units] = SEVERAL_UNITS.exec(text) ?? [];
  if (direction !== undefined) {
    const count = Number(number);
    if (count > MAX_COUNT) throw cannotParse(text);
    const at = (steps: number): Date => addUnits(units as TimeUnit, now, steps);
    return direction === 'last'
      ? wholeUnits(units as TimeUnit, at(-count), at(-1))
      : wholeUnits(units as TimeUnit, at(1), at(count));
  }
  for (const [name, steps] of [
    ['today', 0],
    ['yesterday', -1],
    ['tomorrow', 1],
  ] as const) {
    const day = addUnits('day', now, steps);
    if (text.includes(name)) return wholeUnits('day', day, day);
  }
  const [, from, to] = /^from (.*) to (.*)$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined)
    return widened(text, requireMoment(from.trim(), now), requireMoment(to.trim(), now));
  const [, begin, end] = /^(.*\S)\s+(?:to|until|till|through|-|–)\s+(\S.*)$/.exec(text) ?? [];
  if (begin !== undefined && end !== undefined) {
    const [first, last] = [naturalMoment(begin, now), naturalMoment(end, now)];
    // "March 1 to March 5 2026": the year counts for both.
    const year = /\b\d{4}$/.exec(end);
    const dated = year && !/\d{4}/.test(begin) ? naturalMoment(`${begin} ${year[0]}`, now) : first;
    if (dated && last) return widened(text, dated, last);
  }
  const moment = requireMoment(text, now);
  return widened(text, moment, moment);
}

const cannotParse = (words: string) => userError(`Can't parse date: '${words.slice(0, 60)}'`);

/** Returns the moment that the words name. @throws 400 if they name none */
function requireMoment(words: string, now: Date): Date {
  const moment = naturalMoment(words, now);
  if (!moment) throw cannotParse(words);
  return moment;
}

/** Returns the moment that an English phrase names; undefined if it names none. */
function naturalMoment(words: string, now: Date): Date | undefined {
  const text = words
    .replace(/(\d)(?:st|nd|rd|th)\b/g, '$1')
    .replace(/[,\s]+/g, ' ')
    .trim();
  const [, relation, relativeCount, relativeUnit] = RELATIVE.exec(text) ?? [];
  if (relativeUnit !== undefined) {
    const isPast = relation === 'past' || relation === 'last' || relation === '-';
    return movedFrom(now, relativeUnit as TimeUnit, Number(relativeCount ?? 1) * (isPast ? -1 : 1));
  }
  const [, ago, agoUnit, direction] = AGO.exec(text) ?? [];
  if (ago !== undefined)
    return movedFrom(now, agoUnit as TimeUnit, toCount(ago) * (direction === 'ago' ? -1 : 1));
  const [, ahead, aheadUnit] = AHEAD.exec(text) ?? [];
  if (ahead !== undefined) return movedFrom(now, aheadUnit as TimeUnit, toCount(ahead));
  if (/\b(?:now|today|tonight|this (?:morning|afternoon|evening|night))\b/.test(text)) return now;
  if (/\b(?:yesterday)\b/.test(text)) return addUnits('day', now, -1);
  // Before seven in the morning, `last night` is still going on, so it means the present day.
  if (/\blast night\b/.test(text)) return now.getUTCHours() > 6 ? addUnits('day', now, -1) : now;
  if (/\btomorrow\b/.test(text)) return addUnits('day', now, 1);
  return byNumbers(text) ?? byMonth(text, now) ?? byWeekday(text, now);
}

/** Returns the number that a COUNT_WORD stands for; `a` and `an` are 1. */
function toCount(word: string): number {
  if (/^\d/.test(word)) return Number(word);
  return word.startsWith('a') ? 1 : NUMBERS.indexOf(word);
}

/** Returns `now` moved by a number of units, a negative one into the past; undefined beyond MAX_COUNT. */
const movedFrom = (now: Date, unit: TimeUnit, count: number): Date | undefined =>
  Math.abs(count) <= MAX_COUNT ? addUnits(unit, now, count) : undefined;

/** Returns the date of `2026-01-31` or `1/31/2026`, at noon or at the time that follows. */
function byNumbers(text: string): Date | undefined {
  const [, year, month, day] = /\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})/.exec(text) ?? [];
  const [, usMonth, usDay, shortYear] = /\b(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})\b/.exec(text) ?? [];
  const usYear = shortYear?.length === 2 ? `20${shortYear}` : shortYear;
  const yearNumber = Number(year ?? usYear);
  const monthNumber = Number(month ?? usMonth);
  const dayNumber = Number(day ?? usDay);
  if (Number.isNaN(yearNumber)) return undefined;
  const [, hours = '12', minutes = '0', seconds = '0'] =
    /\d[t ](\d{1,2}):(\d{2})(?::(\d{2}))?/.exec(text) ?? [];
  const time = [Number(hours), Number(minutes), Number(seconds)] as const;
  const date = new Date(Date.UTC(yearNumber, monthNumber - 1, dayNumber, ...time));
  return date.getUTCMonth() === monthNumber - 1 && date.getUTCDate() === dayNumber ? date : undefined;
}

/** Returns the date of a phrase such as `3 March`, at noon; without a year the nearest to now. */
function byMonth(text: string, now: Date): Date | undefined {
  const [, dayBefore, monthName, dayAfter, namedYear] = BY_MONTH.exec(text) ?? [];
  if (monthName === undefined) return undefined;
  const month = MONTHS.indexOf(monthName.slice(0, 3));
  const day = Number(dayBefore ?? dayAfter ?? 1);
  const inYear = (year: number): Date => new Date(Date.UTC(year, month, day, 12));
  const present = now.getUTCFullYear();
  const distance = (date: Date): number => Math.abs(date.getTime() - now.getTime());
  const [nearest] = [present - 1, present, present + 1]
    .map(inYear)
    .sort((left, right) => distance(left) - distance(right));
  const date = namedYear === undefined ? nearest : inYear(Number(namedYear));
  return date?.getUTCMonth() === month ? date : undefined;
}

/**
 * Returns the date of a weekday, by the rules of chrono-node, which Cube uses: with `this` the coming one, today included;
 * with `last` the one before today; with `next` the one in the following week; else the nearest one.
 */
function byWeekday(text: string, now: Date): Date | undefined {
  const [, which, name] = BY_WEEKDAY.exec(text) ?? [];
  if (name === undefined) return undefined;
  const present = now.getUTCDay();
  const wanted = WEEKDAYS.indexOf(name.slice(0, 3));
  const forward = (wanted - present + 7) % 7;
  if (which === 'last') return addUnits('day', now, forward === 0 ? -7 : forward - 7);
  if (which === 'next') {
    // Weeks begin on Monday.
    const fromMonday = (day: number): number => (day + 6) % 7;
    return addUnits('day', now, 7 + fromMonday(wanted) - fromMonday(present));
  }
  // More than half a week ahead, the same day of the past week is nearer.
  return addUnits('day', now, which === undefined && forward > 3 ? forward - 7 : forward);
}

/** Widens both moments to whole days, or to the hour, minute or second that the text names. */
function widened(text: string, first: Date, last: Date): WordRange {
  const exact = (['second', 'minute', 'hour'] as const).find((unit) => text.includes(unit)) ?? 'day';
  return wholeUnits(exact, first, last);
}

/** Widens a range to whole units: from the beginning of the unit with `first` to the end of the unit with `last`. */
const wholeUnits = (unit: TimeUnit, first: Date, last: Date): WordRange => [
  startOfUnit(unit, first),
  new Date(addUnits(unit, startOfUnit(unit, last), 1).getTime() - 1),
];

/** Returns the beginning of the unit that contains `date`; weeks begin on Monday. */
function startOfUnit(unit: TimeUnit, date: Date): Date {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (unit === 'year') return new Date(Date.UTC(year, 0, 1));
  if (unit === 'quarter') return new Date(Date.UTC(year, month - (month % 3), 1));
  if (unit === 'month') return new Date(Date.UTC(year, month, 1));
  if (unit === 'week') return new Date(Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7)));
  return new Date(Math.floor(date.getTime() / FIXED_MS[unit]) * FIXED_MS[unit]);
}

/** Adds units; a day that the month does not have becomes its last day. */
function addUnits(unit: TimeUnit, date: Date, count: number): Date {
  if (unit !== 'month' && unit !== 'quarter' && unit !== 'year')
    return new Date(date.getTime() + count * FIXED_MS[unit]);
  const months = date.getUTCMonth() + count * MONTHS_OF[unit];
  const last = new Date(Date.UTC(date.getUTCFullYear(), months + 1, 0)).getUTCDate();
  const moved = new Date(date);
  moved.setUTCDate(1);
  moved.setUTCMonth(months);
  moved.setUTCDate(Math.min(date.getUTCDate(), last));
  return moved;
}
