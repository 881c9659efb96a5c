// Recorded requests about filters on measures, before and after grouping.
import { condition, load } from './forms.mjs';

const CUSTOMERS = { measures: ['customers.count'], dimensions: ['customers.country'] };
const TIERS = { measures: ['customers.average_credit'], dimensions: ['customers.tier'] };

export const MEASURES = [
  ...['equals', 'notEquals', 'gt', 'gte', 'lt', 'lte'].map((operator) => ({
    ...CUSTOMERS,
    filters: [condition('customers.count', operator, ['20'])],
  })),
  ...['set', 'notSet', 'measureFilter'].map((operator) => ({
    ...CUSTOMERS,
    filters: [condition('customers.count', operator)],
  })),
  { ...CUSTOMERS, filters: [condition('customers.count', 'equals', ['20', '21', '22'])] },
  { ...CUSTOMERS, filters: [condition('customers.count', 'gt', ['abc'])] },
  { ...CUSTOMERS, filters: [condition('customers.count', 'contains', ['2'])] },
  { ...CUSTOMERS, filters: [condition('customers.count', 'equals', [null])] },
  { ...CUSTOMERS, filters: [condition('customers.count', 'inDateRange', ['2026-01-01'])] },
  { ...TIERS, filters: [condition('customers.average_credit', 'gt', ['12500'])] },
  { ...TIERS, filters: [condition('customers.highest_credit', 'gte', ['25000'])] },
  { ...TIERS, filters: [condition('customers.lowest_credit', 'equals', ['0'])] },
  { ...TIERS, filters: [condition('customers.countries', 'lt', ['6'])] },
  { ...TIERS, filters: [condition('orders.count', 'gt', ['100'])] },
].map((query) => load(query));
