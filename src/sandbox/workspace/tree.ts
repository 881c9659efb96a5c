// The folder tree of a deployment: chains upwards, contents downwards, and how deep it goes (contract 4.7).
import type { State } from '../state.ts';
import { placeKey, type FolderRecord, type ItemRecord } from './records.ts';

/** The folder with that id in that deployment, or undefined. */
export function folderOf(state: State, deploymentId: string, id: number): FolderRecord | undefined {
  const item = state.workspace.get(id);
  return item?.type === 'FOLDER' && item.deploymentId === deploymentId ? item : undefined;
}

/** Everything directly in a folder, or in the root (null), in order of creation. */
export function contentOf(state: State, deploymentId: string, folderId: number | null): ItemRecord[] {
  return state.workspace.find('place', placeKey(deploymentId, folderId));
}

export function subFoldersOf(state: State, deploymentId: string, folderId: number | null): FolderRecord[] {
  return contentOf(state, deploymentId, folderId).filter((item) => item.type === 'FOLDER');
}

/** The folders above a place, outermost first; the last one is `folderId` itself. Empty for the root. */
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

/** Levels of folders from this one down, itself included: 1 without sub-folders. */
export function heightOf(state: State, folder: FolderRecord): number {
  let height = 0;
  let level = [folder];
  while (level.length > 0) {
    height += 1;
    level = level.flatMap((one) => subFoldersOf(state, one.deploymentId, one.id));
  }
  return height;
}
