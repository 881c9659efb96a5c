// Handles reports of a deployment (contract 4.7).
import { bodyOf, pathText, type Call, type HandlerReply } from '../call.ts';
import { addReport, readNewReport, requireWorkbook } from './create.ts';
import { requireFolder } from './inputs.ts';
import { itemsOfKind, listReply, nameSearch, queryId, visibleTo } from './lists.ts';
import { requireRight } from './rights.ts';
import { toReportView } from './views.ts';

/**
 * Handles `GET`: the reports that the caller may see, filtered by `workbookId`, `folderId` (0 = the root) and
 * `search` (in the name).
 */
export function listReports(call: Call): HandlerReply {
  const workbookId = queryId(call, 'workbookId');
  const folderId = queryId(call, 'folderId');
  const isNamed = nameSearch(call);
  const all = visibleTo(call, itemsOfKind(call, pathText(call, 'deploymentId'), 'REPORT'));
  const matching = all.filter(
    (report) =>
      isNamed(report) &&
      (workbookId === undefined || report.workbookId === workbookId) &&
      (folderId === undefined || (report.folderId ?? 0) === folderId),
  );
  return listReply(call, 'report', matching, (report) => toReportView(call.state, report));
}

/**
 * Handles `POST`: 200 Report; 400, 403 without edit right on the folder or workbook, 404, 409 for a `publicId`
 * in use.
 */
export function createReport(call: Call): HandlerReply {
  // The body is optional (contract 4.7).
  const input = readNewReport(call.request.body === undefined ? {} : bodyOf(call));
  const deploymentId = pathText(call, 'deploymentId');
  const folder = requireFolder(call.state, deploymentId, input.folderId);
  const workbook = input.workbookId === null ? null : requireWorkbook(call, deploymentId, input.workbookId);
  for (const parent of [folder, workbook]) if (parent) requireRight(call.state, call.caller, 'edit', parent);
  const report = addReport(call, { deploymentId, ownerId: call.caller.user.id }, input);
  return { status: 200, body: toReportView(call.state, report) };
}
