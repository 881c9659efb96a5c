// Parses the filters of a JSON query: a tree of conditions under `and` and `or` (contract 5.1).
import { isJsonObject, own } from '../json.ts';
import { parseMoment, parseSpan, type Span } from './date-range.ts';
import { lookUp, userError, type FoundMember } from './members.ts';
import type { Dimension, Measure, Model } from './model.ts';

export const OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'notStartsWith',
  'endsWith',
  'notEndsWith',
  'gt',
  'gte',
  'lt',
  'lte',
  'set',
  'notSet',
  'inDateRange',
  'notInDateRange',
  'beforeDate',
  'beforeOrOnDate',
  'afterDate',
  'afterOrOnDate',
] as const;
export type Operator = (typeof OPERATORS)[number];

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
      readonly about: FilterTarget['kind'];
    };

export interface FilterSetting {
  readonly model: Model;
  readonly nowMs: number;
  readonly timezone: string;
}

const MAX_DEPTH = 10;
const MAX_PARTS = 200;
const VALUE_LENGTH = 1000;
const MAX_VALUES = 1000;
const WITHOUT_VALUES: readonly Operator[] = ['set', 'notSet'];
const ABOUT_DATES = OPERATORS.filter(
  (operator) => operator.endsWith('Date') || operator.endsWith('DateRange'),
);
const ABOUT_SIZE: readonly Operator[] = ['gt', 'gte', 'lt', 'lte'];

function targetOf(model: Model, name: unknown): FilterTarget {
  if (typeof name !== 'string') throw userError('every filter needs a member');
  const measure = lookUp(model, 'measures', name);
  if (measure) return { ...measure, kind: 'measure' };
  const dimension = lookUp(model, 'dimensions', name);
  if (dimension) return { ...dimension, kind: 'dimension' };
  throw userError(`'${name.slice(0, 200)}' is not found in the data model`);
}

function toText(value: unknown): string | null {
  if (value === null) return null;
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof text !== 'string') throw userError('filter values must be texts');
  if (text.length > VALUE_LENGTH || text.includes('\0')) throw userError('a filter value is too long');
  return text;
}

const typeOf = (target: FilterTarget): string => (target.kind === 'measure' ? 'number' : target.member.type);

function requireFitting(target: FilterTarget, operator: Operator, values: readonly (string | null)[]): void {
  const type = typeOf(target);
  if (ABOUT_DATES.includes(operator) && type !== 'time') {
    throw userError(`${operator} works on time dimensions only, not on '${target.name}'`);
  }
  if (values.length === 0 && !WITHOUT_VALUES.includes(operator)) throw userError(`${operator} needs values`);
  const isNumber = (text: string | null): boolean =>
    text !== null && text.trim() !== '' && Number.isFinite(Number(text));
  const mustCount = type === 'number' && (ABOUT_SIZE.includes(operator) || operator.endsWith('quals'));
  if (mustCount && !values.every((text) => isNumber(text) || (text === null && operator.endsWith('quals')))) {
    throw userError(`'${target.name}' is compared with numbers`);
  }
  if (type === 'boolean' && operator.endsWith('quals')) {
    const fits = values.every((text) => text === null || text === 'true' || text === 'false');
    if (!fits) throw userError(`'${target.name}' is compared with true or false`);
  }
}

function spanOf(operator: Operator, values: readonly (string | null)[], setting: FilterSetting): Span | null {
  if (!ABOUT_DATES.includes(operator)) return null;
  const [first] = values;
  if (operator.endsWith('DateRange')) return parseSpan(values, setting.nowMs, setting.timezone);
  if (typeof first !== 'string') throw userError(`${operator} needs a date`);
  const at = (end: 'from' | 'to'): string => parseMoment(first, end, setting.timezone);
  return [at('from'), at('to')];
}

function parseFilter(item: unknown, setting: FilterSetting, depth: number): CoreDataFilter {
  if (!isJsonObject(item)) throw userError('every filter must be an object');
  if (depth > MAX_DEPTH) throw userError('filters are nested too deeply');
  for (const kind of ['and', 'or'] as const) {
    const group = own(item, kind);
    if (group === undefined) continue;
    if (!Array.isArray(group) || group.length === 0 || group.length > MAX_PARTS) {
      throw userError(`${kind} must be a list of 1 to ${MAX_PARTS} filters`);
    }
    const parts = group.map((part: unknown) => parseFilter(part, setting, depth + 1));
    const [first, ...others] = parts.map(aboutOf);
    // Dimensions are filtered before aggregation and measures after it, so one group cannot contain both.
    if (first === undefined || others.some((about) => about !== first)) {
      throw userError(`${kind}: measures and dimensions cannot be mixed in one group of filters`);
    }
    return { kind, parts, about: first };
  }
  const target = targetOf(setting.model, own(item, 'member') ?? own(item, 'dimension'));
  const operator = OPERATORS.find((one) => one === own(item, 'operator'));
  if (!operator) throw userError(`operator must be one of ${OPERATORS.join(', ')}`);
  const sent = own(item, 'values') ?? [];
  if (!Array.isArray(sent) || sent.length > MAX_VALUES) throw userError('filter values must be a list');
  const values = sent.map(toText);
  requireFitting(target, operator, values);
  return { kind: 'condition', target, operator, values, span: spanOf(operator, values, setting) };
}

/** Returns whether the filter applies to rows or to aggregates. */
export function aboutOf(filter: CoreDataFilter): FilterTarget['kind'] {
  return filter.kind === 'condition' ? filter.target.kind : filter.about;
}

/** Parses a list of filters that are combined with `and`; throws Problem 400. */
export function parseFilters(items: readonly unknown[], setting: FilterSetting): CoreDataFilter[] {
  return items.map((item) => parseFilter(item, setting, 0));
}
