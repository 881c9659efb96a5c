// Reduces an answer of Core Data to its meaning, so that two servers can be compared: numbers by value, rows
// without an order that nobody promised, and none of the parts that are the engine's own.

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

function toResult(result, isOrdered) {
  const rows = toRows(result.data);
  const spans = (result.query?.timeDimensions ?? []).map(({ dateRange, granularity }) => [
    dateRange,
    granularity,
  ]);
  const types = Object.values(result.annotation ?? {}).flatMap((kind) =>
    Object.entries(kind).map(([name, { type, title }]) => [name, type, title]),
  );
  return {
    rows: isOrdered ? rows : rows.sort(byText),
    spans,
    types: types.sort(byText),
    total: result.total,
  };
}

const toCubes = (cubes) =>
  cubes
    .map(({ name, type, title, measures, dimensions, segments }) => ({
      ...{ name, type, title },
      members: [measures, dimensions, segments].map((list) =>
        list.map((one) => [one.name, one.type, one.title, one.aggType]).sort(byText),
      ),
    }))
    .sort(byText);

/** @returns the meaning of an answer: `{status, body}` with the parsed JSON or the text of a page */
export function meaningOf(request, { status, body }) {
  if (typeof body === 'string') return { status, page: true };
  if (body.error !== undefined) return { status, error: String(body.error), type: body.type };
  const { query } = request.body ?? {};
  const isOrdered = Object.keys(query?.order ?? {}).length > 0;
  if (Array.isArray(body.cubes)) return { status, cubes: toCubes(body.cubes) };
  if (Array.isArray(body.results)) {
    const results = body.results.map((one) => toResult(one, isOrdered));
    return { status, queryType: body.queryType, results };
  }
  if (body.sql !== undefined) return { status, hasSql: /^\s*(SELECT|WITH)/i.test(body.sql.sql?.[0] ?? '') };
  if (body.normalizedQueries !== undefined) {
    const spans = body.normalizedQueries.map(({ timeDimensions }) =>
      (timeDimensions ?? []).map(({ dateRange, granularity }) => [dateRange, granularity]),
    );
    return { status, queryType: body.queryType, spans };
  }
  return { status, result: toResult(body, isOrdered) };
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
  const short = (value) => (JSON.stringify(value) ?? 'absent').slice(0, 60);
  return { place, left: short(left), right: short(right) };
}
