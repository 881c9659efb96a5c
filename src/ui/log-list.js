// Creates a list of log entries, newest first, that grows page by page. The number of rows in the document is bounded.
import { actionButton, count, empty, h, table, tableRow } from './dom.js';

const PAGE = 100;
const MOST_ROWS = 2000;
/** Rare entries are searched by several short requests, so that the service and the page stay responsive. */
const MOST_REQUESTS = 10;

/**
 * @param options.read reads the page behind a place: `(before, limit) => ({ entries, next })`
 * @param options.toCells cells of an entry
 * @param options.nothing `[title, text]` where nothing matches
 * @returns the element, and `start`, which reads the list anew
 */
export function createList({ caption, headings, toCells, read, nothing }) {
  const told = h('p', { class: 'soft', role: 'status' });
  const removed = h('div', { class: 'acts', hidden: true });
  const shown = table(caption, headings, []);
  const [rows] = shown.tBodies;
  const foot = h('div', { class: 'acts' });
  const more = h('button', { type: 'button', onclick: () => go() });
  const element = h('div', { id: 'entries' });
  let place;
  let turn = 0;
  let dropped = 0;

  async function start() {
    turn += 1;
    place = undefined;
    dropped = 0;
    rows.replaceChildren();
    removed.hidden = true;
    element.replaceChildren(told, removed, shown, foot);
    foot.replaceChildren();
    shown.hidden = true;
    told.textContent = 'Reading …';
    await go();
  }

  async function go() {
    const mine = ++turn;
    more.setAttribute('aria-disabled', 'true');
    let found = 0;
    try {
      for (let requests = 0; requests < MOST_REQUESTS && found < PAGE; requests++) {
        const { entries, next } = await read(place, PAGE - found);
        if (mine !== turn) return;
        add(entries);
        found += entries.length;
        place = next;
        if (!next) break;
        told.textContent = `Searched back to ${moment(timeIn(next))} …`;
      }
      tell(found);
    } catch (error) {
      if (mine === turn) fail(error);
    } finally {
      if (mine === turn) more.removeAttribute('aria-disabled');
    }
  }

  function add(entries) {
    rows.append(...entries.map((entry) => tableRow(headings, toCells(entry))));
    shown.hidden = rows.rows.length === 0;
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

  function tell(found) {
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
    // Shown here, because this list is not refreshed by itself as other views are.
    const reason = error.status === 0 ? 'The bridge does not answer.' : error.message;
    if (error.status === 404) foot.replaceChildren(empty('Not known', reason));
    else foot.replaceChildren(h('p', { class: 'failed', role: 'alert' }, reason), more);
  }

  return { element, start };
}

/** The id of a place holds its time. */
const timeIn = (place) => Number(/\.(\d+)-\d+$/.exec(place)?.[1] ?? 0);

const moment = (when) => new Date(when).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** The moment in the time zone of the browser, with the exact one for those who point at it. */
export const at = (when) => {
  const iso = new Date(when).toISOString();
  return h('time', { datetime: iso, title: iso }, moment(when));
};
