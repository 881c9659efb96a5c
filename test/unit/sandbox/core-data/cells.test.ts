// Tests how values of the query engine (DuckDB) become cells of an answer.
import { DuckDBDateValue, DuckDBTimestampValue, DuckDBTimeValue } from '@duckdb/node-api';
import { toCell } from '../../../../src/sandbox/core-data/cells.ts';

test('a timestamp and a date become ISO 8601 without a zone, and a time of day stays a time of day', () => {
  expect(toCell(new DuckDBTimestampValue(1_577_836_800_000_000n))).toBe('2020-01-01T00:00:00.000');
  expect(toCell(new DuckDBDateValue(1))).toBe('1970-01-02T00:00:00.000');
  expect(toCell(new DuckDBTimeValue(45_000_000_000n))).toBe('12:30:00');
});
