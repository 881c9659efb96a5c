// Checks the form of a filter of Cube, in a query or in the row access of a model: a condition, or a group of filters under `and`
// or `or`.
import { isJsonObject, own } from '../json.ts';

export const OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'notStartsWith',
  'endsWith',
  'notEndsWith',
  'in',
  'notIn',
  'gt',
  'gte',
  'lt',
  'lte',
  'set',
  'notSet',
  'inDateRange',
  'notInDateRange',
  'onTheDate',
  'beforeDate',
  'beforeOrOnDate',
  'afterDate',
  'afterOrOnDate',
  'measureFilter',
] as const;
export type Operator = (typeof OPERATORS)[number];

// The next four limits bound the work that one query can cause.

/** Deepest nesting of groups. */
const MAX_DEPTH = 10;
/** Largest number of filters in one group. */
const MAX_PARTS = 200;
/** Longest text of a value, in characters. */
const VALUE_LENGTH = 1000;
/** Largest number of values of a condition. */
const MAX_VALUES = 10_000;
/** `<cube>.<member>`. */
const NAME = /^[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+$/;
/** Keys of a condition; `dimension` is the former name of `member`. */
const KEYS = ['member', 'dimension', 'operator', 'values'];

const isValue = (value: unknown): boolean =>
  value === null ||
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value.length <= VALUE_LENGTH && !value.includes('\0'));

/** Returns true for a condition, or for a group of conditions and groups. */
export function isFilterForm(value: unknown, depth = 0): boolean {
  if (!isJsonObject(value) || depth > MAX_DEPTH) return false;
  const group = own(value, 'and') ?? own(value, 'or');
  if (group !== undefined) {
    return (
      Object.keys(value).length === 1 &&
      Array.isArray(group) &&
      group.length <= MAX_PARTS &&
      group.every((part) => isFilterForm(part, depth + 1))
    );
  }
  const names = [own(value, 'member'), own(value, 'dimension')].filter((name) => name !== undefined);
  const values = own(value, 'values');
  return (
    Object.keys(value).every((key) => KEYS.includes(key)) &&
    names.length === 1 &&
    names.every((name) => typeof name === 'string' && NAME.test(name)) &&
    OPERATORS.some((operator) => operator === own(value, 'operator')) &&
    (values === undefined || (Array.isArray(values) && values.length <= MAX_VALUES && values.every(isValue)))
  );
}
