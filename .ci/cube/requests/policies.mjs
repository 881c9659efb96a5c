// Recorded requests about metadata and access policies.
import { analyst, byCountry, count, DE, get, inGroups, load, post, SERVER_ERROR, time } from './forms.mjs';

const hidden = (query, context) => load(query, { context, known: SERVER_ERROR });
export const POLICIES = [
  load(byCountry, { context: analyst('DE') }),
  load({ ...count, filters: [{ ...DE, values: ['US'] }] }, { context: analyst('DE') }),
  load(byCountry, { context: analyst(['DE', 'US']) }),
  load(byCountry, { context: inGroups(['analysts']) }),
  load(byCountry, { context: analyst('') }),
  hidden(byCountry, inGroups(['Analysts'], { country: 'DE' })),
  hidden(byCountry, inGroups(['strangers'])),
  hidden(byCountry, {}),
  hidden({ measures: ['raw_orders.count'] }),
  load({ dimensions: ['customers.name'], limit: 50_001 }, { known: SERVER_ERROR }),
  ...[undefined, {}, analyst('DE'), inGroups(['strangers'])].map((context) => ({
    method: 'GET',
    path: '/v1/meta',
    context,
  })),
  { method: 'GET', path: '/v1/meta?onlyViews=true' },
];

const byCustomers = { measures: ['customers.count'], dimensions: ['customers.country'] };
const both = inGroups(['analysts', 'everything'], { country: 'DE' });
export const GROUPS = [
  ...[analyst('DE'), analyst('XX'), both].flatMap((context) => [
    load(byCustomers, { context }),
    load({ measures: ['orders.count', 'customers.count'] }, { context }),
    load({ ...time({ granularity: 'quarter' }), total: true, limit: 2 }, { context }),
    load({ ...byCountry, ungrouped: true }, { context }),
    load({ dimensions: ['countries.name'] }, { context }),
    load(
      { ...byCountry, filters: [{ member: 'orders.country', operator: 'in', values: ['DE', 'US'] }] },
      { context },
    ),
    post('/v1/dry-run', { query: byCountry }, { context }),
    get('/v1/sql', byCountry, { context }),
  ]),
  ...['de', 'D%', "D'E", 5, true, 0, ['DE'], []].map((country) =>
    load(byCountry, { context: analyst(country) }),
  ),
  ...[null, { a: 1 }].map((country) =>
    load(byCountry, { context: analyst(country), known: 'null and objects count as absent' }),
  ),
  ...[{}, inGroups([]), inGroups(['strangers']), inGroups('everything'), { groups: ['everything'] }].map(
    (context) => load({ dimensions: ['countries.name'] }, { context }),
  ),
  ...[{}, inGroups(['strangers'])].flatMap((context) => [
    hidden(count, context),
    hidden({ dimensions: ['orders.country'] }, context),
    hidden({ dimensions: ['countries.name'], ...count }, context),
    load(
      { dimensions: ['countries.name'], filters: [{ member: 'orders.country', operator: 'set' }] },
      { context },
    ),
    post('/v1/dry-run', { query: count }, { context }),
    post('/v1/sql', { query: count }, { context }),
  ]),
  hidden({ dimensions: ['raw_customers.name'], limit: 1 }),
  hidden({ dimensions: ['orders.country'], measures: ['raw_orders.count'] }),
  ...[
    { filters: [{ member: 'raw_orders.status', operator: 'equals', values: ['shipped'] }] },
    { segments: ['raw_orders.completed'] },
  ].map((more) => load({ ...count, ...more })),
];
