// Handles the folders of a deployment. Lists have one level; only `POST .../workspace/move` changes the parent of a
// folder (contract 4.7).
import { bodyOf, pathNumber, pathText, type Call, type HandlerReply } from '../call.ts';
import { SandboxProblem } from '../problem.ts';
import { addFolder, readNewFolder } from './create.ts';
import { readInteger, readName, requireFolder } from './inputs.ts';
import { listReply, queryId, visibleTo } from './lists.ts';
import { itemGrantsKey, type FolderRecord } from './records.ts';
import { requireRight } from './rights.ts';
import { chainTo, contentOfFolder, subFoldersOf } from './tree.ts';
import { toFolder } from './views.ts';

function folderOfPath(call: Call): FolderRecord {
  const id = pathNumber(call, 'folderId');
  return requireFolder(call.state, pathText(call, 'deploymentId'), id);
}

/**
 * Handles `GET`: the folders in `parentId`, or in the root, that the caller may see, by position.
 * @throws 404 for an unknown parent
 */
export function listFolders(call: Call): HandlerReply {
  const deploymentId = pathText(call, 'deploymentId');
  // A parentId of 0, or none, means the root.
  const parent = requireFolder(call.state, deploymentId, queryId(call, 'parentId') || null);
  const level = visibleTo(call, subFoldersOf(call.state, deploymentId, parent?.id ?? null));
  level.sort((left, right) => left.position - right.position || left.id - right.id);
  return listReply(call, 'folder', level, (folder) => toFolder(call.state, folder));
}

/**
 * Handles `POST`: 200 Folder. @throws 400 for an invalid body and a folder deeper than `maxFolderDepth`, 403 without edit right
 * on the parent, 404 for an unknown parent
 */
export function createFolder(call: Call): HandlerReply {
  const input = readNewFolder(bodyOf(call));
  const deploymentId = pathText(call, 'deploymentId');
  const parent = requireFolder(call.state, deploymentId, input.parentId);
  if (parent) requireRight(call.state, call.caller, 'edit', parent);
  const depth = chainTo(call.state, deploymentId, input.parentId).length + 1;
  if (depth > call.settings.maxFolderDepth)
    throw new SandboxProblem(400, 'The maximum folder depth is exceeded');
  const folder = addFolder(call, { deploymentId, ownerId: call.caller.user.id }, input);
  return { status: 200, body: toFolder(call.state, folder) };
}

/** Handles `PUT /{folderId}`: `name` and `position`; a parent in the body is ignored. 400, 403, 404. */
export function updateFolder(call: Call): HandlerReply {
  // A folderId that is no number is refused before the body is checked, an unknown folderId afterwards (ASSUMED-52).
  pathNumber(call, 'folderId');
  const body = bodyOf(call);
  const name = readName(body);
  const position = readInteger(body, 'position');
  const folder = folderOfPath(call);
  requireRight(call.state, call.caller, 'edit', folder);
  const stored: FolderRecord = {
    ...folder,
    name: name ?? folder.name,
    position: position ?? folder.position,
    updatedById: call.caller.user.id,
    updatedAtMs: call.nowMs,
  };
  call.state.workspace.put(stored);
  return { status: 200, body: toFolder(call.state, stored) };
}

/** Handles `DELETE /{folderId}`: 204, its items move to the root; 400 with sub-folders, 403, 404. */
export function deleteFolder(call: Call): HandlerReply {
  const folder = folderOfPath(call);
  const { workspace, grants } = call.state;
  requireRight(call.state, call.caller, 'manage', folder);
  const content = contentOfFolder(call.state, folder.deploymentId, folder.id);
  if (content.some((item) => item.type === 'FOLDER'))
    throw new SandboxProblem(400, 'The folder has sub-folders');
  for (const item of content) workspace.put({ ...item, folderId: null });
  for (const grant of grants.find('item', itemGrantsKey('FOLDER', folder.id))) grants.remove(grant.id);
  workspace.remove(folder.id);
  return { status: 204 };
}

/** Handles `GET /{folderId}/ancestors`: the path from the root to the folder itself, outermost first. 403, 404. */
export function listAncestors(call: Call): HandlerReply {
  const folder = folderOfPath(call);
  requireRight(call.state, call.caller, 'read', folder);
  const chain = chainTo(call.state, folder.deploymentId, folder.id);
  return { status: 200, body: chain.map((ancestor) => toFolder(call.state, ancestor)) };
}
