// Records of the workspace (contract 4.7).
import { DASHBOARD_SCHEMAS } from '../workspace/dashboard-schemas.ts';
import {
  anyObject,
  flag,
  integer,
  listOf,
  nullableTexts,
  oneOfWords,
  orNull,
  record,
  ref,
  text,
  type Schema,
} from './schema-words.ts';

const pages = (items: Schema): Schema =>
  record(['items', 'pageInfo', 'data', 'pagination'], {
    items: listOf(items),
    pageInfo: ref('PageInfo'),
    data: listOf(items),
    count: integer,
    pagination: ref('Pagination'),
  });
const id = orNull(integer);

export const WORKSPACE_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...DASHBOARD_SCHEMAS,
  ResourceOwner: record(['id', 'email'], {
    id: integer,
    email: text,
    ...nullableTexts('firstName', 'picture'),
  }),
  FolderPathEntry: record(['id', 'name'], { id: integer, name: text }),
  ItemType: oneOfWords('FOLDER', 'WORKBOOK', 'REPORT'),
  WorkspaceItem: record(
    ['id', 'deploymentId', 'name', 'type', 'meta', 'calculatedFields', 'createdAt', 'updatedAt'],
    {
      id: integer,
      deploymentId: integer,
      name: text,
      type: ref('ItemType'),
      meta: anyObject,
      calculatedFields: anyObject,
      createdAt: text,
      updatedAt: text,
      createdBy: integer,
      userId: orNull({ type: 'number' }),
      user: orNull(ref('ResourceOwner')),
      folderId: orNull({ type: 'number' }),
      folderPath: listOf(ref('FolderPathEntry')),
      isFavorite: orNull(flag),
      slug: orNull(text),
      dashboardDraft: orNull(ref('DashboardConfig')),
      dashboardPublished: orNull(ref('DashboardConfig')),
      publishedDashboard: orNull(ref('Dashboard')),
    },
  ),
  MoveInput: record(['type', 'id'], { type: ref('ItemType'), id: integer, folderId: id }),
  FolderInput: record(['name'], { name: { ...text, maxLength: 255 }, parentId: id, position: id }),
  FolderUpdate: record([], { name: orNull({ ...text, maxLength: 255 }), position: id }),
  Folder: record(['id', 'deploymentId', 'name'], {
    id: integer,
    deploymentId: integer,
    name: text,
    parentId: id,
    position: integer,
  }),
  WorkbookInput: record([], { name: orNull(text), folderId: id, meta: orNull(anyObject) }),
  ReportInput: record([], {
    name: orNull({ ...text, maxLength: 255 }),
    ...nullableTexts('title', 'description', 'sqlQuery', 'jsonQuery'),
    folderId: id,
    workbookId: id,
    publicId: orNull({ ...text, pattern: '^[A-Za-z0-9]{12}$' }),
  }),
  Report: record(['id', 'deploymentId', 'name', 'publicId'], {
    id: integer,
    deploymentId: integer,
    name: text,
    publicId: text,
    ...nullableTexts('title', 'description'),
    folderId: id,
    workbookId: id,
  }),
  FolderList: pages(ref('Folder')),
  WorkbookList: pages(ref('WorkspaceItem')),
  ReportList: pages(ref('Report')),
  Feed: record(['items', 'pageInfo'], { items: listOf(anyObject), pageInfo: ref('PageInfo') }),
  EmbedAccess: record([], { allowEmbed: flag, allEmbedUsers: flag, tenants: listOf(text) }),
};
