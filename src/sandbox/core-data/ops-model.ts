// Defines the data model `ops` of the seed's second deployment: incidents at sites.
import type { Cube, Model, Sampling, ModelTable } from './model.ts';
import { between, tableColumns, sampledMoment, pick, pickCountry, policiesByCountry } from './sampling.ts';

/** Severities with their shares; the sum is 1. */
const SEVERITIES = [
  ['low', 0.5],
  ['medium', 0.3],
  ['high', 0.15],
  ['critical', 0.05],
] as const;
const INCIDENTS = 280;

const incidents: Cube = {
  name: 'incidents',
  kind: 'view',
  title: 'Incidents',
  description: 'Incidents and how long they lasted',
  isPublic: true,
  tables: ['incidents'],
  cubes: [],
  key: 'i.id',
  source: (tableName) => `${tableName('incidents')} i`,
  measures: [
    { name: 'count', title: 'Count', description: 'Number of incidents', aggType: 'count', sql: '1' },
    { name: 'total_minutes', title: 'Total Minutes', aggType: 'sum', sql: 'i.minutes' },
  ],
  dimensions: [
    { name: 'severity', title: 'Severity', type: 'string', sql: 'i.severity' },
    { name: 'country', title: 'Country', type: 'string', sql: 'i.country' },
    { name: 'opened_at', title: 'Opened At', type: 'time', sql: 'i.opened_at' },
  ],
  segments: [],
  policies: policiesByCountry('operators'),
};

/** Returns the table; the values of a row are in the order of the columns below. */
function sample(sampling: Sampling): ModelTable[] {
  const rows = Array.from({ length: INCIDENTS }, (_, index) => [
    index + 1,
    pick(sampling, SEVERITIES),
    pickCountry(sampling),
    between(sampling, 1, 600),
    sampledMoment(sampling, 180),
  ]);
  return [
    {
      name: 'incidents',
      columns: tableColumns(
        'id INTEGER, severity VARCHAR, country VARCHAR, minutes INTEGER, opened_at TIMESTAMP',
      ),
      rows,
    },
  ];
}

export const OPS_MODEL: Model = { name: 'ops', cubes: [incidents], sample };
