// Reads the items of a workspace (folders, workbooks and reports): those that accounts own (`ownedItems`), and the present places of
// known ones (`readPlaces`). `createItemChoice` limits the items of one account.
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

/** The order in which items are moved. */
const TYPES: readonly OwnedItem['type'][] = ['FOLDER', 'WORKBOOK', 'REPORT'];

/**
 * Collects the items of one account, and chooses MOST_ITEMS of them. Items whose move the platform has refused come after all
 * others: else many of them would fill every run, and no run would reach the others.
 * @param refused keys (`TYPE:id`) of these items
 */
export function createItemChoice(refused: ReadonlySet<string>) {
  const others: OwnedItem[] = [];
  const again: OwnedItem[] = [];
  return {
    add: (item: OwnedItem): void => {
      const list = refused.has(itemKey(item)) ? again : others;
      if (list.length < MOST_ITEMS) list.push(item);
    },
    chosen: (): OwnedItem[] =>
      [...others, ...again]
        .slice(0, MOST_ITEMS)
        .sort((left, right) => TYPES.indexOf(left.type) - TYPES.indexOf(right.type)),
  };
}

/**
 * Yields the items that the accounts own, each with its account: folders at the root, then workbooks and reports outside the owner's
 * root folders. Items below the handover folder are left out.
 * @throws IncompleteList and other errors of the platform client
 */
export async function* ownedItems(
  workspace: PlatformWorkspace,
  { deployment, folder, path, roots }: HandoverPlace,
  accounts: ReadonlySet<string>,
  options: CallOptions,
): AsyncGenerator<{ account: string; item: OwnedItem }> {
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
  const toOwned = (
    { type, id, name, folderId }: WorkspaceItem,
    from: WorkspaceItem['folderPath'],
  ): OwnedItem => ({ type, id, name, from: folderId, fromPath: from.map((each) => each.name) });
  for (const top of roots) {
    // No account has the id '', so an item without owner is left out.
    const account = top.ownerId ?? '';
    if (!accounts.has(account) || path.includes(top.id)) continue;
    ownerOfTop.set(top.id, account);
    yield { account, item: toOwned(top, []) };
  }
  for (const items of [
    workspace.workbooks(deployment, {}, options),
    workspace.reports(deployment, {}, options),
  ])
    for await (const item of items) {
      const account = item.ownerId ?? '';
      if (!accounts.has(account)) continue;
      const from = await pathOf(item);
      // An item below the handover folder stays there; one below a root folder of its owner moves with that folder.
      const isCarried = from.some(({ id }) => id === folder.id || ownerOfTop.get(id) === item.ownerId);
      if (!isCarried) yield { account, item: toOwned(item, from) };
    }
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
