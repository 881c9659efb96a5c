// Validates the dashboards of a workbook against the record tables of the specification; they are stored
// unchanged.
import { Ajv } from 'ajv';
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { DASHBOARD_SCHEMAS } from './dashboard-schemas.ts';
import type { Dashboards } from './records.ts';

const MEMBERS = {
  dashboardDraft: 'DashboardConfig',
  dashboardPublished: 'DashboardConfig',
  publishedDashboard: 'Dashboard',
} as const;

/** Reads the three dashboard properties of a workbook; throws SandboxProblem 400 that names the first fault. */
export type ReadDashboards = (source: SandboxJsonObject) => Dashboards;

/** The schemas are compiled at the first dashboard, so that the start stays fast. */
export function createDashboardReader(): ReadDashboards {
  let compiled: Ajv | undefined;

  function compile(): Ajv {
    const ajv = new Ajv({ allowUnionTypes: true, ownProperties: true, validateSchema: false });
    ajv.addVocabulary(['components']);
    return ajv.addSchema({ $id: 'dashboards', components: { schemas: DASHBOARD_SCHEMAS } });
  }

  /** Returns a property as a record of its schema, null when absent or null. */
  function readRecord(source: SandboxJsonObject, member: keyof typeof MEMBERS): SandboxJsonObject | null {
    const value = own(source, member) ?? null;
    if (value === null) return null;
    compiled ??= compile();
    const check = compiled.getSchema(`dashboards#/components/schemas/${MEMBERS[member]}`);
    if (check?.(value) && isJsonObject(value)) return value;
    const fault = check?.errors?.[0];
    throw new SandboxProblem(
      400,
      `${member}${fault?.instancePath ?? ''} ${fault?.message ?? 'is not a record'}`,
    );
  }

  return (source) => ({
    dashboardDraft: readRecord(source, 'dashboardDraft'),
    dashboardPublished: readRecord(source, 'dashboardPublished'),
    publishedDashboard: readRecord(source, 'publishedDashboard'),
  });
}
