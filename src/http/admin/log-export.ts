// Exports the entries of a log that match a filter as CSV or NDJSON. One export at a time runs in each process; it is
// bounded in entries, bytes and time, and keeps one portion of the log in memory.
import type { SearchStep } from '../../ops/newest-first.ts';
import { csvLine } from '../../support/csv-line.ts';
import { tooManyProblem } from './problem.ts';
import { timeLimit } from '../../support/time-limit.ts';

/** A log to export. */
export interface ExportedLog<Found> {
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

export const EXPORT_MOST_ENTRIES = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;
/** A client that reads more slowly is cut off, because one export runs at a time. */
const LIMIT_MS = 600_000;
const RETRY_SECONDS = 10;
export const EXPORT_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

export function createLogExports() {
  let isBusy = false;

  /** @param signal aborted when the client disconnects */
  function answer<Found>(
    exported: ExportedLog<Found>,
    { format, limit = EXPORT_MOST_ENTRIES }: { format: ExportFormat; limit?: number },
    signal: AbortSignal,
  ) {
    return {
      kind: 'lines' as const,
      contentType: format === 'csv' ? `${EXPORT_TYPES.csv}; charset=utf-8` : EXPORT_TYPES.ndjson,
      filename: `${exported.name}.${format}`,
      lines: inTurn(linesOf(exported, format, limit, signal)),
      signal: timeLimit(LIMIT_MS),
    };
  }

  /** @throws Problem 429 at the first line while another export runs */
  async function* inTurn(lines: AsyncIterable<string>): AsyncGenerator<string> {
    if (isBusy) throw tooManyProblem('Another export runs here: wait for its end.', RETRY_SECONDS);
    isBusy = true;
    try {
      yield* lines;
    } finally {
      isBusy = false;
    }
  }

  return { answer, inTurn };
}

async function* linesOf<Found>(
  { steps, columns, toCells, toRecord }: ExportedLog<Found>,
  format: ExportFormat,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const isCsv = format === 'csv';
  if (isCsv) yield csvLine(columns);
  let [entries, bytes, last] = [0, 0, ''];
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

const moreRow = (place: string, columns: number): string =>
  csvLine([`There is more: export again with before=${place}`, ...Array<string>(columns - 1).fill('')]);
