// Routes folders, workbooks, reports, the feed and the move (contract 4.7, 10).
import type { Route } from '../routes.ts';
import { listWorkspace } from './feed.ts';
import { createFolder, deleteFolder, listAncestors, listFolders, updateFolder } from './folders.ts';
import { moveItem } from './move.ts';
import { createReport, listReports } from './reports.ts';
import {
  createWorkbook,
  listWorkbooks,
  readEmbedAccess,
  readWorkbook,
  updateEmbedAccess,
} from './workbooks.ts';

const BASE = '/deployments/:deploymentId';

/** The deployment check of the family runs before these routes. */
export const WORKSPACE_ROUTES: readonly Route[] = [
  ['get', `${BASE}/folders`, listFolders],
  ['post', `${BASE}/folders`, createFolder],
  ['put', `${BASE}/folders/:folderId`, updateFolder],
  ['delete', `${BASE}/folders/:folderId`, deleteFolder],
  ['get', `${BASE}/folders/:folderId/ancestors`, listAncestors],

  ['get', `${BASE}/workbooks`, listWorkbooks],
  ['post', `${BASE}/workbooks`, createWorkbook],
  ['get', `${BASE}/workbooks/:workbookId`, readWorkbook],
  ['get', `${BASE}/workbooks/:workbookId/embed-access`, readEmbedAccess],
  ['put', `${BASE}/workbooks/:workbookId/embed-access`, updateEmbedAccess],

  ['get', `${BASE}/reports`, listReports],
  ['post', `${BASE}/reports`, createReport],

  ['get', `${BASE}/workspace`, listWorkspace],
  ['post', `${BASE}/workspace/move`, moveItem],
];
