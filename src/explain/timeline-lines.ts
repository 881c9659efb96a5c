// Formats the timeline of an explanation: equal events, and equal pairs of events, are one line each. Pure.
import { withoutGuardHolds } from '../reconcile/text/exception-words.ts';
import type { Explanation } from './explanation.ts';

interface Row {
  /** Time of the newest of the equal events, ISO 8601. */
  at: string;
  event: string;
  text: string;
  /** Number of equal events in this line. */
  times: number;
}

/**
 * Returns the timeline as lines. Equal consecutive events become one line, and equal consecutive pairs of events two lines.
 * The message of the condition is not repeated, because the reasons contain it.
 */
export function timelineLines({ timeline, condition }: Explanation): string[] {
  const rows: Row[] = [];
  for (const { at, event, text } of timeline) {
    const row = { at, event, text: condition ? withoutMessage(text, condition.message) : text, times: 1 };
    const last = rows.at(-1);
    if (last && isSame(last, row)) Object.assign(last, { at, times: last.times + 1 });
    else rows.push(row);
    joinPairs(rows);
  }
  return rows.map(
    ({ at, event, text, times }) =>
      `${at}  ${event.padEnd(8)}  ${text}${times > 1 ? ` (${times} times)` : ''}`,
  );
}

/**
 * Returns the text of an event with `as above` in place of the message of the condition. An advice behind the message goes too:
 * `presentMessage` has taken it out of the condition, because it may not hold under the present settings.
 */
function withoutMessage(text: string, message: string): string {
  const repeated = `: ${withoutGuardHolds(message)}`;
  const [before = '', ...others] = text.split(repeated);
  if (others.length === 0) return text;
  const rest = others.join(repeated);
  return `${before}, as above${rest.startsWith(': ') ? '' : rest}`;
}

/** Returns the text of an event without the id of its run, so that the orders of several runs are equal. */
const withoutRun = (text: string): string => text.replace(/^(ordered by a reconcile) \(.*\)$/, '$1');

const isSame = (one: Row, other: Row): boolean =>
  one.event === other.event && withoutRun(one.text) === withoutRun(other.text);

/** Joins the last two rows with the two rows before them if the pairs are equal. */
function joinPairs(rows: Row[]): void {
  const [first, second, third, fourth] = rows.slice(-4);
  if (!first || !second || !third || !fourth || !isSame(first, third) || !isSame(second, fourth)) return;
  Object.assign(first, third, { times: first.times + third.times });
  Object.assign(second, fourth, { times: second.times + fourth.times });
  rows.splice(-2);
}
