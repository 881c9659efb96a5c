// Defines the data model `sales` of the seed (docs/sandbox.md): the view `orders` with its policies, and its cubes.
import type { Cube, Dimension, Model, Sampling, ModelTable } from './model.ts';
import {
  between,
  tableColumns,
  COUNTRIES,
  sampledMoment,
  pick,
  pickCountry,
  policiesByCountry,
} from './sampling.ts';

/** States of orders, and tiers of customers below, with their shares; each sum is 1. */
const STATUSES = [
  ['completed', 0.5],
  ['shipped', 0.2],
  ['processing', 0.15],
  ['cancelled', 0.1],
  ['returned', 0.05],
] as const;
const TIERS = [
  ['standard', 0.6],
  ['plus', 0.3],
  ['enterprise', 0.1],
] as const;
/** Numbers of rows in the production branch; other branches have half of them. */
const ORDERS = 640;
const CUSTOMERS = 120;

/** Analysts see their own country (docs/sandbox.md). */
const BY_COUNTRY = policiesByCountry('analysts');

const country: Dimension = {
  name: 'country',
  title: 'Country',
  description: 'Country of the customer, two letters',
  type: 'string',
  from: 'raw_customers',
  sql: 'c.country',
};

const orders: Cube = {
  name: 'orders',
  kind: 'view',
  title: 'Orders',
  description: 'Orders with the country of their customer',
  isPublic: true,
  tables: ['orders', 'customers'],
  cubes: ['raw_orders', 'raw_customers'],
  base: 'raw_orders',
  key: 'o.id',
  reaches: ['customers', 'raw_orders', 'raw_customers'],
  source: (tableName) => `${tableName('orders')} o JOIN ${tableName('customers')} c ON c.id = o.customer_id`,
  measures: [
    { name: 'count', title: 'Count', description: 'Number of orders', aggType: 'count', sql: '1' },
    {
      name: 'total_amount',
      title: 'Total Amount',
      description: 'Sum of the order amounts',
      aggType: 'sum',
      sql: 'o.amount',
    },
  ],
  dimensions: [
    country,
    { name: 'status', title: 'Status', description: 'State of the order', type: 'string', sql: 'o.status' },
    {
      name: 'created_at',
      title: 'Created At',
      description: 'When the order was placed',
      type: 'time',
      sql: 'o.created_at',
    },
  ],
  segments: [{ name: 'completed', title: 'Completed', sql: "o.status = 'completed'" }],
  policies: BY_COUNTRY,
};

const customers: Cube = {
  name: 'customers',
  reaches: ['raw_customers'],
  kind: 'view',
  title: 'Customers',
  description: 'Who buys',
  isPublic: true,
  tables: ['customers'],
  cubes: ['raw_customers'],
  base: 'raw_customers',
  key: 'c.id',
  source: (tableName) => `${tableName('customers')} c`,
  measures: [
    { name: 'count', title: 'Count', description: 'Number of customers', aggType: 'count', sql: '1' },
    { name: 'average_credit', title: 'Average Credit', aggType: 'avg', sql: 'c.credit' },
    { name: 'highest_credit', title: 'Highest Credit', aggType: 'max', isWhole: true, sql: 'c.credit' },
    { name: 'lowest_credit', title: 'Lowest Credit', aggType: 'min', isWhole: true, sql: 'c.credit' },
    { name: 'countries', title: 'Countries', aggType: 'countDistinct', sql: 'c.country' },
  ],
  dimensions: [
    { name: 'name', title: 'Name', type: 'string', sql: 'c.name' },
    country,
    { name: 'tier', title: 'Tier', type: 'string', sql: 'c.tier' },
    { name: 'credit', title: 'Credit', type: 'number', isWhole: true, sql: 'c.credit' },
    { name: 'is_active', title: 'Is Active', type: 'boolean', sql: 'c.is_active' },
    { name: 'signed_up_at', title: 'Signed Up At', type: 'time', sql: 'c.signed_up_at' },
  ],
  segments: [],
  policies: BY_COUNTRY,
};

const countries: Cube = {
  name: 'countries',
  kind: 'cube',
  title: 'Countries',
  description: 'Reference data that everybody may read',
  isPublic: true,
  tables: ['countries'],
  cubes: [],
  key: 'r.code',
  source: (tableName) => `${tableName('countries')} r`,
  measures: [{ name: 'count', title: 'Count', aggType: 'count', sql: '1' }],
  dimensions: [
    { name: 'code', title: 'Code', type: 'string', isKey: true, sql: 'r.code' },
    { name: 'name', title: 'Name', type: 'string', sql: 'r.name' },
    { name: 'region', title: 'Region', type: 'string', sql: 'r.region' },
  ],
  segments: [],
  policies: [{ groups: ['*'], filters: [] }],
};

/**
 * Returns a private cube under a view. No policy restricts its rows, because no answer shows them: clients can name the cube in
 * filters only.
 */
function createPrivateCube(name: string, view: Cube, reaches: readonly string[]): Cube {
  return {
    ...view,
    name,
    kind: 'cube',
    title: name,
    description: 'For views only',
    isPublic: false,
    policies: [],
    reaches,
    cubes: [],
    dimensions: view.dimensions.filter(({ from = name }) => from === name),
  };
}

/** Returns the tables; the values of a row are in the order of the columns below. */
function sample(sampling: Sampling): ModelTable[] {
  const customerCount = sampling.isProduction ? CUSTOMERS : CUSTOMERS / 2;
  const orderCount = sampling.isProduction ? ORDERS : ORDERS / 2;
  const customerRows = Array.from({ length: customerCount }, (_, index) => [
    index + 1,
    `Customer ${String(index + 1).padStart(3, '0')}`,
    pickCountry(sampling),
    pick(sampling, TIERS),
    between(sampling, 0, 100) * 250,
    sampling.roll() < 0.9,
    sampledMoment(sampling, 900),
  ]);
  const orderRows = Array.from({ length: orderCount }, (_, index) => [
    index + 1,
    between(sampling, 1, customerCount),
    pick(sampling, STATUSES),
    between(sampling, 500, 50_000) / 100,
    sampledMoment(sampling, 365),
  ]);
  return [
    {
      name: 'customers',
      columns: tableColumns(
        'id INTEGER, name VARCHAR, country VARCHAR, tier VARCHAR, credit INTEGER, is_active BOOLEAN, signed_up_at TIMESTAMP',
      ),
      rows: customerRows,
    },
    {
      name: 'orders',
      columns: tableColumns(
        'id INTEGER, customer_id INTEGER, status VARCHAR, amount DECIMAL(12,2), created_at TIMESTAMP',
      ),
      rows: orderRows,
    },
    {
      name: 'countries',
      columns: tableColumns('code VARCHAR, name VARCHAR, region VARCHAR'),
      rows: COUNTRIES,
    },
  ];
}

export const SALES_MODEL: Model = {
  name: 'sales',
  cubes: [
    orders,
    customers,
    countries,
    createPrivateCube('raw_orders', orders, ['raw_customers', 'orders', 'customers']),
    createPrivateCube('raw_customers', customers, ['customers']),
  ],
  sample,
};
