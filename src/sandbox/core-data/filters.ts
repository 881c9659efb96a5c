// Resolves the filters of a JSON query: a tree of conditions under `and` and `or` (contract 5.1).
import { own, type SandboxJsonObject } from '../json.ts';
import { parseSpan, type Span } from './date-range.ts';
import type { Operator } from './filter-form.ts';
import { compilerError, lookUp, unknownMember, userError, type FoundMember } from './members.ts';
import type { Dimension, Measure, Model } from './model.ts';

export type FilterTarget =
  | (FoundMember<Measure> & { readonly kind: 'measure' })
  | (FoundMember<Dimension> & { readonly kind: 'dimension' });

export type CoreDataFilter =
  | {
      readonly kind: 'condition';
      readonly target: FilterTarget;
      readonly operator: Operator;
      /** Null = no value. */
      readonly values: readonly (string | null)[];
      /** Set for date operators. */
      readonly span: Span | null;
    }
  | {
      readonly kind: 'and' | 'or';
      readonly parts: readonly CoreDataFilter[];
      /** Null = an empty group, which filters nothing. */
      readonly about: FilterTarget['kind'] | null;
    };

export interface FilterSetting {
  readonly model: Model;
  readonly nowMs: number;
  readonly timezone: string;
}

const WITHOUT_VALUES: readonly Operator[] = ['set', 'notSet', 'measureFilter'];
const isAboutDates = (operator: Operator): boolean => /Date(?:Range)?$/.test(operator);
const isAboutSize = (operator: Operator): boolean => /^[gl]te?$/.test(operator);
const isEquality = (operator: Operator): boolean => /quals$/.test(operator) || /^(?:notI|i)n$/.test(operator);
const PG_TRUE = new Set(['t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1']);
const PG_FALSE = new Set(['f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0']);

function targetOf(model: Model, name: string): FilterTarget {
  const measure = lookUp(model, 'measures', name);
  if (measure) return { ...measure, kind: 'measure' };
  const dimension = lookUp(model, 'dimensions', name);
  if (dimension) return { ...dimension, kind: 'dimension' };
  throw unknownMember(model, name);
}

const typeOf = (target: FilterTarget): string => (target.kind === 'measure' ? 'number' : target.member.type);

const badText = (type: string, value: string | null) =>
  userError(`Error: invalid input syntax for type ${type}: "${(value ?? '').slice(0, 100)}"`);

/** Returns values that the database can compare with the member. @throws 400 with the text of the database */
function fitting(
  target: FilterTarget,
  operator: Operator,
  values: readonly (string | null)[],
): (string | null)[] {
  const type = typeOf(target);
  const isCompared = isAboutSize(operator) || isEquality(operator);
  return values.map((value) => {
    if (value === null || !isCompared) return value;
    if (type === 'number' && (value.trim() === '' || !Number.isFinite(Number(value))))
      throw badText('numeric', value);
    if (type !== 'boolean') return value;
    const word = value.trim().toLowerCase();
    if (PG_TRUE.has(word)) return 'true';
    if (PG_FALSE.has(word)) return 'false';
    throw badText('boolean', value);
  });
}

function spanOf(
  target: FilterTarget,
  operator: Operator,
  values: readonly (string | null)[],
  { nowMs, timezone }: FilterSetting,
): Span | null {
  const isTime = typeOf(target) === 'time';
  if (!isAboutDates(operator)) {
    if (isTime && (isAboutSize(operator) || isEquality(operator)))
      for (const value of values) if (value !== null) parseSpan([value], nowMs, timezone);
    return null;
  }
  if (!isTime)
    throw userError(
      `Error: operator does not exist: ${typeOf(target) === 'number' ? 'numeric' : 'text'} > timestamp with time zone`,
    );
  const [first, second] = values;
  if (typeof first !== 'string') throw badText('timestamp with time zone', 'Invalid date');
  const isRange = operator.endsWith('DateRange') && typeof second === 'string';
  return parseSpan(isRange ? [first, second] : [first], nowMs, timezone);
}

function parseFilter(item: SandboxJsonObject, setting: FilterSetting): CoreDataFilter {
  for (const kind of ['and', 'or'] as const) {
    const group = own(item, kind);
    if (group === undefined) continue;
    const parts = (group as SandboxJsonObject[]).map((part) => parseFilter(part, setting));
    const [first = null, ...others] = parts.flatMap((part) => aboutOf(part) ?? []);
    // Dimensions are filtered before aggregation and measures after it, so one group cannot contain both.
    if (others.some((about) => about !== first)) {
      throw compilerError(
        `You cannot use dimension and measure in same condition: ${JSON.stringify(item).slice(0, 300)}`,
      );
    }
    return { kind, parts, about: first };
  }
  const target = targetOf(setting.model, String(own(item, 'member') ?? own(item, 'dimension')));
  const operator = own(item, 'operator') as Operator;
  const sent = (own(item, 'values') ?? []) as (string | null)[];
  const span = spanOf(target, operator, sent, setting);
  return { kind: 'condition', target, operator, values: fitting(target, operator, sent), span };
}

/** Returns whether the filter applies to rows or to aggregates; null for a group without conditions. */
export function aboutOf(filter: CoreDataFilter): FilterTarget['kind'] | null {
  return filter.kind === 'condition' ? filter.target.kind : filter.about;
}

/** @throws 400 for a condition that needs values and has none */
function requireValues(item: SandboxJsonObject): void {
  const group = own(item, 'and') ?? own(item, 'or');
  if (Array.isArray(group)) {
    for (const part of group as SandboxJsonObject[]) requireValues(part);
    return;
  }
  const values = own(item, 'values');
  const hasValues = Array.isArray(values) && values.length > 0;
  if (!hasValues && !WITHOUT_VALUES.includes(own(item, 'operator') as Operator))
    throw userError(`Values required for filter: ${JSON.stringify(item).slice(0, 300)}`);
}

/** Resolves a list of filters that are combined with `and`; throws Problem 400. */
export function parseFilters(items: readonly SandboxJsonObject[], setting: FilterSetting): CoreDataFilter[] {
  items.forEach(requireValues);
  return items.map((item) => parseFilter(item, setting));
}
