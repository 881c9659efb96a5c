// Finds the handover folder of a target, and the items of the workspace that accounts own.
import { itemKey } from '../../directory/outbox/handover-store.ts';
import type { CallOptions } from '../../platform/client.ts';
import { PlatformAborted, PlatformError, PlatformResponse } from '../../platform/errors.ts';
import type { PlatformWorkspace, WorkspaceItem } from '../../platform/workspace.ts';
import type { SyncPolicy } from '../../sync/target.ts';

/** Where the items of closed accounts go, and when. */
export type HandoverSetting = NonNullable<SyncPolicy['handover']>;

/** The handover folder, found at the platform. */
export interface HandoverPlace {
  kind: 'found';
  deployment: string;
  folder: { id: string; name: string };
  /** Ids of the folders from the root to the handover folder, both included. */
  path: string[];
  /** Folders at the root of the workspace. */
  roots: WorkspaceItem[];
}

/** Why the handover folder was not found. */
interface HandoverProblem {
  kind: 'problem';
  /** A sentence for operators. */
  problem: string;
}

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
/** Form of a folder id; a setting of another form is a folder name. */
const IS_ID = /^[0-9]+$/;

/**
 * Returns a sentence for a failed call.
 * @throws the error itself, if it does not come from the platform or the call was aborted
 */
export function platformProblem(error: unknown): string {
  if (!(error instanceof PlatformError) || error instanceof PlatformAborted) throw error;
  return error instanceof PlatformResponse && error.platformMessage
    ? `${error.status} ${error.platformMessage}`
    : error.message;
}

const problem = (text: string): HandoverProblem => ({ kind: 'problem', problem: text });

/** Returns the handover folder with its path, and the folders at the root; or why the folder cannot be used. */
export async function findHandoverPlace(
  workspace: PlatformWorkspace,
  { deployment, folder }: Pick<HandoverSetting, 'deployment' | 'folder'>,
  options: CallOptions,
): Promise<HandoverPlace | HandoverProblem> {
  const roots: WorkspaceItem[] = [];
  try {
    for await (const each of workspace.folders(deployment, undefined, options)) roots.push(each);
  } catch (error) {
    if (error instanceof PlatformResponse && error.status === 404)
      return problem(
        `the deployment ${deployment} does not exist, or the key has no access to it: correct handover.deployment`,
      );
    return problem(`the folders of the deployment ${deployment} cannot be read: ${platformProblem(error)}`);
  }
  if (!IS_ID.test(folder)) {
    const [found, another] = roots.filter(({ name }) => name === folder);
    if (!found)
      return problem(
        `the deployment ${deployment} has no folder "${folder}" at the root of its workspace: create it, or correct handover.folder`,
      );
    if (another)
      return problem(
        `the deployment ${deployment} has several folders "${folder}" at the root: give the id of one as handover.folder`,
      );
    return { kind: 'found', deployment, folder: found, path: [found.id], roots };
  }
  try {
    const path = await workspace.ancestors(deployment, folder, options);
    const own = path.find(({ id }) => id === folder);
    if (!own) return problem(`the platform does not show the folder ${folder}`);
    return { kind: 'found', deployment, folder: own, path: path.map(({ id }) => id), roots };
  } catch (error) {
    if (error instanceof PlatformResponse && error.status === 404)
      return problem(
        `the deployment ${deployment} has no folder ${folder}, or the key has no access to it: correct handover.folder`,
      );
    return problem(`the folder ${folder} cannot be read: ${platformProblem(error)}`);
  }
}

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
  const ownerOfTop = new Map<string, string>();
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
