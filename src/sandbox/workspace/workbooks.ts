// Handles workbooks of a deployment and access to their embedded dashboard (contract 4.7, 10).
import { bodyOf, pathNumber, pathText, type Call, type HandlerReply } from '../call.ts';
import { optionalBoolean, optionalTexts } from '../json.ts';
import { addWorkbook, readNewWorkbook, requireWorkbook } from './create.ts';
import { requireFolder } from './inputs.ts';
import { itemsOfKind, listReply, queryId, visibleTo } from './lists.ts';
import type { WorkspaceAction, EmbedAccess, WorkbookRecord } from './records.ts';
import { requireRight } from './rights.ts';
import { toItem } from './views.ts';

/** Handles `GET`: all workbooks that the caller may see, or those of `folderId` (0 = the root). */
export function listWorkbooks(call: Call): HandlerReply {
  const folderId = queryId(call, 'folderId');
  const all = visibleTo(call, itemsOfKind(call, pathText(call, 'deploymentId'), 'WORKBOOK'));
  const matching = all.filter((workbook) => folderId === undefined || (workbook.folderId ?? 0) === folderId);
  return listReply(call, 'workbook', matching, (workbook) => toItem(call.state, workbook));
}

/** Handles `POST`: 200 WorkspaceItem; 400, 403 without edit right on the folder, 404 unknown folder. */
export function createWorkbook(call: Call): HandlerReply {
  // The body is optional (contract 4.7).
  const body = call.request.body === undefined ? {} : bodyOf(call);
  const input = readNewWorkbook(body);
  const deploymentId = pathText(call, 'deploymentId');
  const folder = requireFolder(call.state, deploymentId, input.folderId);
  if (folder) requireRight(call.state, call.caller, 'edit', folder);
  const workbook = addWorkbook(call, { deploymentId, ownerId: call.caller.user.id }, input);
  return { status: 200, body: toItem(call.state, workbook) };
}

function workbookOfPath(call: Call, action: WorkspaceAction): WorkbookRecord {
  const id = pathNumber(call, 'workbookId');
  const workbook = requireWorkbook(call, pathText(call, 'deploymentId'), id);
  requireRight(call.state, call.caller, action, workbook);
  return workbook;
}

/** Handles `GET /{workbookId}`: 200; 403, 404. */
export function readWorkbook(call: Call): HandlerReply {
  return { status: 200, body: toItem(call.state, workbookOfPath(call, 'read')) };
}

/** Handles `GET /{workbookId}/embed-access`: 200; 403, 404. */
export function readEmbedAccess(call: Call): HandlerReply {
  return { status: 200, body: workbookOfPath(call, 'read').embedAccess };
}

/**
 * Handles `PUT /{workbookId}/embed-access`: absent properties stay; the published dashboard shows `allowEmbed`
 * too. 400, 403, 404.
 */
export function updateEmbedAccess(call: Call): HandlerReply {
  // A workbookId that is no number is refused before the body is checked, an unknown workbookId afterwards (ASSUMED-52).
  pathNumber(call, 'workbookId');
  const body = bodyOf(call);
  const sent = {
    allowEmbed: optionalBoolean(body, 'allowEmbed'),
    allEmbedUsers: optionalBoolean(body, 'allEmbedUsers'),
    tenants: optionalTexts(body, 'tenants'),
  };
  const workbook = workbookOfPath(call, 'manage');
  const { publishedDashboard: dashboard, embedAccess: before } = workbook;
  const embedAccess: EmbedAccess = {
    allowEmbed: sent.allowEmbed ?? before.allowEmbed,
    allEmbedUsers: sent.allEmbedUsers ?? before.allEmbedUsers,
    tenants: sent.tenants ?? before.tenants,
  };
  const publishedDashboard = dashboard && { ...dashboard, allowEmbed: embedAccess.allowEmbed };
  call.state.workspace.put({ ...workbook, embedAccess, publishedDashboard });
  return { status: 200, body: embedAccess };
}
