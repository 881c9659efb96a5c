// Builds the workspace records of an answer (contract 4.7, 4.8).
import type { SandboxJsonObject } from '../json.ts';
import type { State } from '../state.ts';
import type { FolderRecord, ItemRecord, ReportRecord } from './records.ts';
import { chainTo } from './tree.ts';
import { isoTime } from '../../support/sources.ts';

/** Returns a ResourceOwner, or null when that user was deleted. */
function showOwner(state: State, userId: number): SandboxJsonObject | null {
  const user = state.users.get(userId);
  return user ? { id: user.id, email: user.email, firstName: user.firstName, picture: null } : null;
}

function showPath(state: State, item: ItemRecord): SandboxJsonObject[] {
  return chainTo(state, item.deploymentId, item.folderId).map(({ id, name }) => ({ id, name }));
}

/** Returns the properties that folders, workbooks and reports share. */
function showShared(state: State, item: ItemRecord): SandboxJsonObject {
  return {
    id: item.id,
    deploymentId: Number(item.deploymentId),
    name: item.name,
    type: item.type,
    createdAt: isoTime(item.createdAtMs),
    updatedAt: isoTime(item.updatedAtMs),
    createdBy: item.ownerId,
    user: showOwner(state, item.ownerId),
    folderPath: showPath(state, item),
  };
}

/** Returns an item of any kind as WorkspaceItem of the specification, for move, workbooks and the feed. */
export function toItem(state: State, item: ItemRecord): SandboxJsonObject {
  const isWorkbook = item.type === 'WORKBOOK';
  return {
    ...showShared(state, item),
    // An object even for a folder (contract 4.8).
    meta: item.type === 'FOLDER' ? {} : (item.meta ?? {}),
    calculatedFields: isWorkbook ? item.calculatedFields : {},
    userId: state.users.get(item.ownerId) ? item.ownerId : null,
    folderId: item.folderId,
    // Favourites are not implemented; the specification allows null.
    isFavorite: null,
    slug: isWorkbook ? item.slug : null,
    dashboardDraft: isWorkbook ? item.dashboardDraft : null,
    dashboardPublished: isWorkbook ? item.dashboardPublished : null,
    publishedDashboard: isWorkbook ? item.publishedDashboard : null,
  };
}

export function toFolder(state: State, folder: FolderRecord): SandboxJsonObject {
  return {
    ...showShared(state, folder),
    parentId: folder.folderId,
    position: folder.position,
    updatedBy: folder.updatedById,
  };
}

export function toReportView(state: State, report: ReportRecord): SandboxJsonObject {
  const shared = showShared(state, report);
  // `user` is required in the published record of a report, so a placeholder replaces a deleted owner.
  const owner = shared['user'] ?? { id: report.ownerId, email: '', firstName: null, picture: null };
  return {
    ...shared,
    publicId: report.publicId,
    title: report.title,
    description: report.description,
    folderId: report.folderId,
    workbookId: report.workbookId,
    userId: report.ownerId,
    user: owner,
    refreshedByUser: owner,
    sqlQuery: report.sqlQuery,
    jsonQuery: report.jsonQuery,
    meta: report.meta,
  };
}
