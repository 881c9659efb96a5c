// Defines the schemas of the workspace (contract 4.7).
import { DASHBOARD_SCHEMAS } from '../workspace/dashboard-schemas.ts';
import {
  anyObject,
  flagSchema,
  integer,
  listSchema,
  nullableTexts,
  oneOfWords,
  orNull,
  record,
  ref,
  textSchema,
  type SpecSchema,
} from './parts.ts';

/** Returns the schema of a list in both styles of contract 4.0: `items` with `pageInfo`, `data` with `pagination`. */
const pages = (items: SpecSchema): SpecSchema =>
  record(['items', 'pageInfo', 'data', 'pagination'], {
    items: listSchema(items),
    pageInfo: ref('PageInfo'),
    data: listSchema(items),
    count: integer,
    pagination: ref('Pagination'),
  });
const nullableInteger = orNull(integer);
/** Name of a folder or report (contract 8). */
const itemName = { ...textSchema, maxLength: 255 };

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
      // The configs are the settings of the dashboard; publishedDashboard is the dashboard itself.
      dashboardDraft: orNull(ref('DashboardConfig')),
      dashboardPublished: orNull(ref('DashboardConfig')),
      publishedDashboard: orNull(ref('Dashboard')),
    },
  ),
  MoveInput: record(['type', 'id'], { type: ref('ItemType'), id: integer, folderId: nullableInteger }),
  FolderInput: record(['name'], {
    name: itemName,
    parentId: nullableInteger,
    position: nullableInteger,
  }),
  FolderUpdate: record([], { name: orNull(itemName), position: nullableInteger }),
  Folder: record(['id', 'deploymentId', 'name'], {
    id: integer,
    deploymentId: integer,
    name: textSchema,
    parentId: nullableInteger,
    position: integer,
  }),
  WorkbookInput: record([], { name: orNull(textSchema), folderId: nullableInteger, meta: orNull(anyObject) }),
  ReportInput: record([], {
    name: orNull(itemName),
    ...nullableTexts('title', 'description', 'sqlQuery', 'jsonQuery'),
    folderId: nullableInteger,
    workbookId: nullableInteger,
    publicId: orNull({ ...textSchema, pattern: '^[A-Za-z0-9]{12}$' }),
  }),
  Report: record(['id', 'deploymentId', 'name', 'publicId'], {
    id: integer,
    deploymentId: integer,
    name: textSchema,
    publicId: textSchema,
    ...nullableTexts('title', 'description'),
    folderId: nullableInteger,
    workbookId: nullableInteger,
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
