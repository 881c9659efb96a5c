// Builds the answer of `/v1/load`: rows in one of three forms, and the normalised query (contract 5.1).
import type { Cell, LoadResult } from './core-data.ts';
import { annotationOf } from './annotations.ts';
import type { CoreDataFilter } from './filters.ts';
import type { Query } from './json-query.ts';
import { columnsOf } from './load-sql.ts';

type Rows = readonly (readonly Cell[])[];

/**
 * Returns columns with their names in the answer. A time with a granularity also appears under the name of its
 * dimension, unless that is a dimension of the query.
 */
function namedColumns(query: Query): (readonly [name: string, place: number])[] {
  const taken = new Set(query.dimensions.map(({ name }) => name));
  return columnsOf(query).flatMap(({ name }, place): [string, number][] => {
    const plain = name.split('.').slice(0, 2).join('.');
    if (plain === name || taken.has(plain)) return [[name, place]];
    // With two granularities of one time, the first gets the name of the dimension.
    taken.add(plain);
    return [
      [name, place],
      [plain, place],
    ];
  });
}

function shape(query: Query, rows: Rows): unknown {
  const columns = namedColumns(query);
  const members = columns.map(([name]) => name);
  const cell = (row: readonly Cell[], place: number): Cell => row[place] ?? null;
  switch (query.format) {
    case 'compact':
      return { members, dataset: rows.map((row) => columns.map(([, place]) => cell(row, place))) };
    case 'columnar':
      return { members, columns: columns.map(([, place]) => rows.map((row) => cell(row, place))) };
    case 'default':
      return rows.map((row) => Object.fromEntries(columns.map(([name, place]) => [name, cell(row, place)])));
  }
}

function showFilter(filter: CoreDataFilter): unknown {
  if (filter.kind !== 'condition') return { [filter.kind]: filter.parts.map(showFilter) };
  return { member: filter.target.name, operator: filter.operator, values: filter.values };
}

function showQuery(query: Query): LoadResult {
  return {
    measures: query.measures.map(({ name }) => name),
    dimensions: query.dimensions.map(({ name }) => name),
    segments: query.segments.map(({ name }) => name),
    timeDimensions: query.timeDimensions.map(({ name, granularity, span }) => ({
      dimension: name,
      ...(granularity === null ? {} : { granularity }),
      ...(span === null ? {} : { dateRange: span.map((moment) => moment.replace(' ', 'T')) }),
    })),
    filters: query.filters.map(showFilter),
    order: (query.order ?? []).map(({ id, isDescending }) => ({ id, desc: isDescending })),
    limit: query.limit,
    offset: query.offset,
    total: query.wantsTotal,
    timezone: query.timezone,
    ungrouped: query.isUngrouped,
    responseFormat: query.format,
    queryType: 'regularQuery',
  };
}

export interface Loaded {
  readonly rows: Rows;
  /** Null unless the query asked for it. */
  readonly total: number | null;
  readonly nowMs: number;
}

/** Returns the answer to one query. */
export function toLoadResult(query: Query, { rows, total, nowMs }: Loaded): LoadResult {
  return {
    query: showQuery(query),
    data: shape(query, rows),
    annotation: annotationOf(query),
    lastRefreshTime: new Date(nowMs).toISOString(),
    dataSource: 'default',
    dbType: 'duckdb',
    external: false,
    slowQuery: false,
    total,
  };
}
