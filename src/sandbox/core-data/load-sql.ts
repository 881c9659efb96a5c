// Converts a JSON query to one SQL statement: names come from the model, values of the client are bound
// parameters.
import type { Operator } from './filter-form.ts';
import { comparedValue } from './filter-values.ts';
import { aboutOf, type CoreDataFilter } from './filters.ts';
import type { OrderStep, Query, TimeDimension } from './json-query.ts';
import type { FoundMember } from './members.ts';
import type { Cube, Measure, TableSource } from './model.ts';
import type { Access } from './policy.ts';
import { KEY_COLUMN, quoteName, relationSql, type Bind } from './relation.ts';
import type { Statement } from './engine.ts';

/** A column of the answer. */
export interface LoadColumn {
  /** Name such as `orders.count` or `orders.created_at.month`. */
  readonly name: string;
  /** SQL expression over the relation. */
  readonly sql: string;
  readonly isAggregate: boolean;
}

/** Returns the aggregate of a measure over its column in the relation. */
export function aggregateSql(measure: Measure, column: string): string {
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

/** Returns the aggregate of a measure whose rows a join repeats: each key counts once. */
function distinctSql(measure: Measure, column: string, key: string): string {
  if (measure.aggType === 'count') return `count(DISTINCT ${key})`;
  if (measure.aggType !== 'sum' && measure.aggType !== 'avg') return aggregateSql(measure, column);
  const once = `list(DISTINCT struct_pack(k := ${key}, v := ${column}))`;
  return `list_${measure.aggType}(list_transform(${once}, one -> one.v))`;
}

function measureSql({ cubes, isUngrouped }: Query, { cube, member, name }: FoundMember<Measure>): string {
  const column = quoteName(name);
  const single = member.single?.(column) ?? column;
  if (isUngrouped)
    return member.aggType === 'countDistinct' ? `CASE WHEN ${single} IS NOT NULL THEN 1 END` : single;
  if (cube === cubes[0] || member.aggregate) return aggregateSql(member, column);
  return distinctSql(member, column, quoteName(`${cube.name}.${KEY_COLUMN}`));
}

function truncated({ name, granularity }: TimeDimension): string {
  return granularity === null ? quoteName(name) : `date_trunc('${granularity}', ${quoteName(name)})`;
}

/** Returns the columns in the order of the answer: dimensions, times, measures. */
export function columnsOf(query: Query): LoadColumn[] {
  return [
    ...query.dimensions.map(({ name }) => ({ name, sql: quoteName(name), isAggregate: false })),
    ...query.timeDimensions
      .filter(({ granularity }) => granularity !== null)
      .map((time) => ({
        name: `${time.name}.${time.granularity}`,
        sql: truncated(time),
        isAggregate: false,
      })),
    ...query.measures.map((found) => ({
      name: found.name,
      sql: measureSql(query, found),
      isAggregate: true,
    })),
  ];
}

const COMPARISONS: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** Returns a value in the type that the member is compared with. */
function typed(filter: CoreDataFilter & { kind: 'condition' }, value: string, bind: Bind): string {
  const text = comparedValue(filter.target, value);
  if (filter.target.kind === 'measure') return `CAST(${bind(text)} AS DOUBLE)`;
  const types = { number: 'DOUBLE', boolean: 'BOOLEAN', time: 'TIMESTAMP', string: 'VARCHAR' } as const;
  return `CAST(${bind(text)} AS ${types[filter.target.member.type]})`;
}

function equality(filter: CoreDataFilter & { kind: 'condition' }, column: string, bind: Bind): string {
  const present = filter.values.filter((value) => value !== null);
  const list = present.map((value) => typed(filter, value, bind)).join(', ');
  const parts = present.length > 0 ? [`${column} IN (${list})`] : [];
  if (present.length < filter.values.length) parts.push(`${column} IS NULL`);
  return parts.join(' OR ');
}

/** Builds `contains` and similar operators: ignoring case, any of the values. */
function textMatch(
  operator: string,
  filter: CoreDataFilter & { kind: 'condition' },
  column: string,
  bind: Bind,
) {
  const text = `lower(CAST(${column} AS VARCHAR))`;
  const word = { contains: 'contains', startsWith: 'starts_with', endsWith: 'ends_with' }[operator];
  const values = filter.values.filter((value) => value !== null);
  return values.map((value) => `${word}(${text}, lower(CAST(${bind(value)} AS VARCHAR)))`).join(' OR ');
}

type End = (which: 'from' | 'to') => string;

/** Date operators as SQL over the column and the ends of the range; an end is bound only where it is used. */
const DATES: Partial<Record<Operator, (column: string, end: End) => string>> = {
  inDateRange: (column, end) => `${column} >= ${end('from')} AND ${column} <= ${end('to')}`,
  notInDateRange: (column, end) => `${column} < ${end('from')} OR ${column} > ${end('to')}`,
  beforeDate: (column, end) => `${column} < ${end('from')}`,
  onTheDate: (column, end) => `${column} >= ${end('from')} AND ${column} <= ${end('to')}`,
  // A bare date is its midnight here, as in Cube's planner of old.
  beforeOrOnDate: (column, end) => `${column} <= ${end('from')}`,
  afterDate: (column, end) => `${column} > ${end('from')}`,
  afterOrOnDate: (column, end) => `${column} >= ${end('from')}`,
};

function conditionSql(filter: CoreDataFilter & { kind: 'condition' }, column: string, bind: Bind): string {
  const { operator, values } = filter;
  const dates = DATES[operator];
  if (dates && filter.span) {
    const [from, to] = filter.span;
    return dates(column, (which) => `CAST(${bind(which === 'from' ? from : to)} AS TIMESTAMP)`);
  }
  if (operator === 'measureFilter') return 'TRUE';
  if (operator === 'set') return `${column} IS NOT NULL`;
  if (operator === 'notSet') return `${column} IS NULL`;
  const compare = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
  if (compare !== undefined) {
    // Further values have no effect.
    const first = values.find((value) => value !== null);
    return first === undefined ? 'FALSE' : `${column} ${compare} ${typed(filter, first, bind)}`;
  }
  if (operator === 'equals' || operator === 'in') return equality(filter, column, bind);
  if (operator === 'notEquals' || operator === 'notIn') {
    const orAbsent = values.includes(null) ? '' : ` OR ${column} IS NULL`;
    return `NOT (${equality(filter, column, bind)})${orAbsent}`;
  }
  const hasNull = values.includes(null);
  if (!operator.startsWith('not')) {
    const matched = textMatch(operator, filter, column, bind);
    return hasNull ? `${matched} OR ${column} IS NULL` : matched;
  }
  if (values.every((value) => value === null)) return 'TRUE';
  const positive = operator.charAt(3).toLowerCase() + operator.slice(4);
  return `NOT (${textMatch(positive, filter, column, bind)})${hasNull ? '' : ` OR ${column} IS NULL`}`;
}

function filterSql(query: Query, filter: CoreDataFilter, bind: Bind): string {
  if (filter.kind !== 'condition') {
    const parts = filter.parts.filter((part) => aboutOf(part) !== null);
    return parts.map((part) => `(${filterSql(query, part, bind)})`).join(` ${filter.kind.toUpperCase()} `);
  }
  const { target } = filter;
  const column = target.kind === 'measure' ? measureSql(query, target) : quoteName(target.name);
  return conditionSql(filter, column, bind);
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
  const [[measure], [dimension]] = [query.measures, query.dimensions];
  if (!dimension) return [];
  return measure ? [{ id: measure.name, isDescending: true }] : [{ id: dimension.name, isDescending: false }];
}

function orderSql(query: Query, columns: readonly LoadColumn[]): string {
  const place = (name: string): number => columns.findIndex((column) => column.name === name) + 1;
  return sortStepsOf(query)
    .map(({ id, isDescending }) => `${place(id)} ${isDescending ? 'DESC' : 'ASC'}`)
    .join(', ');
}

export interface LoadStatements {
  readonly rows: Statement;
  /** Statement that counts the rows without limit and offset. */
  readonly total: Statement;
}

/** Returns the statement of a query and the one that counts its rows. */
export function toStatements(
  query: Query,
  place: TableSource,
  accessTo: (cube: Cube) => Access,
): LoadStatements {
  const values: string[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const columns = columnsOf(query);
  const { timezone } = query;
  const columnOf = (cube: Cube, member: string): string => `${cube.name}.${member}`;
  const relation = relationSql(query.cubes, { place, accessTo, timezone, bind, columnOf });
  const onRows = [
    ...query.segments.map(({ name }) => quoteName(name)),
    ...query.timeDimensions.flatMap((time) => spanSql(time, bind)),
    ...query.filters.filter((one) => aboutOf(one) === 'dimension').map((one) => filterSql(query, one, bind)),
  ];
  const onSums = query.filters
    .filter((one) => aboutOf(one) === 'measure')
    .map((one) => filterSql(query, one, bind));
  const groups = columns.flatMap(({ isAggregate }, index) => (isAggregate ? [] : [String(index + 1)]));
  const isGrouped = !query.isUngrouped && groups.length > 0;
  const all = (conditions: readonly string[]): string => conditions.map((one) => `(${one})`).join(' AND ');
  const sql = [
    `SELECT ${columns.map((column) => `${column.sql} AS ${quoteName(column.name)}`).join(', ')}`,
    `FROM (${relation}) AS ${quoteName('rows')}`,
    onRows.length > 0 ? `WHERE ${all(onRows)}` : '',
    isGrouped ? `GROUP BY ${groups.join(', ')}` : '',
    onSums.length > 0 ? `HAVING ${all(onSums)}` : '',
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
