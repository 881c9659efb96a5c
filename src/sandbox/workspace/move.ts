// Handles `POST .../workspace/move`: moves one item to a folder or to the root (contract 4.7).
import { bodyOf, pathText, type Call, type HandlerReply } from '../call.ts';
import { own } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { readInteger, requireFolder } from './inputs.ts';
import { ITEM_TYPES, type FolderRecord, type ItemRecord, type WorkspaceItemType } from './records.ts';
import { requireReportManage, requireRight } from './rights.ts';
import { chainTo, heightOf } from './tree.ts';
import { toItem } from './views.ts';

interface Move {
  readonly type: WorkspaceItemType;
  readonly id: number;
  /** Null = the root, also when the property is absent (ASSUMED-69). */
  readonly folderId: number | null;
}

/** Returns the checked body; 400 without a body, or without `type` and `id` (ASSUMED-68). */
function readMove(call: Call): Move {
  const body = bodyOf(call);
  const type = ITEM_TYPES.find((known) => known === own(body, 'type'));
  if (!type) throw new SandboxProblem(400, `type must be one of ${ITEM_TYPES.join(', ')}`);
  const id = readInteger(body, 'id');
  if (id === null) throw new SandboxProblem(400, 'id is required');
  return { type, id, folderId: readInteger(body, 'folderId') };
}

/** Returns the item; an id of another deployment or another kind is 404 (ASSUMED-74). */
function requireItem(call: Call, deploymentId: string, { type, id }: Move): ItemRecord {
  const item = call.state.workspace.get(id);
  if (item?.type !== type || item.deploymentId !== deploymentId)
    throw new SandboxProblem(404, 'Item not found');
  return item;
}

/**
 * Throws 403 without the rights to move the item. A report needs the edit right and the permission ReportManage. Other
 * items need the manage right, and the edit right on the destination unless it is the root.
 */
function requireRights(call: Call, item: ItemRecord, destination: FolderRecord | null): void {
  const { state, caller } = call;
  if (item.type === 'REPORT') {
    requireRight(state, caller, 'edit', item);
    requireReportManage(caller);
    return;
  }
  requireRight(state, caller, 'manage', item);
  if (destination) requireRight(state, caller, 'edit', destination);
}

/** Throws 400 for a folder that would be inside itself or, with its sub-folders, too deep (ASSUMED-70, ASSUMED-71). */
function requireAllowedDepth(call: Call, folder: FolderRecord, destination: FolderRecord | null): void {
  const { state, settings } = call;
  const chain = chainTo(state, folder.deploymentId, destination?.id ?? null);
  if (chain.some((ancestor) => ancestor.id === folder.id)) {
    throw new SandboxProblem(400, 'A folder cannot be moved into itself or below itself');
  }
  if (chain.length + heightOf(state, folder) > settings.maxFolderDepth) {
    throw new SandboxProblem(400, 'The maximum folder depth would be exceeded');
  }
}

/** Handles `POST`: 200 with the moved item. @throws 400, 403, 404, checked in the order of ASSUMED-52 */
export function moveItem(call: Call): HandlerReply {
  const move = readMove(call);
  const { state } = call;
  const deploymentId = pathText(call, 'deploymentId');
  const item = requireItem(call, deploymentId, move);
  const destination = requireFolder(state, deploymentId, move.folderId);
  requireRights(call, item, destination);
  // An item may stay in its folder even if the depth limit was lowered since (ASSUMED-75).
  if (item.folderId === move.folderId) return { status: 200, body: toItem(state, item) };
  if (item.type === 'FOLDER') requireAllowedDepth(call, item, destination);
  const moved = {
    ...item,
    folderId: move.folderId,
    updatedById: call.caller.user.id,
    updatedAtMs: call.nowMs,
  };
  state.workspace.put(moved);
  return { status: 200, body: toItem(state, moved) };
}
