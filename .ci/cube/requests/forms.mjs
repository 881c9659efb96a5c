// Builds recorded requests of Core Data from short forms.

/** The time dimension of the seed's orders. */
export const T = 'orders.created_at';
export const count = { measures: ['orders.count'] };
export const byCountry = { ...count, dimensions: ['orders.country'] };
export const time = (more) => ({ ...count, timeDimensions: [{ dimension: T, ...more }] });

export const condition = (member, operator, values) => ({
  member,
  operator,
  ...(values === undefined ? {} : { values }),
});
export const filter = (member, operator, values) => ({
  measures: [`${member.split('.')[0]}.count`],
  filters: [condition(member, operator, values)],
});

export const DE = condition('orders.country', 'equals', ['DE']);

export const inGroups = (groups, userAttributes = {}) => ({ cubeCloud: { groups, userAttributes } });
export const analyst = (country) => inGroups(['analysts'], { country });
/** The security context of a request that names none. */
export const EVERYTHING = inGroups(['everything']);

export const post = (path, body, more = {}) => ({ method: 'POST', path, body, ...more });
export const load = (query, more = {}) => post('/v1/load', { query }, more);
export const multi = (query) => post('/v1/load', { query, queryType: 'multi' });
export const get = (path, query, more = {}) => ({
  method: 'GET',
  path: `${path}?query=${encodeURIComponent(JSON.stringify(query))}`,
  ...more,
});

// Reasons of known differences, as the comparison prints them (`known` of a request).
export const SERVER_ERROR = 'a client’s mistake is 400, Cube answers 500';
export const ROW_TEXT = 'the database names a value of a row';
export const ANY_CASE = 'the name of a granularity in another case is passed to the database';
export const DATABASE_TEXT = 'a segment as a filter is refused by the database';
