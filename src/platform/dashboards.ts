// Defines dashboards and report snapshots, and reads them from workspace items (contract 4.8). Names and meanings of the
// properties are those of the platform's API.
import { isRecord, textId } from './readers.ts';

/** One value for each class of screen width, from large to very small. */
type ByWidth<T> = Partial<Record<'lg' | 'md' | 'sm' | 'xs' | 'xxs', T | null>>;
/** Object whose properties the contract does not fix. */
type OpenObject = Record<string, unknown>;

export interface WidgetPosition {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface DashboardWidget {
  id: string;
  type:
    | 'CHART'
    | 'TEXT'
    | 'FILTER'
    | 'AI'
    | 'TIME_GRAIN'
    | 'FIELD'
    | 'PARENT'
    | 'SPACER'
    | 'DIVIDER'
    | 'CONTAINER';
  position: WidgetPosition;
  config?: OpenObject | null;
  style?: OpenObject | null;
  responsiveLayouts?: ByWidth<WidgetPosition> | null;
}

export interface DashboardLayout {
  breakpoints?: ByWidth<number> | null;
  cols?: ByWidth<number> | null;
  containerPadding?: number[] | null;
  margin?: number[] | null;
  rowHeight?: number | null;
}

/** Source of a dashboard of kind `APP`. */
export interface DashboardAppSource {
  /** At most 255 characters. */
  entry?: string | null;
  /** Text of the files by name. */
  files?: Record<string, string> | null;
  html?: string | null;
  manifest?: { dependencies?: Record<string, string> | null; version?: number | null } | null;
}

export interface DashboardConfig {
  kind?: 'CLASSIC' | 'APP' | null;
  title?: string | null;
  description?: string | null;
  app?: DashboardAppSource | null;
  layout?: DashboardLayout | null;
  settings?: OpenObject | null;
  theme?: OpenObject | null;
  widgets?: DashboardWidget[] | null;
}

export interface ReportSnapshot {
  id: string;
  reportId: string;
  versionNumber: number;
  name?: string | null;
  title?: string | null;
  description?: string | null;
  pythonCode?: string | null;
  sqlQuery?: string | null;
  kind?: 'vega' | 'table' | 'kpi' | 'html' | 'map' | 'sankey' | null;
  isSourceReport?: boolean | null;
  meta?: OpenObject | null;
  spec?: string | OpenObject | null;
  fillMissingRows?: { member: string; excludedDimensions?: string[] | null } | null;
  periodComparisons?:
    | {
        measure: string;
        timeDimension: string;
        offset: { amount: number; unit: string };
        outputs?: string[] | null;
      }[]
    | null;
  preferences?: {
    columnFormats?: Record<
      string,
      { type: 'currency' | 'percent' | 'number'; decimalPlaces?: number | null }
    > | null;
  } | null;
}

/** A published version of the dashboard of a workbook. */
export interface Dashboard {
  id: string;
  deploymentId: string;
  workbookId: string;
  versionId: string;
  versionNumber: number;
  publicId: string;
  status: 'draft' | 'published' | 'archived';
  allowEmbed: boolean;
  config: DashboardConfig;
  reportSnapshots: ReportSnapshot[];
  /** Account id of the author. */
  createdBy?: string | null;
  title?: string | null;
  description?: string | null;
  fromSharedWorkspace?: boolean | null;
  restrictDataDownload?: boolean | null;
  useBoardDashboards?: boolean | null;
}

/** Dashboards of a workbook; a property is absent when the workbook has none. */
export interface WorkbookDashboards {
  dashboardDraft?: DashboardConfig;
  dashboardPublished?: DashboardConfig;
  publishedDashboard?: Dashboard;
}

/** Returns a copy with the named ids as text. A value that is not a usable id stays as received. */
function withTextIds(record: OpenObject, names: readonly string[]): OpenObject {
  const copy = { ...record };
  for (const name of names) {
    const id = textId(record[name]);
    if (id !== undefined) copy[name] = id;
  }
  return copy;
}

const DASHBOARD_IDS = ['id', 'deploymentId', 'workbookId', 'versionId', 'createdBy'];

/**
 * Returns the dashboards of a workspace item. The ids of the published dashboard and of its snapshots become text; snapshots that
 * are no objects are left out. All else is as the platform sends it, and is not checked.
 */
export function readDashboards(item: Readonly<OpenObject>): WorkbookDashboards {
  const { dashboardDraft, dashboardPublished, publishedDashboard } = item;
  const found: WorkbookDashboards = {};
  if (isRecord(dashboardDraft)) found.dashboardDraft = dashboardDraft;
  if (isRecord(dashboardPublished)) found.dashboardPublished = dashboardPublished;
  if (isRecord(publishedDashboard)) found.publishedDashboard = readPublished(publishedDashboard);
  return found;
}

function readPublished(record: OpenObject): Dashboard {
  const { reportSnapshots } = record;
  const snapshots = Array.isArray(reportSnapshots) ? reportSnapshots.filter(isRecord) : [];
  return {
    ...withTextIds(record, DASHBOARD_IDS),
    reportSnapshots: snapshots.map((snapshot) => withTextIds(snapshot, ['id', 'reportId'])),
  } as unknown as Dashboard;
}
