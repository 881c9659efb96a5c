// Checks the values of a condition against the member: dates are resolved, other values must fit the column. Errors repeat the
// messages of Cube and of PostgreSQL, which refuses the SQL that Cube makes of the condition.
import { isDateOrMoment, momentOfFilter, parseWords, type Span } from './date-range.ts';
import type { Operator } from './filter-form.ts';
import { userError, type FoundMember } from './members.ts';
import type { Dimension, Measure, Model } from './model.ts';

export type FilterTarget =
  | (FoundMember<Measure> & { readonly kind: 'measure' })
  | (FoundMember<Dimension> & { readonly kind: 'dimension' });

/** Values by which a filter is resolved: the model, the present time, and the time zone of its dates. */
export interface FilterSetting {
  readonly model: Model;
  readonly nowMs: number;
  readonly timezone: string;
}

type Values = readonly (string | null)[];

/** A condition as the client sent it; null = no value. */
interface FilterCondition {
  readonly target: FilterTarget;
  readonly operator: Operator;
  readonly values: Values;
}

/** Checked values; `span`: first and last moment of a date operator, else null. */
interface ConditionValues {
  readonly values: Values;
  readonly span: Span | null;
}

/** Texts that PostgreSQL reads as booleans. */
const PG_TRUE = new Set(['t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1']);
const PG_FALSE = new Set(['f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0']);
/** SQL operator of each date operator, as PostgreSQL names it in an error. */
const DATE_COMPARISONS: Partial<Record<Operator, string>> = {
  inDateRange: '>=',
  onTheDate: '>=',
  notInDateRange: '<',
  beforeDate: '<',
  beforeOrOnDate: '<=',
  afterDate: '>',
  afterOrOnDate: '>=',
};
const isRange = (operator: Operator): boolean => /Range$/.test(operator) || operator === 'onTheDate';
const isText = (operator: Operator): boolean => /(?:contains|startsWith|endsWith)$/i.test(operator);
const COMPARED: readonly Operator[] = ['equals', 'notEquals', 'in', 'notIn', 'gt', 'gte', 'lt', 'lte'];

/** Returns the type as PostgreSQL, behind most Cube servers, names it. */
function columnType({ kind, member }: FilterTarget): string {
  if (kind === 'dimension') {
    if (member.type === 'number') return member.isWhole ? 'integer' : 'numeric';
    return { string: 'text', boolean: 'boolean', time: 'timestamp without time zone' }[member.type];
  }
  if (member.aggType === 'count' || member.aggType === 'countDistinct') return 'bigint';
  return member.isWhole && (member.aggType === 'min' || member.aggType === 'max') ? 'integer' : 'numeric';
}

/** Largest value of the type `integer` of PostgreSQL. */
const LARGEST_INTEGER = 2_147_483_647;

const badValue = (type: string, value: string) =>
  userError(`Error: invalid input syntax for type ${type}: "${value.slice(0, 100)}"`);
const badSyntax = (near: string) => userError(`Error: syntax error at or near "${near}"`);

/** Returns the value as the database compares it with the column. @throws 400 with the database's message */
function fitting(type: string, value: string): string {
  const word = value.trim().toLowerCase();
  if (type === 'boolean') {
    if (PG_TRUE.has(word)) return 'true';
    if (PG_FALSE.has(word)) return 'false';
    throw badValue(type, value);
  }
  if (type === 'timestamp without time zone') return fittingMoment(value);
  if (type === 'text') return value;
  // The other types are numbers: `numeric`, and the whole numbers `integer` and `bigint`.
  const isNumber =
    type === 'numeric' ? word !== '' && Number.isFinite(Number(word)) : /^[+-]?\d+$/.test(word);
  if (!isNumber) throw badValue(type, value);
  if (type === 'integer' && Math.abs(Number(word)) > LARGEST_INTEGER)
    throw userError(`Error: value "${value.slice(0, 100)}" is out of range for type integer`);
  return word;
}

/** Returns the moment without its offset, because the column has no zone. @throws 400 */
function fittingMoment(value: string): string {
  const hasTime = /[T ]\d{2}:/.test(value);
  const local = hasTime ? value.replace(/(?:Z|[+-]\d{2}(?::?\d{2})?)$/, '') : value;
  if (!isDateOrMoment(local)) throw badValue('timestamp', value);
  try {
    return momentOfFilter(local, 'from', 'UTC');
  } catch {
    throw badValue('timestamp', value);
  }
}

/** Writes `2026-01-31 12:00:00.000` with a T, as the answer shows it. */
const toLocal = (moment: string): string => moment.replace(' ', 'T');

/** Resolves words in the values of a date operator. @throws 400 */
function resolveWords({ operator, values }: FilterCondition, { nowMs, timezone }: FilterSetting): Values {
  const areWords = values.some((value) => value !== null && !isDateOrMoment(value));
  if (isRange(operator) && values.length > 1 && areWords)
    throw userError(
      `Relative-date strings are only supported when \`values\` has a single element for operator \`${operator}\`. ` +
        'Pass an absolute two-element [start, end] pair, or a single relative string like ["last 2 weeks"]. ' +
        `Got: ${JSON.stringify(values).slice(0, 300)}`,
    );
  const [only] = values;
  if (values.length > 1 || typeof only !== 'string') return values;
  if (isRange(operator)) return parseWords(only, nowMs, timezone).map(toLocal);
  if (!areWords) return values;
  const [first, last] = parseWords(only, nowMs, timezone);
  return [toLocal(operator === 'beforeDate' || operator === 'afterOrOnDate' ? first : last)];
}

function datesOf(condition: FilterCondition, setting: FilterSetting): ConditionValues {
  const { operator, target } = condition;
  const values = resolveWords(condition, setting);
  const type = columnType(target);
  if (!type.startsWith('timestamp'))
    throw userError(
      `Error: operator does not exist: ${type} ${DATE_COMPARISONS[operator]} timestamp with time zone`,
    );
  const [first, last] = values.map((value, index) => {
    if (value === null) throw badValue('timestamp with time zone', 'Invalid date');
    return momentOfFilter(value, index === 0 ? 'from' : 'to', setting.timezone);
  });
  // There is a first value (requireValues in filters.ts); without a second one it is both ends of the span.
  return { values, span: [first ?? '', last ?? first ?? ''] };
}

/** Returns the values, checked against the member, and the span of a date operator. @throws 400 */
export function valuesOf(condition: FilterCondition, setting: FilterSetting): ConditionValues {
  const { target, operator, values } = condition;
  if (DATE_COMPARISONS[operator] !== undefined) return datesOf(condition, setting);
  const present = values.filter((value) => value !== null);
  const type = columnType(target);
  // Cube looks for the member of a `measureFilter` among the measures only, so it finds no dimension.
  if (operator === 'measureFilter' && target.kind === 'dimension')
    throw userError("Error: Path can't be undefined");
  if (isText(operator)) {
    // `~~*` is PostgreSQL's operator of ILIKE.
    const negation = operator.startsWith('not') ? '!' : '';
    // Without a value, nothing stands before `OR … IS NULL` in the SQL of Cube.
    if (present.length === 0 && negation === '') throw badSyntax('OR');
    if (type !== 'text') throw userError(`Error: operator does not exist: ${type} ${negation}~~* text`);
  }
  if (COMPARED.includes(operator)) {
    for (const value of present) fitting(type, value);
    const isList = operator === 'in' || operator === 'notIn' || values.length > 1;
    if (present.length === 0 && /^[gl]te?$/.test(operator))
      throw userError('Error: Expected one parameter but nothing found');
    // Without a value, the SQL of Cube has an empty list, `IN ()`.
    if (present.length === 0 && isList) throw badSyntax(')');
  }
  return { values, span: null };
}

/** Returns the text that stands for a value in a comparison with the member. */
export const comparedValue = (target: FilterTarget, value: string): string =>
  fitting(columnType(target), value);
