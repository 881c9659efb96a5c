// Describes the workspace (contract 4.7): operations and schemas.
import { DASHBOARD_SCHEMAS } from '../workspace/dashboard-schemas.ts';
import {
  anyObject,
  OFFSET_AND_CURSOR,
  CURSOR,
  flagSchema,
  integer,
  listSchema,
  nullableTexts,
  oneOfWords,
  orNull,
  record,
  ref,
  textSchema,
  type OperationLine,
  type SpecSchema,
} from './parts.ts';

const DEPLOYMENT = '/api/v1/deployments/{deploymentId}';

export const WORKSPACE_LINES: readonly OperationLine[] = [
  [
    `get ${DEPLOYMENT}/folders`,
    'listFolders',
    'Folders of one level',
    { query: ['parentId', ...OFFSET_AND_CURSOR], answer: 'FolderList' },
  ],
  [
    `post ${DEPLOYMENT}/folders`,
    'createFolder',
    'Create a folder',
    { body: 'FolderInput', answer: 'Folder' },
  ],
  [
    `put ${DEPLOYMENT}/folders/{folderId}`,
    'updateFolder',
    'Rename or reorder a folder',
    { body: 'FolderUpdate', answer: 'Folder' },
  ],
  [
    `delete ${DEPLOYMENT}/folders/{folderId}`,
    'deleteFolder',
    'Delete a folder; its items move to the root',
    { status: 204 },
  ],
  [
    `get ${DEPLOYMENT}/folders/{folderId}/ancestors`,
    'listAncestors',
    'The folders above a folder, outermost first',
  ],
  [
    `get ${DEPLOYMENT}/workbooks`,
    'listWorkbooks',
    'Workbooks',
    { query: ['folderId', ...OFFSET_AND_CURSOR], answer: 'WorkbookList' },
  ],
  [
    `post ${DEPLOYMENT}/workbooks`,
    'createWorkbook',
    'Create a workbook',
    { body: 'WorkbookInput', answer: 'WorkspaceItem' },
  ],
  [`get ${DEPLOYMENT}/workbooks/{workbookId}`, 'readWorkbook', 'One workbook', { answer: 'WorkspaceItem' }],
  [
    `get ${DEPLOYMENT}/workbooks/{workbookId}/embed-access`,
    'readEmbedAccess',
    'Access to the embedded dashboard',
    { answer: 'EmbedAccess' },
  ],
  [
    `put ${DEPLOYMENT}/workbooks/{workbookId}/embed-access`,
    'updateEmbedAccess',
    'Change access to the embedded dashboard',
    { body: 'EmbedAccess', answer: 'EmbedAccess' },
  ],
  [
    `get ${DEPLOYMENT}/reports`,
    'listReports',
    'Reports',
    { query: ['workbookId', 'folderId', 'search', ...OFFSET_AND_CURSOR], answer: 'ReportList' },
  ],
  [
    `post ${DEPLOYMENT}/reports`,
    'createReport',
    'Create a report',
    { body: 'ReportInput', answer: 'Report', mayConflict: true },
  ],
  [
    `get ${DEPLOYMENT}/workspace`,
    'listWorkspace',
    'Content of a folder, folders first',
    { query: ['folderId', 'types', 'search', ...CURSOR], answer: 'Feed' },
  ],
  [
    `post ${DEPLOYMENT}/workspace/move`,
    'moveItem',
    'Move a folder, workbook or report',
    { body: 'MoveInput', answer: 'WorkspaceItem' },
  ],
];

const pages = (items: SpecSchema): SpecSchema =>
  record(['items', 'pageInfo', 'data', 'pagination'], {
    items: listSchema(items),
    pageInfo: ref('PageInfo'),
    data: listSchema(items),
    count: integer,
    pagination: ref('Pagination'),
  });
const id = orNull(integer);

export const WORKSPACE_SCHEMAS: Readonly<Record<string, SpecSchema>> = {
  ...DASHBOARD_SCHEMAS,
  ResourceOwner: record(['id', 'email'], {
    id: integer,
    email: textSchema,
    ...nullableTexts('firstName', 'picture'),
  }),
  FolderPathEntry: record(['id', 'name'], { id: integer, name: textSchema }),
  ItemType: oneOfWords('FOLDER', 'WORKBOOK', 'REPORT'),
  WorkspaceItem: record(
    ['id', 'deploymentId', 'name', 'type', 'meta', 'calculatedFields', 'createdAt', 'updatedAt'],
    {
      id: integer,
      deploymentId: integer,
      name: textSchema,
      type: ref('ItemType'),
      meta: anyObject,
      calculatedFields: anyObject,
      createdAt: textSchema,
      updatedAt: textSchema,
      createdBy: integer,
      userId: orNull({ type: 'number' }),
      user: orNull(ref('ResourceOwner')),
      folderId: orNull({ type: 'number' }),
      folderPath: listSchema(ref('FolderPathEntry')),
      isFavorite: orNull(flagSchema),
      slug: orNull(textSchema),
      dashboardDraft: orNull(ref('DashboardConfig')),
      dashboardPublished: orNull(ref('DashboardConfig')),
      publishedDashboard: orNull(ref('Dashboard')),
    },
  ),
  MoveInput: record(['type', 'id'], { type: ref('ItemType'), id: integer, folderId: id }),
  FolderInput: record(['name'], { name: { ...textSchema, maxLength: 255 }, parentId: id, position: id }),
  FolderUpdate: record([], { name: orNull({ ...textSchema, maxLength: 255 }), position: id }),
  Folder: record(['id', 'deploymentId', 'name'], {
    id: integer,
    deploymentId: integer,
    name: textSchema,
    parentId: id,
    position: integer,
  }),
  WorkbookInput: record([], { name: orNull(textSchema), folderId: id, meta: orNull(anyObject) }),
  ReportInput: record([], {
    name: orNull({ ...textSchema, maxLength: 255 }),
    ...nullableTexts('title', 'description', 'sqlQuery', 'jsonQuery'),
    folderId: id,
    workbookId: id,
    publicId: orNull({ ...textSchema, pattern: '^[A-Za-z0-9]{12}$' }),
  }),
  Report: record(['id', 'deploymentId', 'name', 'publicId'], {
    id: integer,
    deploymentId: integer,
    name: textSchema,
    publicId: textSchema,
    ...nullableTexts('title', 'description'),
    folderId: id,
    workbookId: id,
  }),
  FolderList: pages(ref('Folder')),
  WorkbookList: pages(ref('WorkspaceItem')),
  ReportList: pages(ref('Report')),
  Feed: record(['items', 'pageInfo'], { items: listSchema(anyObject), pageInfo: ref('PageInfo') }),
  EmbedAccess: record([], {
    allowEmbed: flagSchema,
    allEmbedUsers: flagSchema,
    tenants: listSchema(textSchema),
  }),
};
