// Parses a JSON query (contract 5.1): checks every property and resolves all names.
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import { parseSpan, isTimezone, type Span } from './date-range.ts';
import { aboutOf, parseFilters, type CoreDataFilter } from './filters.ts';
import { requireMember, userError, type FoundMember } from './members.ts';
import type { Cube, Dimension, Measure, Model, Segment } from './model.ts';

export const GRANULARITIES = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Granularity = (typeof GRANULARITIES)[number];
export const FORMATS = ['default', 'compact', 'columnar'] as const;
export type ResponseFormat = (typeof FORMATS)[number];
/** Largest number of entries in one list of a query. */
const MAX_LIST = 100;

export interface TimeDimension extends FoundMember<Dimension> {
  readonly granularity: Granularity | null;
  readonly span: Span | null;
}

export interface OrderStep {
  /** Member name in the result. */
  readonly id: string;
  readonly isDescending: boolean;
}

export interface Query {
  readonly measures: readonly FoundMember<Measure>[];
  readonly dimensions: readonly FoundMember<Dimension>[];
  readonly timeDimensions: readonly TimeDimension[];
  readonly segments: readonly FoundMember<Segment>[];
  readonly filters: readonly CoreDataFilter[];
  /** Null = the default order. */
  readonly order: readonly OrderStep[] | null;
  readonly limit: number;
  readonly offset: number;
  readonly wantsTotal: boolean;
  readonly timezone: string;
  readonly isUngrouped: boolean;
  readonly format: ResponseFormat;
  /** The one cube of all members. */
  readonly cube: Cube;
}

export interface QueryBounds {
  readonly nowMs: number;
  readonly defaultLimit: number;
  readonly maxLimit: number;
}

function listOf(source: SandboxJsonObject, name: string): readonly unknown[] {
  const value = own(source, name) ?? [];
  if (!Array.isArray(value)) throw userError(`${name} must be a list`);
  if (value.length > MAX_LIST) throw userError(`${name} holds more than ${MAX_LIST} entries`);
  return value;
}

function namesOf(source: SandboxJsonObject, name: string): string[] {
  return [
    ...new Set(
      listOf(source, name).map((item) => {
        if (typeof item !== 'string') throw userError(`${name} must be a list of texts`);
        return item;
      }),
    ),
  ];
}

function countOf(source: SandboxJsonObject, name: string): number | null {
  const value = own(source, name) ?? null;
  if (value === null) return null;
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw userError(`${name} must be a whole number`);
  return Number(value);
}

function flagOf(source: SandboxJsonObject, name: string): boolean {
  const value = own(source, name) ?? false;
  if (typeof value !== 'boolean') throw userError(`${name} must be true or false`);
  return value;
}

function choiceOf<T extends string>(value: unknown, choices: readonly T[], name: string): T {
  const found = choices.find((one) => one === value);
  if (found === undefined) throw userError(`${name} must be one of ${choices.join(', ')}`);
  return found;
}

/** Parses time dimensions with their granularity and date range. */
function parseTimeDimensions(
  source: SandboxJsonObject,
  model: Model,
  nowMs: number,
  zone: string,
): TimeDimension[] {
  return listOf(source, 'timeDimensions').map((item) => {
    const entry = isJsonObject(item) ? item : undefined;
    const name = entry && own(entry, 'dimension');
    if (!entry || typeof name !== 'string') throw userError('every time dimension needs a dimension');
    const found = requireMember(model, 'dimensions', name);
    if (found.member.type !== 'time') throw userError(`'${name}' is not a time dimension`);
    if (own(entry, 'compareDateRange') !== undefined) throw userError('compareDateRange is not supported');
    const granularity = own(entry, 'granularity') ?? null;
    const range = own(entry, 'dateRange') ?? null;
    return {
      ...found,
      granularity: granularity === null ? null : choiceOf(granularity, GRANULARITIES, 'granularity'),
      span: range === null ? null : parseSpan(range, nowMs, zone),
    };
  });
}

function parseOrder(source: SandboxJsonObject): OrderStep[] | null {
  const order = own(source, 'order') ?? null;
  if (order === null) return null;
  const entries: readonly unknown[] = isJsonObject(order) ? Object.entries(order) : listOf(source, 'order');
  return entries.flatMap((entry): OrderStep[] => {
    const [id, direction] = isJsonObject(entry)
      ? [own(entry, 'id'), own(entry, 'desc') === true ? 'desc' : 'asc']
      : (entry as unknown[]);
    if (typeof id !== 'string') throw userError('order must name members');
    const which = choiceOf(direction ?? 'asc', ['asc', 'desc', 'none'] as const, 'order');
    return which === 'none' ? [] : [{ id, isDescending: which === 'desc' }];
  });
}

function zoneOf(source: SandboxJsonObject): string {
  const zone = own(source, 'timezone') ?? 'UTC';
  if (typeof zone !== 'string' || !isTimezone(zone)) throw userError('timezone must be the name of a zone');
  return zone;
}

function limitOf(source: SandboxJsonObject, bounds: QueryBounds): number {
  const limit = countOf(source, 'limit') ?? countOf(source, 'rowLimit') ?? bounds.defaultLimit;
  // Refused instead of lowered: the client must not take an incomplete result for the whole (contract 5.1).
  if (limit > bounds.maxLimit) throw userError(`limit must not exceed ${bounds.maxLimit} rows`);
  return limit;
}

function oneCube(named: readonly FoundMember<unknown>[]): Cube {
  const [first] = named;
  if (!first) {
    throw userError('Query should contain either measures, dimensions or timeDimensions with granularities');
  }
  const other = named.find(({ cube }) => cube !== first.cube);
  if (other) throw userError(`Can't find join path to join '${first.cube.name}', '${other.cube.name}'`);
  return first.cube;
}

/** Checks that the order names columns of the answer. */
function requireOrderable(order: readonly OrderStep[], names: readonly string[]): void {
  const stranger = order.find(({ id }) => !names.includes(id));
  if (stranger) throw userError(`order: '${stranger.id.slice(0, 200)}' is not a member of the query`);
}

/** Parses a query; throws Problem 400 when it cannot run. Unknown properties are ignored. */
export function parseQuery(value: unknown, model: Model, bounds: QueryBounds): Query {
  if (!isJsonObject(value)) throw userError('query must be an object');
  const timezone = zoneOf(value);
  const measures = namesOf(value, 'measures').map((name) => requireMember(model, 'measures', name));
  const dimensions = namesOf(value, 'dimensions').map((name) => requireMember(model, 'dimensions', name));
  const segments = namesOf(value, 'segments').map((name) => requireMember(model, 'segments', name));
  const timeDimensions = parseTimeDimensions(value, model, bounds.nowMs, timezone);
  const filters = parseFilters(listOf(value, 'filters'), { model, nowMs: bounds.nowMs, timezone });
  const shown = timeDimensions.filter(({ granularity }) => granularity !== null);
  oneCube([...measures, ...dimensions, ...shown]);
  const filtered = filters.flatMap(function members(filter): FoundMember<unknown>[] {
    return filter.kind === 'condition' ? [filter.target] : filter.parts.flatMap(members);
  });
  const cube = oneCube([...measures, ...dimensions, ...timeDimensions, ...segments, ...filtered]);
  const isUngrouped = flagOf(value, 'ungrouped');
  if (isUngrouped && filters.some((filter) => aboutOf(filter) === 'measure')) {
    throw userError('measures cannot be filtered in an ungrouped query');
  }
  const order = parseOrder(value);
  const shownNames = shown.flatMap(({ name, granularity }) => [name, `${name}.${granularity}`]);
  requireOrderable(order ?? [], [...[...measures, ...dimensions].map(({ name }) => name), ...shownNames]);
  return {
    measures,
    dimensions,
    timeDimensions,
    segments,
    filters,
    order,
    limit: limitOf(value, bounds),
    offset: countOf(value, 'offset') ?? 0,
    wantsTotal: flagOf(value, 'total'),
    timezone,
    isUngrouped,
    format: choiceOf(own(value, 'responseFormat') ?? 'default', FORMATS, 'responseFormat'),
    cube,
  };
}
