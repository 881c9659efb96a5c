// Handles the workspace feed: folders, workbooks and reports of one level in one list, folders first (contract 4.7).
import { pathText, queryText, type Call, type HandlerReply } from '../call.ts';
import { orderedPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import { itemsOfKind, nameSearch, queryId, visibleTo } from './lists.ts';
import { ITEM_TYPES, type ItemRecord, type WorkspaceItemType } from './records.ts';
import { contentOfFolder } from './tree.ts';
import { toItem } from './views.ts';

type Order = (left: ItemRecord, right: ItemRecord) => number;

const ORDERS = new Map<string, Order>([
  ['updated_at', (left, right) => left.updatedAtMs - right.updatedAtMs],
  ['created_at', (left, right) => left.createdAtMs - right.createdAtMs],
  ['name', (left, right) => left.name.localeCompare(right.name, 'en')],
  // Views are not recorded, so all items are equal and the order of creation decides.
  ['viewer_last_viewed_at', () => 0],
]);

/** Returns the kinds in the parameter `types`, repeated or joined by commas; all kinds without it. */
function wantedTypes(call: Call): readonly WorkspaceItemType[] {
  const sent = call.request.query['types'];
  if (sent === undefined) return ITEM_TYPES;
  const names = [sent].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : []));
  return names.map((name) => {
    const type = ITEM_TYPES.find((known) => known === name);
    if (!type) throw new SandboxProblem(400, `types must be of ${ITEM_TYPES.join(', ')}`);
    return type;
  });
}

function wantedOrder(call: Call): Order {
  const order = ORDERS.get(queryText(call, 'orderByField') ?? 'name');
  if (!order) throw new SandboxProblem(400, `orderByField must be one of ${[...ORDERS.keys()].join(', ')}`);
  const direction = queryText(call, 'orderByDirection') ?? 'ASC';
  if (direction !== 'ASC' && direction !== 'DESC') {
    throw new SandboxProblem(400, 'orderByDirection must be ASC or DESC');
  }
  const sign = direction === 'ASC' ? 1 : -1;
  const rank = (item: ItemRecord): number => (item.type === 'FOLDER' ? 0 : 1);
  return (left, right) =>
    rank(left) - rank(right) || sign * order(left, right) || sign * (left.id - right.id);
}

/** Handles `GET`: items that the caller may see, of one folder or, with `search`, of all folders. @throws 400 */
export function listWorkspace(call: Call): HandlerReply {
  const deploymentId = pathText(call, 'deploymentId');
  const folderId = queryId(call, 'folderId');
  const types = wantedTypes(call);
  const order = wantedOrder(call);
  // A folderId of 0, or none, means the root.
  const candidates = queryText(call, 'search')
    ? ITEM_TYPES.flatMap((type): ItemRecord[] => itemsOfKind(call, deploymentId, type))
    : contentOfFolder(call.state, deploymentId, folderId || null);
  const matching = candidates.filter((item) => types.includes(item.type)).filter(nameSearch(call));
  const items = visibleTo(call, matching).sort(order);
  return { status: 200, body: orderedPage(call, 'workspace', items, (item) => toItem(call.state, item)) };
}
