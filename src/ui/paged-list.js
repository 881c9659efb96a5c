// Creates a list that grows page by page.
import { actionButton, h } from './dom.js';

/** Number of rows that are read at once. */
const PAGE = 100;

/**
 * @param read returns the rows behind an offset: `(offset, limit) => rows`
 * @param toRow returns the element of a row
 * @returns elements: the list, and a button while there may be more rows; none when there are no rows
 */
export async function pagedList(read, toRow) {
  const first = await read(0, PAGE);
  if (first.length === 0) return [];
  const list = h('ul', { class: 'rows card' }, first.map(toRow));
  /** Offset of the next page. */
  let next = first.length;
  const more = actionButton('Show more', async () => {
    const rows = await read(next, PAGE);
    next += rows.length;
    list.append(...rows.map(toRow));
    if (rows.length === PAGE) return;
    more.remove();
    // The button had the focus; without it the keyboard would begin at the top of the page, and not at the first new row.
    (list.children[next - rows.length] ?? list.lastElementChild)?.querySelector('a, button')?.focus();
  });
  return [list, ...(first.length === PAGE ? [h('div', { class: 'buttons' }, more)] : [])];
}
