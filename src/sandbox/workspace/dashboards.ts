// Dashboards of a workbook as they come in: checked against the record tables of the specification, stored as sent.
import { Ajv } from 'ajv';
import { isObject, own, type JsonObject } from '../json.ts';
import { Problem } from '../problem.ts';
import { DASHBOARD_SCHEMAS } from './dashboard-schemas.ts';
import type { Dashboards } from './records.ts';

const MEMBERS = {
  dashboardDraft: 'DashboardConfig',
  dashboardPublished: 'DashboardConfig',
  publishedDashboard: 'Dashboard',
} as const;

/** The member as a record of that schema, null when absent or null; 400 names the first fault. */
function readRecord(source: JsonObject, member: keyof typeof MEMBERS): JsonObject | null {
  const value = own(source, member) ?? null;
  if (value === null) return null;
  // Compiled when a dashboard comes in, which is rare: start-up and memory do not pay for it.
  const ajv = new Ajv({ allowUnionTypes: true, ownProperties: true, strictRequired: false });
  ajv.addVocabulary(['components']);
  ajv.addSchema({ $id: 'dashboards', components: { schemas: DASHBOARD_SCHEMAS } });
  const check = ajv.getSchema(`dashboards#/components/schemas/${MEMBERS[member]}`);
  if (!check?.(value) || !isObject(value)) {
    const fault = check?.errors?.[0];
    throw new Problem(400, `${member}${fault?.instancePath ?? ''} ${fault?.message ?? 'is not a record'}`);
  }
  return value;
}

/** The three dashboard members of a workbook; throws Problem 400. */
export function readDashboards(source: JsonObject): Dashboards {
  return {
    dashboardDraft: readRecord(source, 'dashboardDraft'),
    dashboardPublished: readRecord(source, 'dashboardPublished'),
    publishedDashboard: readRecord(source, 'publishedDashboard'),
  };
}
