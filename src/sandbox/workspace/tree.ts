// Reads the folder tree of a deployment: ancestors, content and depth (contract 4.7).
import type { State } from '../state.ts';
import { parentKey, type FolderRecord, type ItemRecord } from './records.ts';

/** Returns the folder with that id in that deployment, or undefined. */
export function folderOf(state: State, deploymentId: string, id: number): FolderRecord | undefined {
  const item = state.workspace.get(id);
  return item?.type === 'FOLDER' && item.deploymentId === deploymentId ? item : undefined;
}

/** Returns all items directly in a folder, or in the root (null), in order of creation. */
export function contentOfFolder(state: State, deploymentId: string, folderId: number | null): ItemRecord[] {
  return state.workspace.find('parent', parentKey(deploymentId, folderId));
}

export function subFoldersOf(state: State, deploymentId: string, folderId: number | null): FolderRecord[] {
  return contentOfFolder(state, deploymentId, folderId).filter((item) => item.type === 'FOLDER');
}

/** Returns the folders from the root to `folderId` (included), outermost first; empty for the root. */
export function chainTo(state: State, deploymentId: string, folderId: number | null): FolderRecord[] {
  const chain: FolderRecord[] = [];
  let next = folderId;
  while (next !== null) {
    const folder = folderOf(state, deploymentId, next);
    if (!folder) break;
    chain.unshift(folder);
    next = folder.folderId;
  }
  return chain;
}

/** Returns the number of folder levels from `folder` down, `folder` included: 1 without sub-folders. */
export function heightOf(state: State, folder: FolderRecord): number {
  let height = 0;
  let level = [folder];
  while (level.length > 0) {
    height += 1;
    level = level.flatMap((parent) => subFoldersOf(state, parent.deploymentId, parent.id));
  }
  return height;
}
