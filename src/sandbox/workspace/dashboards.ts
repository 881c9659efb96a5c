// Validates the dashboards of a workbook against the schemas of the specification. They are stored unchanged.
import { Ajv } from 'ajv';
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { DASHBOARD_SCHEMAS } from './dashboard-schemas.ts';
import type { Dashboards } from './records.ts';

/** Names of the schemas of a workbook's dashboard properties. */
const SCHEMA_NAMES = {
  dashboardDraft: 'DashboardConfig',
  dashboardPublished: 'DashboardConfig',
  publishedDashboard: 'Dashboard',
} as const;

/** Compiled at the first dashboard, so that the sandbox starts fast. */
let compiled: Ajv | undefined;

function compile(): Ajv {
  const ajv = new Ajv({ allowUnionTypes: true, ownProperties: true, validateSchema: false });
  // Ajv refuses keys that JSON Schema does not define, so `components` is added.
  ajv.addVocabulary(['components']);
  return ajv.addSchema({ $id: 'dashboards', components: { schemas: DASHBOARD_SCHEMAS } });
}

/** Returns a property as a record of its schema, null when absent or null. */
function readRecord(source: SandboxJsonObject, member: keyof typeof SCHEMA_NAMES): SandboxJsonObject | null {
  const value = own(source, member) ?? null;
  if (value === null) return null;
  compiled ??= compile();
  const check = compiled.getSchema(`dashboards#/components/schemas/${SCHEMA_NAMES[member]}`);
  if (check?.(value) && isJsonObject(value)) return value;
  const fault = check?.errors?.[0];
  throw new SandboxProblem(
    400,
    `${member}${fault?.instancePath ?? ''} ${fault?.message ?? 'is not a record'}`,
  );
}

/** Returns the three dashboard properties of a workbook. @throws SandboxProblem 400 that names the first fault */
export const checkedDashboards = (source: SandboxJsonObject): Dashboards => ({
  dashboardDraft: readRecord(source, 'dashboardDraft'),
  dashboardPublished: readRecord(source, 'dashboardPublished'),
  publishedDashboard: readRecord(source, 'publishedDashboard'),
});
