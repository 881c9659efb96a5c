// Converts values of the engine to values of an answer: numbers as text, times as ISO 8601 without a zone.
import {
  DuckDBDateValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { isoTime, LATEST_MS } from '../../support/sources.ts';
import type { Cell } from './documents.ts';

const MICROS_PER_MS = 1000n;
const DAY_MS = 86_400_000;
/** Column types by the beginning of the engine's type name; the default is text. */
const COLUMN_TYPES: readonly (readonly [RegExp, string])[] = [
  [/^BOOLEAN/, 'Boolean'],
  [/^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)/, 'Int64'],
  [/^(FLOAT|DOUBLE|DECIMAL)/, 'Double'],
  [/^TIMESTAMP/, 'Timestamp'],
  [/^DATE/, 'Date'],
  [/^INTERVAL/, 'Interval'],
];

/** Returns the `column_type` of an engine type (contract 5.2). */
export function toColumnType(engineType: string): string {
  return COLUMN_TYPES.find(([pattern]) => pattern.test(engineType))?.[1] ?? 'String';
}

/** Formats a time without a zone; one outside of JavaScript's date range keeps the engine's text. */
function toMoment(ms: number, otherwise: () => string): string {
  return Math.abs(ms) <= LATEST_MS ? isoTime(ms).slice(0, -1) : otherwise();
}

/** Returns a cell whose signed whole numbers of up to 32 bits stay numbers, as in Cube's answer; all other numbers are text. */
export function toNativeCell(value: DuckDBValue, engineType: string): Cell {
  return typeof value === 'number' && /^(?:TINY|SMALL)?INT(?:EGER)?$/.test(engineType)
    ? value
    : toCell(value);
}

/** Returns a cell whose numbers are text. */
export function toCell(value: DuckDBValue): Cell {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return toMoment(Number(value.micros / MICROS_PER_MS), () => value.toString());
  if (value instanceof DuckDBDateValue) return toMoment(value.days * DAY_MS, () => value.toString());
  return value.toString();
}
