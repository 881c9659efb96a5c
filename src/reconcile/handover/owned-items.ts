// Reads the items of a workspace (folders, workbooks and reports): those that accounts own (`readOwnedItems`), and the present
// places of known ones (`readPlaces`).
import { itemKey } from '../../directory/outbox/handover-store.ts';
import type { CallOptions } from '../../platform/client.ts';
import type { PlatformWorkspace, WorkspaceItem } from '../../platform/workspace.ts';
import type { HandoverPlace } from './handover-place.ts';

/** Folder, workbook or report of an account. */
export interface OwnedItem {
  type: WorkspaceItem['type'];
  id: string;
  name: string;
  /** Id of the item's folder; null: the root. */
  from: string | null;
  /** Names of the folders above the item, outermost first. */
  fromPath: string[];
}

/** Largest number of items of one person in a plan, and so in a run; the next run continues with the rest. */
export const MOST_ITEMS = 5000;

/**
 * Reads the items that the accounts own: folders at the root, then workbooks and reports outside the owner's root folders.
 * Items below the handover folder are left out.
 * @returns items by account
 * @throws IncompleteList and other errors of the platform client
 */
export async function readOwnedItems(
  workspace: PlatformWorkspace,
  { deployment, folder, path, roots }: HandoverPlace,
  accounts: ReadonlySet<string>,
  options: CallOptions,
): Promise<Map<string, OwnedItem[]>> {
  const owned = new Map<string, OwnedItem[]>([...accounts].map((account) => [account, []]));
  /** By id of a root folder that moves, the account that owns it. */
  const ownerOfTop = new Map<string, string>();
  /** By id of a folder, the folders from the root to it. */
  const above = new Map<string, WorkspaceItem['folderPath']>();
  const pathOf = async ({ folderId, folderPath }: WorkspaceItem): Promise<WorkspaceItem['folderPath']> => {
    if (folderId === null || folderPath.length > 0) return folderPath;
    const known = above.get(folderId) ?? (await workspace.ancestors(deployment, folderId, options));
    above.set(folderId, known);
    return known;
  };
  const add = (list: OwnedItem[], item: WorkspaceItem, from: WorkspaceItem['folderPath']): void => {
    const { type, id, name, folderId } = item;
    if (list.length < MOST_ITEMS)
      list.push({ type, id, name, from: folderId, fromPath: from.map((each) => each.name) });
  };
  for (const top of roots) {
    // No account has the id '', so an item without owner is left out.
    const list = owned.get(top.ownerId ?? '');
    if (!list || path.includes(top.id)) continue;
    ownerOfTop.set(top.id, top.ownerId ?? '');
    add(list, top, []);
  }
  for (const items of [
    workspace.workbooks(deployment, {}, options),
    workspace.reports(deployment, {}, options),
  ])
    for await (const item of items) {
      const list = owned.get(item.ownerId ?? '');
      if (!list) continue;
      const from = await pathOf(item);
      // An item below the handover folder stays there; one below a root folder of its owner moves with that folder.
      const isCarried = from.some(({ id }) => id === folder.id || ownerOfTop.get(id) === item.ownerId);
      if (!isCarried) add(list, item, from);
    }
  return owned;
}

/**
 * Reads where items are now. Folders are found at the root only.
 * @param wanted keys of the items (`TYPE:id`)
 * @returns by key the id of the item's folder, or null for the root; an item that was not found is left out
 */
export async function readPlaces(
  workspace: PlatformWorkspace,
  deployment: string,
  wanted: ReadonlySet<string>,
  options: CallOptions,
): Promise<Map<string, string | null>> {
  const places = new Map<string, string | null>();
  for (const items of [
    workspace.folders(deployment, undefined, options),
    workspace.workbooks(deployment, {}, options),
    workspace.reports(deployment, {}, options),
  ])
    for await (const item of items) if (wanted.has(itemKey(item))) places.set(itemKey(item), item.folderId);
  return places;
}
