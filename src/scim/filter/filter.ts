// Defines the filter tree that the parser returns and the evaluator reads.
import type { Field } from '../attributes.ts';

export type CompareOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';
export type FilterValue = string | number | boolean | null;

/** The attribute that a filter expression names. */
export interface FilterAttribute {
  /** Canonical keys that lead to the value, from the resource, or from the element inside `[…]`. */
  readonly steps: readonly string[];
  /** Definition of the attribute or sub-attribute of the last key; undefined for an undeclared member of an open extension. */
  readonly field: Field | undefined;
  /** Canonical path in lower case, such as `username`. In a comparison it includes an implied `.value`, such as `emails.value`. */
  readonly key: string;
}

export interface Comparison {
  readonly kind: 'compare';
  readonly attribute: FilterAttribute;
  readonly operator: CompareOperator;
  /** Literal converted to the attribute's type. */
  readonly value: FilterValue;
  /** How text is compared: exactly, without case, or as a point in time. */
  readonly collation: 'exact' | 'ignoreCase' | 'time';
  /** `value` in the form that is compared: folded text for `ignoreCase`, milliseconds for `time`. */
  readonly operand: FilterValue;
}

export type Filter =
  | Comparison
  | { readonly kind: 'present'; readonly attribute: FilterAttribute }
  | { readonly kind: 'and' | 'or'; readonly branches: readonly Filter[] }
  | { readonly kind: 'not'; readonly branch: Filter }
  /** `attribute[filter]`: some element satisfies the whole inner filter. */
  | { readonly kind: 'element'; readonly attribute: FilterAttribute; readonly filter: Filter };
