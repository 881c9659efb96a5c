// Converts a filter to SQL over the columns of its members; values are bound parameters.
import type { Operator } from './filter-form.ts';
import { comparedValue, type FilterTarget } from './filter-values.ts';
import { targetKindOf, type CoreDataFilter } from './filters.ts';
import type { Bind } from './statement.ts';

const COMPARISONS: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** Returns a value in the type that the member is compared with. */
function typed(filter: CoreDataFilter & { kind: 'condition' }, value: string, bind: Bind): string {
  const text = comparedValue(filter.target, value);
  if (filter.target.kind === 'measure') return `CAST(${bind(text)} AS DOUBLE)`;
  const types = { number: 'DOUBLE', boolean: 'BOOLEAN', time: 'TIMESTAMP', string: 'VARCHAR' } as const;
  return `CAST(${bind(text)} AS ${types[filter.target.member.type]})`;
}

/** Returns the SQL of `equals`: one of the values, or no value if null is among them. */
function equality(filter: CoreDataFilter & { kind: 'condition' }, column: string, bind: Bind): string {
  const present = filter.values.filter((value) => value !== null);
  const list = present.map((value) => typed(filter, value, bind)).join(', ');
  const parts = present.length > 0 ? [`${column} IN (${list})`] : [];
  if (present.length < filter.values.length) parts.push(`${column} IS NULL`);
  return parts.join(' OR ');
}

/** Builds the SQL of `contains` and similar operators: letter case is ignored, and one of the values has to match. */
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

/** Returns the placeholder of the first or the last moment of the range. */
type End = (which: 'from' | 'to') => string;

/** Date operators as SQL over the column and the ends of the range; an end is bound only where it is used. */
const DATES: Partial<Record<Operator, (column: string, end: End) => string>> = {
  inDateRange: (column, end) => `${column} >= ${end('from')} AND ${column} <= ${end('to')}`,
  notInDateRange: (column, end) => `${column} < ${end('from')} OR ${column} > ${end('to')}`,
  beforeDate: (column, end) => `${column} < ${end('from')}`,
  onTheDate: (column, end) => `${column} >= ${end('from')} AND ${column} <= ${end('to')}`,
  // The next two use `from`, not `to`: a date without a time means its midnight, as in the former query planner of Cube.
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
  // Allowed for measures only (filter-values.ts); removes no row, as in Cube.
  if (operator === 'measureFilter') return 'TRUE';
  if (operator === 'set') return `${column} IS NOT NULL`;
  if (operator === 'notSet') return `${column} IS NULL`;
  const compare = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
  if (compare !== undefined) {
    // A comparison uses only the first value, as in Cube.
    const first = values.find((value) => value !== null);
    return first === undefined ? 'FALSE' : `${column} ${compare} ${typed(filter, first, bind)}`;
  }
  if (operator === 'equals' || operator === 'in') return equality(filter, column, bind);
  const hasNull = values.includes(null);
  // Null counts as different from every value, unless the filter names it.
  const orAbsent = hasNull ? '' : ` OR ${column} IS NULL`;
  if (operator === 'notEquals' || operator === 'notIn')
    return `NOT (${equality(filter, column, bind)})${orAbsent}`;
  // The remaining operators compare texts: `contains`, `notContains` and similar ones.
  if (!operator.startsWith('not')) {
    // A filter with null alone does not come here: `valuesOf` refuses it.
    const matched = textMatch(operator, filter, column, bind);
    return hasNull ? `${matched} OR ${column} IS NULL` : matched;
  }
  if (values.every((value) => value === null)) return 'TRUE';
  // `notContains` becomes `contains`.
  const positive = operator.charAt(3).toLowerCase() + operator.slice(4);
  return `NOT (${textMatch(positive, filter, column, bind)})${orAbsent}`;
}

/** Returns the condition of a filter; `columnOf` returns the SQL of a member. */
export function filterSql(
  filter: CoreDataFilter,
  columnOf: (target: FilterTarget) => string,
  bind: Bind,
): string {
  if (filter.kind === 'condition') return conditionSql(filter, columnOf(filter.target), bind);
  const parts = filter.parts.filter((part) => targetKindOf(part) !== null);
  return parts.map((part) => `(${filterSql(part, columnOf, bind)})`).join(` ${filter.kind.toUpperCase()} `);
}
