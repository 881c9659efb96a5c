// Tells above a list that its subject has changed since the list was read. The list stays as it is, because somebody may be about
// to decide by it.
import { actionButton, h } from './dom.js';
import { onStatus } from './live.js';

/**
 * Creates the message, which is empty while nothing has changed.
 * @param rows of the status, read together with the list
 * @param figuresOf returns the figures of the rows that the list is about
 * @param view `redraw` and `signal` of the view
 */
export function changedNote(rows, figuresOf, { redraw, signal }) {
  const keyOf = (some) => JSON.stringify(figuresOf(some));
  const known = keyOf(rows);
  const note = h('div', { role: 'status' });
  onStatus((fresh) => {
    const hasChanged = keyOf(fresh) !== known;
    if (hasChanged === note.hasChildNodes()) return;
    note.replaceChildren(
      ...(hasChanged
        ? [
            h(
              'p',
              { class: 'changed' },
              'This has changed since the list was read. ',
              actionButton('Show it as it is now', redraw),
            ),
          ]
        : []),
    );
  }, signal);
  return note;
}
