// Checks the form of a JSON query as Cube does: unknown keys are refused by name, values are not converted.
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import { zoneNamed } from './time-zone.ts';
import { isFilterForm } from './filter-form.ts';
import { userError } from './members.ts';

const FORMATS = ['default', 'compact', 'columnar'] as const;
export type ResponseFormat = (typeof FORMATS)[number];
export const CACHE_MODES = [
  'stale-if-slow',
  'stale-while-revalidate',
  'must-revalidate',
  'no-cache',
] as const;

export interface TimeDimensionForm {
  readonly dimension: string;
  readonly granularity?: string;
  readonly dateRange?: string | readonly string[];
  readonly compareDateRange?: readonly unknown[];
}

/** A query whose form is valid; its names are not resolved yet. */
export interface QueryForm {
  readonly measures?: readonly string[];
  /** Names such as `orders.country`, or with a granularity such as `orders.created_at.month`. */
  readonly dimensions?: readonly string[];
  readonly segments?: readonly string[];
  readonly timeDimensions?: readonly TimeDimensionForm[];
  readonly filters?: readonly SandboxJsonObject[];
  readonly order?: Readonly<Record<string, 'asc' | 'desc'>> | readonly (readonly [string, 'asc' | 'desc'])[];
  readonly limit?: number;
  readonly offset?: number;
  readonly total?: boolean | string;
  /** The zone as the client sent it; an empty text or null means UTC. */
  readonly timezone?: string | null;
  readonly ungrouped?: boolean | string;
  readonly responseFormat?: ResponseFormat;
}

/** Largest number of entries in one list of a query. */
const MAX_LIST = 100;
const MEMBER_NAME = /^[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+$/;
const DIMENSION_NAME = /^[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+)?$/;
const ORDER_NAME =
  /^[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+$|^[a-zA-Z0-9_]+$|^[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+$/;

/** Returns the refusal of a value with its path. */
export const invalidQuery = (path: string, fault: string) =>
  userError(`Invalid query format: "${path.slice(0, 200)}" ${fault}`);

/** Checks a value; `path` leads to it in the query, such as `filters[0]`. @throws 400 */
type Check = (value: unknown, path: string) => void;

const anything: Check = () => undefined;

const list =
  (check: Check, bounds: { least?: number; most?: number } = {}): Check =>
  (value, path) => {
    if (!Array.isArray(value)) throw invalidQuery(path, 'must be an array');
    const { least = 0, most = MAX_LIST } = bounds;
    if (value.length < least) throw invalidQuery(path, `must contain at least ${least} items`);
    if (value.length > most) throw invalidQuery(path, `must contain less than or equal to ${most} items`);
    for (const [index, entry] of value.entries()) check(entry, `${path}[${index}]`);
  };

const memberName =
  (pattern: RegExp, types: string): Check =>
  (value, path) => {
    if (typeof value !== 'string') throw invalidQuery(path, types);
    if (!pattern.test(value))
      throw invalidQuery(
        path,
        `with value "${value.slice(0, 100)}" fails to match the required pattern: ${pattern}`,
      );
  };

const member = memberName(MEMBER_NAME, 'must be one of [string, object]');
const text: Check = (value, path) => {
  if (typeof value !== 'string') throw invalidQuery(path, 'must be a string');
  if (value === '') throw invalidQuery(path, 'is not allowed to be empty');
};
const flag: Check = (value, path) => {
  const isText = typeof value === 'string' && /^(?:true|false)$/i.test(value);
  if (typeof value !== 'boolean' && !isText) throw invalidQuery(path, 'must be a boolean');
};
const wholeNumber: Check = (value, path) => {
  if (typeof value !== 'number') throw invalidQuery(path, 'must be a number');
  if (!Number.isInteger(value)) throw invalidQuery(path, 'must be an integer');
  if (value < 0) throw invalidQuery(path, 'must be greater than or equal to 0');
  if (!Number.isSafeInteger(value)) throw invalidQuery(path, 'must be a safe number');
};
/** Returns a check for one of these texts. */
export const oneOf =
  (choices: readonly string[]): Check =>
  (value, path) => {
    if (!choices.some((choice) => choice === value))
      throw invalidQuery(path, `must be one of [${choices.join(', ')}]`);
  };

const dateRange: Check = (value, path) => {
  if (typeof value === 'string') return text(value, path);
  if (!Array.isArray(value)) throw invalidQuery(path, 'must be one of [array, string]');
  list(text, { least: 1, most: 2 })(value, path);
};

/** Returns a check of an object: each value by the check of its key; other keys are refused. */
const object =
  (keys: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (!isJsonObject(value)) throw invalidQuery(path, 'must be of type object');
    // Joi, which checks queries in Cube, calls the query itself `value` and leaves that name out of longer paths.
    const prefix = path === 'value' ? '' : `${path}.`;
    for (const [key, entry] of Object.entries(value)) {
      const check = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (check && entry !== undefined) check(entry, `${prefix}${key}`);
    }
    const unknownKey = Object.keys(value).find((key) => !Object.hasOwn(keys, key));
    if (unknownKey !== undefined) throw invalidQuery(`${prefix}${unknownKey}`, 'is not allowed');
  };

const granularity: Check = (value, path) => {
  text(value, path);
  if (Buffer.byteLength(value as string) > 128)
    throw invalidQuery(path, 'length must be less than or equal to 128 characters long');
};

const timeDimension: Check = (value, path) => {
  object({
    dimension: memberName(MEMBER_NAME, 'must be a string'),
    granularity,
    dateRange,
    compareDateRange: list(anything),
  })(value, path);
  const entry = value as SandboxJsonObject;
  if (own(entry, 'dimension') === undefined) throw invalidQuery(`${path}.dimension`, 'is required');
  if (own(entry, 'dateRange') !== undefined && own(entry, 'compareDateRange') !== undefined)
    throw invalidQuery(
      path,
      'contains a conflict between optional exclusive peers [dateRange, compareDateRange]',
    );
};

const direction = oneOf(['asc', 'desc']);
/** `[name, direction]`. */
const orderStep: Check = (value, path) => {
  if (!Array.isArray(value)) throw invalidQuery(path, 'must be an array');
  if (value.length > 0) memberName(ORDER_NAME, 'must be a string')(value[0], `${path}[0]`);
  if (value.length > 1) direction(value[1], `${path}[1]`);
  if (value.length > 2) throw invalidQuery(path, 'must contain at most 2 items');
  if (value.length < 2) throw invalidQuery(path, 'must contain at least 2 items');
};
const order: Check = (value, path) => {
  if (Array.isArray(value)) list(orderStep)(value, path);
  else if (isJsonObject(value)) {
    for (const [name, entry] of Object.entries(value)) {
      if (!ORDER_NAME.test(name)) throw invalidQuery(`${path}.${name}`, 'is not allowed');
      direction(entry, `${path}.${name}`);
    }
  } else throw invalidQuery(path, 'must be one of [object, array]');
};

const filter: Check = (value, path) => {
  if (!isFilterForm(value)) throw invalidQuery(path, 'does not match any of the allowed types');
};
const timezone: Check = (value, path) => {
  if (value === null || value === '') return;
  text(value, path);
  if (zoneNamed(value as string) === undefined)
    throw invalidQuery(path, `must be a valid IANA time zone, got "${(value as string).slice(0, 100)}"`);
};

/** Checks the cache mode of a body or a query. @throws 400 with the name `cacheMode`, which Cube uses for both */
export const checkCache = (value: unknown): void => oneOf(CACHE_MODES)(value, 'cacheMode');

const QUERY = object({
  measures: list(member),
  dimensions: list(memberName(DIMENSION_NAME, 'must be one of [string, object]')),
  segments: list(member),
  timeDimensions: list(timeDimension),
  filters: list(filter),
  order,
  limit: wholeNumber,
  offset: wholeNumber,
  total: flag,
  ungrouped: flag,
  timezone,
  responseFormat: oneOf(FORMATS),
  cache: (value) => checkCache(value),
  // `cacheMode` is ignored with any value, because Cube uses `cache`.
  cacheMode: anything,
  joinHints: list(list(text)),
});

/** Returns the query. @throws 400 with the path of the first fault */
export function checkForm(value: unknown): QueryForm {
  QUERY(value, 'value');
  const query = value as QueryForm;
  const { measures = [], dimensions = [], timeDimensions = [] } = query;
  const hasGranularity = timeDimensions.some(({ granularity }) => granularity !== undefined);
  if (measures.length === 0 && dimensions.length === 0 && !hasGranularity) {
    throw userError(
      'Query should contain either measures, dimensions or timeDimensions with granularities in order to be valid',
    );
  }
  return query;
}
