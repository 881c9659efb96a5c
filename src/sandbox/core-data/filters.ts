// Resolves the filters of a JSON query: a tree of conditions under `and` and `or` (contract 5.1).
import { own, type SandboxJsonObject } from '../json.ts';
import type { Span } from './date-range.ts';
import type { Operator } from './filter-form.ts';
import { valuesOf, type FilterSetting, type FilterTarget } from './filter-values.ts';
import { compilerError, lookUp, unknownMember, userError } from './members.ts';
import type { Model } from './model.ts';

export type CoreDataFilter =
  | {
      readonly kind: 'condition';
      readonly target: FilterTarget;
      readonly operator: Operator;
      /** Null = no value; words for dates are resolved. */
      readonly values: readonly (string | null)[];
      /** Set for date operators: the first and the last moment. */
      readonly span: Span | null;
    }
  | {
      readonly kind: 'and' | 'or';
      readonly parts: readonly CoreDataFilter[];
      /** Kind of the members in all parts. Null = an empty group, which filters nothing. */
      readonly targetKind: FilterTarget['kind'] | null;
    };

const WITHOUT_VALUES: readonly Operator[] = ['set', 'notSet', 'measureFilter'];

function targetOf(model: Model, name: string): FilterTarget {
  const measure = lookUp(model, 'measures', name);
  if (measure) return { ...measure, kind: 'measure' };
  const dimension = lookUp(model, 'dimensions', name);
  if (dimension) return { ...dimension, kind: 'dimension' };
  throw unknownMember(model, name);
}

function parseFilter(item: SandboxJsonObject, setting: FilterSetting): CoreDataFilter {
  for (const kind of ['and', 'or'] as const) {
    const group = own(item, kind);
    if (group === undefined) continue;
    const parts = (group as SandboxJsonObject[]).map((part) => parseFilter(part, setting));
    const [first = null, ...others] = parts.flatMap((part) => targetKindOf(part) ?? []);
    // Dimensions are filtered before aggregation and measures after it, so one group cannot contain both.
    if (others.some((other) => other !== first)) {
      throw compilerError(
        `You cannot use dimension and measure in same condition: ${JSON.stringify(item).slice(0, 300)}`,
      );
    }
    return { kind, parts, targetKind: first };
  }
  const target = targetOf(setting.model, String(own(item, 'member') ?? own(item, 'dimension')));
  const operator = own(item, 'operator') as Operator;
  const sent = (own(item, 'values') ?? []) as (string | number | boolean | null)[];
  const values = sent.map((value) => (value === null ? null : String(value)));
  return { kind: 'condition', target, operator, ...valuesOf({ target, operator, values }, setting) };
}

/**
 * Returns the kind of the members that the filter tests: dimensions are filtered in rows, measures after aggregation.
 * Null for a group without conditions.
 */
export function targetKindOf(filter: CoreDataFilter): FilterTarget['kind'] | null {
  return filter.kind === 'condition' ? filter.target.kind : filter.targetKind;
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

/** Resolves a list of filters that are combined with `and`; throws SandboxProblem 400. */
export function parseFilters(items: readonly SandboxJsonObject[], setting: FilterSetting): CoreDataFilter[] {
  items.forEach(requireValues);
  return items.map((item) => parseFilter(item, setting));
}
