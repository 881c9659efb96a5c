// Sends files to operators: the entries of a log that match a filter, as CSV or NDJSON (`answer`), and other lines (`file`), such
// as the links. Each process sends one such file at a time, within a time limit. The export of a log is also limited in entries and
// bytes, and keeps only one portion of the log in memory.
import type { SearchStep } from '../../ops/log/newest-first.ts';
import { csvLine } from '../../support/csv-line.ts';
import { tooManyProblem } from './problem.ts';
import { timeLimit } from '../../support/time-limit.ts';

interface ExportedLog<Found> {
  /** Name of the file without its ending. */
  name: string;
  steps: AsyncIterable<SearchStep<Found>>;
  /** Columns of the CSV file. */
  columns: readonly string[];
  toCells: (found: Found) => string[];
  /** Record of one line of NDJSON. */
  toRecord: (found: Found) => object;
}

export type ExportFormat = 'csv' | 'ndjson';
export type LogExports = ReturnType<typeof createLogExports>;

/** Largest number of entries of one export, and the default. */
export const EXPORT_MOST_ENTRIES = 100_000;
/** Largest size of the entries of one export. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Longest export. A client that reads too slowly is disconnected then, because other exports are refused until this one ends. */
const LIMIT_MS = 600_000;
/** Retry-After of an export that is refused while another one runs. */
const RETRY_SECONDS = 10;
export const EXPORT_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** Creates the exports of a process. */
export function createLogExports() {
  let isBusy = false;

  function answer<Found>(
    exported: ExportedLog<Found>,
    { format, limit = EXPORT_MOST_ENTRIES }: { format: ExportFormat; limit?: number },
    signal: AbortSignal,
  ) {
    const lines = linesOf(exported, format, limit, signal);
    const type = format === 'csv' ? `${EXPORT_TYPES.csv}; charset=utf-8` : EXPORT_TYPES.ndjson;
    return file(`${exported.name}.${format}`, type, lines);
  }

  /** Returns an answer that the browser stores as a file. @param lines without their line breaks */
  const file = (name: string, contentType: string, lines: AsyncIterable<string>) => ({
    kind: 'pieces' as const,
    contentType,
    headers: { 'Content-Disposition': `attachment; filename="${name}"` },
    pieces: oneAtATime(lines),
    signal: timeLimit(LIMIT_MS),
  });

  /** Ends each line with a line break. @throws Problem 429 at the first line while another export runs */
  async function* oneAtATime(lines: AsyncIterable<string>): AsyncGenerator<string> {
    if (isBusy) throw tooManyProblem('Another export runs here: wait for its end.', RETRY_SECONDS);
    isBusy = true;
    try {
      for await (const line of lines) yield `${line}\n`;
    } finally {
      isBusy = false;
    }
  }

  return { answer, file };
}

/** Yields the header of a CSV file, then one line for each entry, and a last line when older entries are left out. */
async function* linesOf<Found>(
  { steps, columns, toCells, toRecord }: ExportedLog<Found>,
  format: ExportFormat,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const isCsv = format === 'csv';
  if (isCsv) yield csvLine(columns);
  let entries = 0;
  let bytes = 0;
  // Place of the last entry, from which another export goes on.
  let last = '';
  for await (const { place, entry } of steps) {
    if (signal.aborted) return;
    if (entry) {
      const line = isCsv ? csvLine(toCells(entry)) : JSON.stringify(toRecord(entry));
      bytes += Buffer.byteLength(line);
      if (entries >= limit || (entries > 0 && bytes > MOST_BYTES)) {
        yield isCsv ? moreRow(last, columns.length) : JSON.stringify({ more: true, before: last });
        return;
      }
      entries += 1;
      yield line;
    }
    last = place;
  }
}

/** Returns a last row which says that older entries are left out. */
const moreRow = (place: string, columns: number): string =>
  csvLine([`There is more: export again with before=${place}`, ...Array<string>(columns - 1).fill('')]);
