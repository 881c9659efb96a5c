// Builds the lists of the workspace: only items that the caller may see, in both list styles (contract 4.0).
import { queryText, type Call, type HandlerReply } from '../call.ts';
import { WHOLE_NUMBER } from '../json.ts';
import { offsetPage, orderedPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import { mayDo } from './rights.ts';
import type { ItemRecord, WorkspaceItemType } from './records.ts';

/** Returns all items of one kind in the deployment, in order of creation. */
export function itemsOfKind<Kind extends WorkspaceItemType>(
  call: Call,
  deploymentId: string,
  type: Kind,
): Extract<ItemRecord, { type: Kind }>[] {
  // The index `kind` (records.ts) selects the type already; the filter only tells the compiler so.
  const found = call.state.workspace.find('kind', `${deploymentId}/${type}`);
  return found.filter((item): item is Extract<ItemRecord, { type: Kind }> => item.type === type);
}

/** Returns the items that the caller may read. */
export function visibleTo<T extends ItemRecord>(call: Call, items: readonly T[]): T[] {
  return items.filter((item) => mayDo(call.state, call.caller.user, 'read', item));
}

/** Returns a query parameter as an id, undefined without one; 0 means the root of the workspace. @throws 400 */
export function queryId(call: Call, name: string): number | undefined {
  const text = queryText(call, name);
  if (text === undefined) return undefined;
  if (!WHOLE_NUMBER.test(text)) throw new SandboxProblem(400, `${name} must be a number`);
  return Number(text);
}

/** Returns a test of names against the query parameter `search`, ignoring case; without it every name matches. */
export function nameSearch(call: Call): (item: ItemRecord) => boolean {
  const wanted = queryText(call, 'search')?.toLowerCase() ?? '';
  return (item) => item.name.toLowerCase().includes(wanted);
}

/**
 * Returns a list, always in both styles, by cursor and by offset.
 * @param kind name of the list in its cursors; a cursor with another name is 400
 */
export function listReply<T extends ItemRecord>(
  call: Call,
  kind: string,
  items: readonly T[],
  show: (item: T) => unknown,
): HandlerReply {
  const { page, pagination } = offsetPage(call, items);
  const paged = orderedPage(call, kind, items, show);
  return { status: 200, body: { ...paged, data: page.map(show), count: pagination.total, pagination } };
}
