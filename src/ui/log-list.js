// Creates a list of log entries, newest first, that grows page by page.
import { actionButton, count, empty, h, table, tableRow } from './dom.js';

/** Number of entries that are read at once. */
const PAGE = 100;
/** Largest number of rows in the document; the newest are removed when older ones are read. */
const MOST_ROWS = 2000;
/** Largest number of requests of one read. Where matching entries are rare, several short requests keep the page responsive. */
const MOST_REQUESTS = 10;

/**
 * @param options.read reads the page behind a place (undefined: the newest): `(before, limit) => ({ entries, next })`
 * @param options.toCells returns the cells of an entry
 * @param options.nothing `[title, text]` where nothing matches
 * @returns the element, and `start`, which reads the list anew
 */
export function createList({ caption, headings, toCells, read, nothing }) {
  const told = h('p', { class: 'soft', role: 'status' });
  const removed = h('div', { class: 'buttons', hidden: true });
  const entryTable = table(caption, headings, []);
  const [rows] = entryTable.tBodies;
  const foot = h('div', { class: 'buttons' });
  const more = h('button', { type: 'button', onclick: () => readMore() });
  const element = h('div', { id: 'entries' });
  /** Place of the next page; null: there are no older entries. */
  let place;
  /** Number of the last read; an answer to an earlier one is ignored. */
  let lastRead = 0;
  /** Number of rows that were removed, because the document has too many. */
  let dropped = 0;

  async function start() {
    lastRead += 1;
    place = undefined;
    dropped = 0;
    rows.replaceChildren();
    removed.hidden = true;
    element.replaceChildren(told, removed, entryTable, foot);
    foot.replaceChildren();
    entryTable.hidden = true;
    told.textContent = 'Reading …';
    await readMore();
  }

  async function readMore() {
    const mine = ++lastRead;
    more.setAttribute('aria-disabled', 'true');
    let found = 0;
    try {
      for (let requests = 0; requests < MOST_REQUESTS && found < PAGE; requests++) {
        const { entries, next } = await read(place, PAGE - found);
        if (mine !== lastRead) return;
        add(entries);
        found += entries.length;
        place = next;
        if (!next) break;
        told.textContent = `Searched back to ${moment(timeIn(next))} …`;
      }
      showNumber(found);
    } catch (error) {
      if (mine === lastRead) fail(error);
    } finally {
      if (mine === lastRead) more.removeAttribute('aria-disabled');
    }
  }

  function add(entries) {
    rows.append(...entries.map((entry) => tableRow(headings, toCells(entry))));
    entryTable.hidden = rows.rows.length === 0;
    const over = rows.rows.length - MOST_ROWS;
    if (over <= 0) return;
    for (let each = 0; each < over; each++) rows.rows[0].remove();
    dropped += over;
    removed.replaceChildren(
      h(
        'span',
        { class: 'soft' },
        `The newest ${count(dropped, 'entry is', 'entries are')} no longer on the page.`,
      ),
      actionButton('Back to the newest', start),
    );
    removed.hidden = false;
  }

  function showNumber(found) {
    const all = count(dropped + rows.rows.length, 'entry', 'entries');
    if (place) {
      const isFull = found >= PAGE;
      more.textContent = isFull ? 'Show older' : 'Search further';
      told.textContent = isFull
        ? `The newest ${all}.`
        : `${all} found. Searched back to ${moment(timeIn(place))}.`;
      if (!more.isConnected) foot.replaceChildren(more);
    } else {
      told.textContent = rows.rows.length === 0 ? '' : `${all}, and nothing older.`;
      foot.replaceChildren();
      if (rows.rows.length === 0) foot.replaceChildren(empty(...nothing));
    }
  }

  function fail(error) {
    told.textContent = '';
    more.textContent = 'Try again';
    // This list has a button to try again, because no live status refreshes it.
    if (error.status === 404) foot.replaceChildren(empty('Not known', error.message));
    else foot.replaceChildren(h('p', { class: 'failed', role: 'alert' }, error.message), more);
  }

  return { element, start };
}

/** Returns the time of a place, Unix milliseconds: a place ends with the id of an entry, `.<milliseconds>-<number>`. */
const timeIn = (place) => Number(/\.(\d+)-\d+$/.exec(place)?.[1] ?? 0);

const moment = (when) => new Date(when).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Creates an element with a time in the time zone of the browser, and with the exact time as tooltip. */
export const at = (when) => {
  const iso = new Date(when).toISOString();
  return h('time', { datetime: iso, title: iso }, moment(when));
};
