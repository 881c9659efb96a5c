// Reduces an answer of Core Data to its meaning, so that two servers can be compared: numbers by value, rows
// without an order that nobody promised, and none of the parts that are the engine's own.
import { createHash } from 'node:crypto';

/** Digits by which numbers are compared. */
const SIGNIFICANT = 9;

/** Returns text and numbers of equal value in one form; other values as they are. */
function toValue(value) {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value));
  return isNumber ? Number(Number(value).toPrecision(SIGNIFICANT)) : value;
}

const sortedByName = (entries) => Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
const toRow = (row) => sortedByName(Object.entries(row).map(([name, value]) => [name, toValue(value)]));

/** Returns the rows of any of the three forms as objects. */
function toRows(data) {
  if (Array.isArray(data)) return data.map(toRow);
  const { members = [], dataset, columns } = data ?? {};
  const rows = dataset ?? (columns?.[0] ?? []).map((_, at) => columns.map((column) => column[at]));
  return rows.map((row) => toRow(Object.fromEntries(members.map((member, at) => [member, row[at]]))));
}

const byText = (left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1);

/** Keys of a query that mean something to clients; the others are the engine's own. */
const QUERY_KEYS = [
  ...['measures', 'dimensions', 'segments', 'timeDimensions', 'filters', 'order', 'limit', 'rowLimit'],
  ...['offset', 'timezone', 'total', 'ungrouped', 'responseFormat'],
];

const isAsked = (value) => value !== undefined && !(Array.isArray(value) && value.length === 0);

/** Leaves out empty values of a filter. */
function toFilter({ and, or, values, ...filter }) {
  if (and ?? or) return { ...(and ? { and: and.map(toFilter) } : { or: or.map(toFilter) }) };
  return { ...filter, ...(isAsked(values) ? { values } : {}) };
}

/** Returns the query as it was understood. */
function toQuery({ timeDimensions = [], filters = [], segments = [], ...query } = {}) {
  const told = {
    ...query,
    timeDimensions: timeDimensions.map(({ dimension, granularity, dateRange }) => ({
      ...{ dimension, granularity, dateRange },
    })),
    filters: filters.map(toFilter),
    // The engine's own segments are objects.
    segments: segments.filter((segment) => typeof segment === 'string'),
  };
  return Object.fromEntries(QUERY_KEYS.filter((key) => isAsked(told[key])).map((key) => [key, told[key]]));
}

const toAnnotation = (annotation = {}) =>
  Object.fromEntries(
    Object.entries(annotation).map(([kind, members]) => [kind, sortedByName(Object.entries(members))]),
  );

/** Returns the values by which the rows are ordered, so that ties and names without effect do not count. */
function toSequence(rows, order) {
  const names = (Array.isArray(order) ? order.map(([name]) => name) : Object.keys(order)).filter(
    (name) => rows[0]?.[name] !== undefined,
  );
  return rows.map((row) => names.map((name) => row[name]));
}

function toResult(result, order) {
  const rows = toRows(result.data);
  return {
    sequence: toSequence(rows, order ?? {}),
    rows: rows.sort(byText),
    query: toQuery(result.query),
    annotation: toAnnotation(result.annotation),
    total: result.total,
  };
}

const sortedMember = (member) => sortedByName(Object.entries(member));
const toCubes = (cubes) =>
  cubes
    .map(({ name, type, title, measures, dimensions, segments }) => ({
      ...{ name, type, title },
      members: [measures, dimensions, segments].map((list) => list.map(sortedMember).sort(byText)),
    }))
    .sort(byText);

/** @returns the meaning of an answer: `{status, body}` with the parsed JSON or the text of a page */
export function meaningOf(request, { status, body, headers }) {
  if (request.method === 'OPTIONS' || request.headers?.origin !== undefined) return { status, headers };
  if (typeof body === 'string') return { status, page: true };
  if (body.error !== undefined) return { status, error: String(body.error), type: body.type };
  const { query } = request.body ?? {};
  if (Array.isArray(body.cubes)) return { status, cubes: toCubes(body.cubes) };
  if (Array.isArray(body.results)) {
    const results = body.results.map((one) => toResult(one, query?.order));
    return { status, queryType: body.queryType, results, pivot: toQuery(body.pivotQuery) };
  }
  if (body.sql !== undefined) return { status, hasSql: /^\s*(SELECT|WITH)/i.test(body.sql.sql?.[0] ?? '') };
  if (body.normalizedQueries !== undefined) {
    return {
      ...{ status, queryType: body.queryType, queries: body.normalizedQueries.map(toQuery) },
      ...{ order: body.queryOrder, pivot: toQuery(body.pivotQuery) },
    };
  }
  return { status, result: toResult(body, query?.order) };
}

/** @returns the place of the first difference with both values as short texts, or undefined when equal */
export function differenceOf(left, right, place = '') {
  if (JSON.stringify(left) === JSON.stringify(right)) return undefined;
  const isBranch = (value) => typeof value === 'object' && value !== null;
  if (isBranch(left) && isBranch(right)) {
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const inside = differenceOf(left[name], right[name], place === '' ? name : `${place}.${name}`);
      if (inside) return inside;
    }
    return undefined;
  }
  const short = (value) => (JSON.stringify(value) ?? 'absent').slice(0, 90);
  return { place, left: short(left), right: short(right) };
}

/** A longer list is replaced by its digest. */
const MOST_ENTRIES = 40;

/** @returns a meaning whose long lists are replaced by their length and digest, so that a file of records is small */
export function digested(value) {
  if (Array.isArray(value)) {
    if (value.length <= MOST_ENTRIES) return value.map(digested);
    const digest = createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
    return { length: value.length, digest };
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, digested(entry)]));
}
