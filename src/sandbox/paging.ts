// Pages lists in both styles of the Platform API: cursor (`first`/`after`) and offset (`offset`/`limit`)
// (contract 4.0).
import { queryText, type Call } from './call.ts';
import { WHOLE_NUMBER } from './json.ts';
import { SandboxProblem } from './problem.ts';
import type { TableRow } from './table.ts';

/**
 * Returns a query parameter as a whole number, or undefined when it is absent.
 * @throws 400 for other text and for numbers below `least` (ASSUMED-49)
 */
function queryCount(call: Call, name: string, least: number): number | undefined {
  const text = queryText(call, name);
  if (text === undefined) return undefined;
  if (!WHOLE_NUMBER.test(text) || Number(text) < least) {
    throw new SandboxProblem(400, `${name} must be a whole number of at least ${least}`);
  }
  return Number(text);
}

/** Returns the cursor behind a row: base64url of `<kind>:<id>`. `kind` names the list, so that the cursor fits no other list. */
function toCursor(kind: string, id: number): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url');
}

/** Returns the id of the row in a cursor. @throws 400 for the cursor of another list */
function parseCursor(kind: string, cursor: string): number {
  const [, id] = /^[a-z-]+:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (id === undefined || toCursor(kind, Number(id)) !== cursor)
    throw new SandboxProblem(400, 'after is not a cursor of this list');
  return Number(id);
}

/** Returns the position of the first row after `id` in rows sorted by id; the row of `id` may have been deleted. */
function positionAfter(rows: readonly TableRow[], id: number, direction: 'ascending' | 'descending'): number {
  const found = rows.findIndex((row) => (direction === 'descending' ? row.id < id : row.id > id));
  return found < 0 ? rows.length : found;
}

/**
 * Shortens a page by the fault `truncateLists`. `looksComplete` is true when the fault left items out in the mode `total`:
 * `hasNextPage` and `total` of the answer then have to say that the list ends with this page.
 */
function truncated<Item>(call: Call, whole: readonly Item[]): { page: Item[]; looksComplete: boolean } {
  const { truncation } = call.fault;
  if (!truncation) return { page: [...whole], looksComplete: false };
  const page = whole.slice(0, Math.floor(whole.length * truncation.keep));
  return { page, looksComplete: truncation.mode === 'total' && page.length < whole.length };
}

/**
 * Returns the page that begins at position `start`. The query parameter `first` gives its length; `cursorOf`
 * returns the cursor of a row at its position in the whole list.
 */
function pageFrom<T extends TableRow, Item>(
  call: Call,
  rows: readonly T[],
  start: number,
  cursorOf: (row: T, position: number) => string,
  show: (row: T) => Item,
) {
  const first = queryCount(call, 'first', 1);
  const length = first === undefined ? rows.length : Math.min(first, call.settings.pageCap);
  const { page, looksComplete } = truncated(call, rows.slice(start, start + length));
  const [firstRow] = page;
  const lastRow = page.at(-1);
  const pageInfo = {
    hasNextPage: !looksComplete && start + page.length < rows.length,
    hasPreviousPage: start > 0,
    startCursor: firstRow ? cursorOf(firstRow, start) : null,
    endCursor: lastRow ? cursorOf(lastRow, start + page.length - 1) : null,
  };
  return { items: page.map(show), pageInfo };
}

/**
 * Returns one cursor page of rows, sorted by id in the given direction. `kind`: see toCursor; `show` converts a row to an item.
 * Without `first` the page is the whole list (ASSUMED-34).
 * @throws SandboxProblem 400 for invalid numbers and for cursors of another list
 */
export function cursorPage<T extends TableRow, Item>(
  call: Call,
  kind: string,
  rows: readonly T[],
  show: (row: T) => Item,
  direction: 'ascending' | 'descending' = 'ascending',
) {
  const after = queryText(call, 'after');
  const start = after === undefined ? 0 : positionAfter(rows, parseCursor(kind, after), direction);
  return pageFrom(call, rows, start, ({ id }) => toCursor(kind, id), show);
}

/**
 * Works like cursorPage for rows in any other order. The cursor is base64url of `<kind>:<id>:<position>`: by the position a
 * client can continue after the row with this id was deleted.
 */
export function orderedPage<T extends TableRow, Item>(
  call: Call,
  kind: string,
  rows: readonly T[],
  show: (row: T) => Item,
) {
  const after = queryText(call, 'after');
  const cursorAt = (id: number, position: number): string =>
    Buffer.from(`${kind}:${id}:${position}`).toString('base64url');
  let start = 0;
  if (after !== undefined) {
    const [, id, position] = /:(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(after, 'base64url').toString()) ?? [];
    if (id === undefined || cursorAt(Number(id), Number(position)) !== after)
      throw new SandboxProblem(400, 'after is not a cursor of this list');
    const found = rows.findIndex((row) => row.id === Number(id));
    start = found < 0 ? Number(position) : found + 1;
  }
  return pageFrom(call, rows, start, ({ id }, position) => cursorAt(id, position), show);
}

/**
 * Returns one offset page and its `pagination` property, whose `limit` is the applied one. Without parameters the
 * page begins at 0 and has `pageDefault` items; it never has more than `pageCap`.
 * @throws SandboxProblem 400 for invalid numbers
 */
export function offsetPage<Item>(call: Call, items: readonly Item[]) {
  const offset = queryCount(call, 'offset', 0) ?? 0;
  const limit = Math.min(queryCount(call, 'limit', 0) ?? call.settings.pageDefault, call.settings.pageCap);
  const { page, looksComplete } = truncated(call, items.slice(offset, offset + limit));
  return { page, pagination: { offset, limit, total: looksComplete ? offset + page.length : items.length } };
}
