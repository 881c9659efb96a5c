// Creates the workspace of the seed `small`: items of a sales and an operations team (docs/sandbox.md).
import type { UserRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import { addFolder, addReport, addWorkbook, readNewReport, readNewWorkbook, type Placing } from './create.ts';

const CONFIG = {
  kind: 'CLASSIC',
  title: 'Revenue',
  description: null,
  layout: {
    breakpoints: { lg: 1200, md: 996, sm: 768, xs: 480, xxs: 0 },
    cols: { lg: 12, md: 10, sm: 6, xs: 4, xxs: 2 },
    containerPadding: [8, 8],
    margin: [8, 8],
    rowHeight: 40,
  },
  settings: { refresh: 'hourly' },
  theme: null,
  widgets: [
    {
      id: 'title',
      type: 'TEXT',
      position: { x: 0, y: 0, w: 12, h: 1 },
      config: { text: 'Revenue by country' },
    },
    {
      id: 'chart',
      type: 'CHART',
      position: { x: 0, y: 1, w: 12, h: 6 },
      config: { report: 'Orders by country' },
    },
  ],
};

const QUERY = 'SELECT country, MEASURE(count) AS orders FROM orders GROUP BY 1';

/** Returns a published dashboard with a snapshot of one report, as `Dashboard` and `ReportSnapshot` of the OpenAPI document. */
function publishedDashboard(workbookId: number, reportId: number, ownerId: number) {
  const snapshot = {
    name: 'Orders by country',
    title: null,
    kind: 'vega',
    sqlQuery: QUERY,
    isSourceReport: true,
  };
  return {
    id: 1,
    deploymentId: 1,
    workbookId,
    versionNumber: 1,
    versionId: 1,
    publicId: 'rev000000001',
    status: 'published',
    allowEmbed: false,
    config: CONFIG,
    reportSnapshots: [{ id: 1, reportId, versionNumber: 1, ...snapshot, spec: { mark: 'bar' }, meta: {} }],
    createdBy: ownerId,
    title: 'Revenue',
  };
}

/** Creates the folder Sales with its content. @returns the id of the folder */
function addSales(current: CurrentState, placing: Placing): number {
  const folder = (name: string, parentId: number | null): number =>
    addFolder(current, placing, { name, parentId, position: null }).id;
  const sales = folder('Sales', null);
  const europe = folder('Europe', sales);
  folder('Germany', europe);
  folder('Marketing', null);
  const workbook = addWorkbook(
    current,
    placing,
    readNewWorkbook({ name: 'Revenue', folderId: sales, slug: 'revenue' }),
  );
  addWorkbook(current, placing, readNewWorkbook({ name: 'Campaigns' }));
  const report = addReport(
    current,
    placing,
    readNewReport({ name: 'Orders by country', folderId: europe, workbookId: workbook.id, sqlQuery: QUERY }),
  );
  addReport(current, placing, readNewReport({ name: 'Orders per month' }));
  current.state.workspace.put({
    ...workbook,
    dashboardDraft: CONFIG,
    dashboardPublished: CONFIG,
    publishedDashboard: publishedDashboard(workbook.id, report.id, placing.ownerId),
  });
  return sales;
}

/** Creates items of `owner` in the deployments 1 and 2 of the seed; `reader` may read the folder Sales and its content. */
export function plantWorkspace(current: CurrentState, owner: UserRecord, reader: UserRecord): void {
  const { grants } = current.state;
  const sales = addSales(current, { deploymentId: '1', ownerId: owner.id });
  const placing = { deploymentId: '2', ownerId: owner.id };
  const ops = addFolder(current, placing, { name: 'Operations', parentId: null, position: null });
  addWorkbook(current, placing, readNewWorkbook({ name: 'Incidents', folderId: ops.id }));
  grants.put({ id: grants.nextId(), userId: reader.id, type: 'FOLDER', itemId: sales, action: 'read' });
}
