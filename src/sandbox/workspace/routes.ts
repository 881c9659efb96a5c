// Routes folders, workbooks, reports, the feed and the move (contract 4.7, 10).
import { Router } from 'express';
import { answer, type Handler } from '../call.ts';
import type { MountedRouter } from '../family.ts';
import type { SandboxRuntime } from '../runtime.ts';
import { createDashboardReader } from './dashboards.ts';
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

/** Builds the routes; the deployment check of the family runs before them. */
export function createWorkspaceRoutes(runtime: SandboxRuntime): MountedRouter {
  const router = Router({ caseSensitive: true });
  const at = (handler: Handler) => answer(runtime, handler);
  const base = '/deployments/:deploymentId';

  router.get(`${base}/folders`, at(listFolders));
  router.post(`${base}/folders`, at(createFolder));
  router.put(`${base}/folders/:folderId`, at(updateFolder));
  router.delete(`${base}/folders/:folderId`, at(deleteFolder));
  router.get(`${base}/folders/:folderId/ancestors`, at(listAncestors));

  router.get(`${base}/workbooks`, at(listWorkbooks));
  router.post(`${base}/workbooks`, at(createWorkbook(createDashboardReader())));
  router.get(`${base}/workbooks/:workbookId`, at(readWorkbook));
  router.get(`${base}/workbooks/:workbookId/embed-access`, at(readEmbedAccess));
  router.put(`${base}/workbooks/:workbookId/embed-access`, at(updateEmbedAccess));

  router.get(`${base}/reports`, at(listReports));
  router.post(`${base}/reports`, at(createReport));

  router.get(`${base}/workspace`, at(listWorkspace));
  router.post(`${base}/workspace/move`, at(moveItem));
  return { mount: '/api/v1', router };
}
