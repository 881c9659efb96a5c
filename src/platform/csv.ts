// Parses CSV (RFC 4180) from text that arrives in pieces, with a limit for the size of a row.
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';

/** Largest row in characters. */
const MAX_ROW = 8 * 1024 * 1024;

/** Reasons of a refusal by error code of csv-parse. The library's own messages are not used: they quote cells. */
const REASONS = new Map([
  ['CSV_MAX_RECORD_SIZE', 'a table with a row that is too long'],
  ['CSV_QUOTE_NOT_CLOSED', 'a table that ends inside a cell'],
]);

/**
 * Yields rows as lists of cells, beginning with the header row. A line ends with CRLF or LF.
 * @throws the error of `refuse` for text that is not CSV or has a row that is too long; errors of `text` unchanged
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  refuse: (reason: string) => Error,
): AsyncGenerator<string[], void, undefined> {
  const parser = parse({
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    max_record_size: MAX_ROW,
  });
  const source = Readable.from(text);
  source.on('error', (error) => parser.destroy(error)).pipe(parser);
  try {
    for await (const row of parser) yield row as string[];
  } catch (error) {
    throw error instanceof CsvError ? refuse(REASONS.get(error.code) ?? 'a table that is not CSV') : error;
  } finally {
    source.destroy();
  }
}
