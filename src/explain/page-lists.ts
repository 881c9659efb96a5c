// Lays out the lists of a page of an explanation (values, memberships, timeline) in the lines that are left for them. Pure.
import { clipLine, LINE_COLUMNS } from '../support/columns.ts';

/** The rows of one list of a page. */
export interface PageRows {
  rows: string[];
  /** Number of rows that the list has besides, and that are only counted. */
  hidden?: number;
  /** Whether the newest row is the last one, so that the first rows are left out; default: the last rows are. */
  newestLast?: boolean;
}

/** Returns the number of lines that show the rows, and the number of the hidden ones. */
export const linesOf = ({ rows, hidden = 0 }: PageRows): number => rows.length + (hidden > 0 ? 1 : 0);

/** Divides `lines` between lists of the given lengths, one line in turn. A short list gets its length, others share the rest. */
export function sharesOf(lengths: number[], lines: number): number[] {
  const shares = lengths.map(() => 0);
  let left = lines;
  while (left > 0 && shares.some((share, at) => share < (lengths[at] ?? 0)))
    for (const [at, length] of lengths.entries())
      if (left > 0 && (shares[at] ?? 0) < length) {
        shares[at] = (shares[at] ?? 0) + 1;
        left--;
      }
  return shares;
}

/** Returns at most `most` rows; if rows are left out, one of them counts these: the first with `newestLast`, else the last. */
export function someRows({ rows, hidden = 0, newestLast = false }: PageRows, most: number): string[] {
  const moreText = (shown: number): string => `… and ${rows.length - shown + hidden} more`;
  if (linesOf({ rows, hidden }) <= most) return hidden > 0 ? [...rows, moreText(rows.length)] : rows;
  if (most === 0) return [];
  if (!newestLast) return [...rows.slice(0, most - 1), moreText(most - 1)];
  const left = rows.length - most + 1;
  // Only the timeline has the newest row last, and its rows begin with their time.
  return [`… ${left} earlier, since ${rows[0]?.split(' ', 1)[0] ?? ''}`, ...rows.slice(left)];
}

/** Returns a row as a line, clipped at its end if it is too long. */
export const rowLine = (row: string): string => clipLine(`  ${row}`, LINE_COLUMNS);

/** Returns whether the row fits a line. */
export const fitsLine = (row: string): boolean => rowLine(row) === `  ${row}`;
