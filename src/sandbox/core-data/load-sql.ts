// Converts a JSON query to one SQL statement: names come from the model, values of the client are bound parameters.
import { filterSql } from './filter-sql.ts';
import type { FilterTarget } from './filter-values.ts';
import { targetKindOf } from './filters.ts';
import type { OrderStep, Query, TimeDimension } from './json-query.ts';
import type { FoundMember } from './members.ts';
import type { Cube, Measure, QualifiedTableName } from './model.ts';
import { KEY_COLUMN, relationSql } from './relation.ts';
import { quoteName, type Bind, type Statement } from './statement.ts';

/** A column of the answer. */
interface LoadColumn {
  /** Name such as `orders.count` or `orders.created_at.month`. */
  readonly name: string;
  /** SQL expression over the relation. */
  readonly sql: string;
  readonly isAggregate: boolean;
}

/** Returns the aggregate of a measure over its column in the relation. */
export function aggregateSql(measure: Pick<Measure, 'aggType' | 'aggregate'>, column: string): string {
  if (measure.aggregate) return measure.aggregate(column);
  switch (measure.aggType) {
    case 'count':
      return `count(${column})`;
    case 'countDistinct':
      return `count(DISTINCT ${column})`;
    case 'sum':
    case 'avg':
    case 'min':
    case 'max':
      return `${measure.aggType}(${column})`;
    case 'number':
      return column;
  }
}

/** Returns the aggregate of a measure whose rows a join repeats: each key (`k`) counts its value (`v`) once. */
function distinctSql(measure: Measure, column: string, key: string): string {
  if (measure.aggType === 'count') return `count(DISTINCT ${key})`;
  // Repeated rows change no other aggregate.
  if (measure.aggType !== 'sum' && measure.aggType !== 'avg') return aggregateSql(measure, column);
  const once = `list(DISTINCT struct_pack(k := ${key}, v := ${column}))`;
  return `list_${measure.aggType}(list_transform(${once}, one -> one.v))`;
}

/** Returns the value that one row contributes to a measure. */
function rowSql(measure: Measure, column: string): string {
  const value = measure.single?.(column) ?? column;
  // One row has at most one distinct value.
  return measure.aggType === 'countDistinct' ? `CASE WHEN ${value} IS NOT NULL THEN 1 END` : value;
}

/** Returns the SQL of a measure: the value of one row for an ungrouped query, else its aggregate. */
function measureSql({ cubes, isUngrouped }: Query, { cube, member, name }: FoundMember<Measure>): string {
  const column = quoteName(name);
  if (isUngrouped) return rowSql(member, column);
  // The joins may repeat rows of every cube except the first, which reaches the others.
  const isRepeated = cube !== cubes[0];
  // An aggregate of the model is used as it is: that of a view counts each key once, a calculated one also repeated rows.
  if (!isRepeated || member.aggregate) return aggregateSql(member, column);
  return distinctSql(member, column, quoteName(`${cube.name}.${KEY_COLUMN}`));
}

/** Returns the columns in the order of the answer: dimensions, times, measures. */
export function columnsOf(query: Query): LoadColumn[] {
  return [
    ...query.dimensions.map(({ name }) => ({ name, sql: quoteName(name), isAggregate: false })),
    ...query.timeDimensions
      .filter(({ granularity }) => granularity !== null)
      .map((time) => ({
        name: `${time.name}.${time.granularity}`,
        sql: time.bucket(quoteName(time.name)),
        isAggregate: false,
      })),
    ...query.measures.map((found) => ({
      name: found.name,
      sql: measureSql(query, found),
      isAggregate: true,
    })),
  ];
}

function spanSql({ name, span }: TimeDimension, bind: Bind): string[] {
  if (!span) return [];
  const [from, to] = span;
  const column = quoteName(name);
  return [`${column} >= CAST(${bind(from)} AS TIMESTAMP) AND ${column} <= CAST(${bind(to)} AS TIMESTAMP)`];
}

/** Returns the order of the answer; names that are not columns of the answer have no effect. */
export function sortStepsOf(query: Query): OrderStep[] {
  const names = columnsOf(query).map(({ name }) => name);
  if (query.order !== null) {
    return query.order.flatMap(({ id, isDescending }) => {
      const name = names.find((one) => one === id) ?? names.find((one) => one.startsWith(`${id}.`));
      return name === undefined ? [] : [{ id: name, isDescending }];
    });
  }
  const time = query.timeDimensions.find(({ granularity }) => granularity !== null);
  if (time) return [{ id: `${time.name}.${time.granularity}`, isDescending: false }];
  const [measure] = query.measures;
  const [dimension] = query.dimensions;
  if (!dimension) return [];
  return measure ? [{ id: measure.name, isDescending: true }] : [{ id: dimension.name, isDescending: false }];
}

function orderSql(query: Query, columns: readonly LoadColumn[]): string {
  const positionOf = (name: string): number => columns.findIndex((column) => column.name === name) + 1;
  return sortStepsOf(query)
    .map(({ id, isDescending }) => `${positionOf(id)} ${isDescending ? 'DESC' : 'ASC'}`)
    .join(', ');
}

export interface LoadStatements {
  readonly rows: Statement;
  /** Statement that counts the rows without limit and offset. */
  readonly total: Statement;
}

/** Returns the statement of a query and the one that counts its rows. */
export function toStatements(query: Query, tableName: QualifiedTableName): LoadStatements {
  const values: string[] = [];
  const bind: Bind = (value) => {
    values.push(value);
    return `$${values.length}`;
  };
  const columns = columnsOf(query);
  const { timezone, access } = query;
  const columnOf = (cube: Cube, member: string): string => `${cube.name}.${member}`;
  const relation = relationSql(query.cubes, { tableName, access, timezone, bind, columnOf });
  const columnFor = (target: FilterTarget): string =>
    target.kind === 'measure' ? measureSql(query, target) : quoteName(target.name);
  const conditions = (targetKind: FilterTarget['kind']): string[] =>
    query.filters
      .filter((filter) => targetKindOf(filter) === targetKind)
      .map((filter) => filterSql(filter, columnFor, bind));
  const onRows = [
    ...query.segments.map(({ name }) => quoteName(name)),
    ...query.timeDimensions.flatMap((time) => spanSql(time, bind)),
    ...conditions('dimension'),
  ];
  const onAggregates = conditions('measure');
  const groups = columns.flatMap(({ isAggregate }, index) => (isAggregate ? [] : [String(index + 1)]));
  const isGrouped = !query.isUngrouped && groups.length > 0;
  const allOf = (list: readonly string[]): string => list.map((condition) => `(${condition})`).join(' AND ');
  const sql = [
    `SELECT ${columns.map((column) => `${column.sql} AS ${quoteName(column.name)}`).join(', ')}`,
    `FROM (${relation}) AS ${quoteName('rows')}`,
    onRows.length > 0 ? `WHERE ${allOf(onRows)}` : '',
    isGrouped ? `GROUP BY ${groups.join(', ')}` : '',
    onAggregates.length > 0 ? `HAVING ${allOf(onAggregates)}` : '',
  ].join(' ');
  const order = orderSql(query, columns);
  // Every column breaks ties, so that pages do not overlap.
  const ties = columns.map((_column, index) => index + 1).join(', ');
  const ordered = `${sql} ORDER BY ${order === '' ? ties : `${order}, ${ties}`}`;
  return {
    rows: { sql: `${ordered} LIMIT ${query.limit} OFFSET ${query.offset ?? 0}`, values },
    total: { sql: `SELECT count(*) FROM (${sql})`, values },
  };
}
