// Builds the answer of `/v1/load`: rows in one of three forms, and the normalised query (contract 5.1).
import type { Cell, LoadResult, ResultRole } from './documents.ts';
import { annotationOf } from './annotations.ts';
import type { CoreDataFilter } from './filters.ts';
import { GRANULARITIES } from './granularity.ts';
import type { Query } from './json-query.ts';
import { columnsOf } from './load-sql.ts';

type Rows = readonly (readonly Cell[])[];

/** A column under its name in the answer; `cellOf` returns its cell of a row. */
type NamedColumn = readonly [name: string, cellOf: (row: readonly Cell[]) => Cell];

/** Returns `2026-01-31T12:00:00.000` for a moment as the engine reads it. */
const isoOf = (moment: string): string => {
  const text = moment.replace(' ', 'T');
  return text.includes('.') ? text : `${text}.000`;
};

/** Returns the span as the column `compareDateRange` shows it. */
const spanText = (query: Query): string =>
  (query.timeDimensions.find(({ span }) => span)?.span ?? []).map(isoOf).join(' - ');

/** Returns true if `one` is the same granularity as `other` or finer; a granularity of the model counts as the finest. */
const isAtLeastAsFine = (one: string, other: string): boolean =>
  GRANULARITIES.findIndex((name) => name === one) <= GRANULARITIES.findIndex((name) => name === other);

/**
 * Returns columns with their names in the answer. A time with a granularity also appears under the name of its
 * dimension, unless the query has the dimension too.
 */
function namedColumns(query: Query, role: ResultRole): NamedColumn[] {
  const takenNames = new Set(query.dimensions.map(({ name }) => name));
  const columns = columnsOf(query).flatMap(({ name }, index): NamedColumn[] => {
    const cellOf = (row: readonly Cell[]): Cell => row[index] ?? null;
    const [cube, member, granularity] = name.split('.');
    if (granularity === undefined) return [[name, cellOf]];
    const dimensionName = `${cube}.${member}`;
    // If a query has one time in two granularities, the finer one gets the name of the dimension.
    const isFinest = query.timeDimensions.every(
      (time) =>
        time.name !== dimensionName ||
        time.granularity === null ||
        isAtLeastAsFine(granularity, time.granularity),
    );
    // Blended results share this name, so that a client can join them by time.
    const blended: NamedColumn[] = role === 'blending' ? [[`time.${granularity}`, cellOf]] : [];
    const getsDimensionName = isFinest && !takenNames.has(dimensionName);
    const underDimension: NamedColumn[] = getsDimensionName ? [[dimensionName, cellOf]] : [];
    if (getsDimensionName) takenNames.add(dimensionName);
    return [[name, cellOf], ...underDimension, ...blended];
  });
  const range = spanText(query);
  return role === 'compareDateRange' ? [...columns, ['compareDateRange', () => range]] : columns;
}

/** Returns the rows in the format that the query asks for. */
function shape(query: Query, rows: Rows, role: ResultRole): unknown {
  const columns = namedColumns(query, role);
  const members = columns.map(([name]) => name);
  switch (query.format) {
    case 'compact':
      // As Cube answers: without rows, this form names no members.
      if (rows.length === 0) return { members: [], dataset: [] };
      return { members, dataset: rows.map((row) => columns.map(([, cellOf]) => cellOf(row))) };
    case 'columnar':
      return { members, columns: columns.map(([, cellOf]) => rows.map((row) => cellOf(row))) };
    case 'default':
      return rows.map((row) => Object.fromEntries(columns.map(([name, cellOf]) => [name, cellOf(row)])));
  }
}

function showFilter(filter: CoreDataFilter): unknown {
  if (filter.kind !== 'condition') return { [filter.kind]: filter.parts.map(showFilter) };
  const { target, operator, values } = filter;
  return { member: target.name, operator, ...(values.length > 0 ? { values } : {}) };
}

/** Returns the query as it was understood, with resolved ranges. */
export function showQuery(query: Query): LoadResult {
  const { form, limit } = query;
  return {
    measures: form.measures ?? [],
    dimensions: query.dimensions.map(({ name }) => name),
    timeDimensions: query.timeDimensions.map(({ name, granularity, span }) => ({
      dimension: name,
      ...(granularity === null ? {} : { granularity }),
      ...(span === null ? {} : { dateRange: span.map(isoOf) }),
    })),
    ...(form.segments === undefined ? {} : { segments: form.segments }),
    // Filters that access policies added are shown beside those of the query.
    filters: [...query.filters.map(showFilter), ...query.access.shown],
    ...(query.order === null
      ? {}
      : { order: query.order.map(({ id, isDescending }) => ({ id, desc: isDescending })) }),
    limit,
    rowLimit: limit,
    timezone: query.timezone,
    ...(query.offset === null ? {} : { offset: query.offset }),
    ...(form.total === undefined ? {} : { total: form.total }),
    ...(form.ungrouped === undefined ? {} : { ungrouped: form.ungrouped }),
    ...(form.responseFormat === undefined ? {} : { responseFormat: form.responseFormat }),
    // Also for a part of a blended or compared query, which runs as a query of its own.
    queryType: 'regularQuery',
  };
}

interface Loaded {
  readonly rows: Rows;
  /** Null unless the query asked for it. */
  readonly total: number | null;
  readonly nowMs: number;
}

/** Returns the answer of `/v1/load` to one query. */
export function toLoadResult(query: Query, { rows, total, nowMs }: Loaded, role: ResultRole): LoadResult {
  return {
    query: showQuery(query),
    data: shape(query, rows, role),
    annotation: annotationOf(query),
    lastRefreshTime: new Date(nowMs).toISOString(),
    // The sandbox has one data source, and its engine is DuckDB.
    dataSource: 'default',
    dbType: 'duckdb',
    external: false,
    slowQuery: false,
    ...(total === null ? {} : { total }),
  };
}
