// Builds the workspace part of `GET /state`: every item with its owner's name, every grant (docs/sandbox.md).
import type { SandboxJsonObject } from '../json.ts';
import type { CurrentState } from '../state.ts';
import type { Grant, ItemRecord, WorkspaceItemType } from './records.ts';
import { isoTime } from '../../support/sources.ts';

/** Returns one stored item; the parent of a folder is called `parentId`, as in folder calls. */
export function showItem(current: CurrentState, item: ItemRecord): SandboxJsonObject {
  const { ownerId, updatedById, createdAtMs, updatedAtMs, folderId, deploymentId, ...kept } = item;
  const nameOf = (id: number): string | null => current.state.users.get(id)?.userName ?? null;
  return {
    ...kept,
    deploymentId: Number(deploymentId),
    ...(item.type === 'FOLDER' ? { parentId: folderId } : { folderId }),
    owner: nameOf(ownerId),
    updatedBy: nameOf(updatedById),
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
  };
}

/** Returns one grant in the form of the fixture that makes it (`POST /fixtures`); `id` is the item, `grantId` the grant itself. */
export function showGrant(current: CurrentState, grant: Grant): SandboxJsonObject {
  return {
    grantId: grant.id,
    user: current.state.users.get(grant.userId)?.userName ?? null,
    type: grant.type,
    id: grant.itemId,
    action: grant.action,
  };
}

export function showWorkspace(current: CurrentState): SandboxJsonObject {
  const { workspace, grants } = current.state;
  const items = workspace.rows();
  const shown = (type: WorkspaceItemType): SandboxJsonObject[] =>
    items.filter((item) => item.type === type).map((item) => showItem(current, item));
  return {
    folders: shown('FOLDER'),
    workbooks: shown('WORKBOOK'),
    reports: shown('REPORT'),
    grants: grants.rows().map((grant) => showGrant(current, grant)),
  };
}
