// Shows dead letters: resources whose sync needs a person, with reason and advice.
import { get, order } from './api.js';
import { actionButton, advised, ago, count, empty, h, personLink, say } from './dom.js';
import { onStatus } from './live.js';
import { pagedList } from './paged-list.js';

/** Returns the number of dead letters (`blocked`) of all rows of the status. */
const sumOf = (rows) => rows.reduce((sum, { blocked }) => sum + blocked, 0);

/**
 * Shows the list, with the orders retry and drop.
 * @param view.redraw draws the view again after an order, and when the number of dead letters has changed
 */
export async function deadLetters({ redraw, signal }) {
  const [rows, list] = await Promise.all([
    get('/status'),
    pagedList((offset, limit) => get(`/dead-letters?offset=${offset}&limit=${limit}`), row),
  ]);
  const total = sumOf(rows);
  // The list is drawn again when its length changes, such as when a retry is refused again a moment later.
  onStatus((fresh) => sumOf(fresh) !== total && redraw(), signal);
  if (list.length === 0)
    return empty('No dead letters', 'What the platform refuses for good is listed here, in its own words.');
  /** Orders `retry` or `drop`. @param choice the dead letters: `{ all: true }`, or `refs` of one connection and target */
  async function run(action, choice) {
    const { count: reached } = await order(`/dead-letters/${action}`, choice);
    say(
      action === 'retry'
        ? `${count(reached, 'dead letter is', 'dead letters are')} tried again.`
        : `${count(reached, 'dead letter is', 'dead letters are')} taken off the list.`,
    );
    redraw();
  }
  function dropButton(text, choice, what, attributes) {
    return actionButton(text, () => run('drop', choice), {
      ...attributes,
      needsRight: 'operate',
      question: {
        title: 'Drop?',
        text: `${what} goes off this list. The desired state stays, and the next change of the resource is sent.`,
        action: 'Drop',
        danger: true,
      },
    });
  }
  return [
    h(
      'div',
      { class: 'buttons' },
      h('span', { class: 'grow soft' }, count(total, 'dead letter', 'dead letters')),
      actionButton('Retry all', () => run('retry', { all: true }), {
        class: 'main',
        needsRight: 'operate',
        question: {
          title: 'Retry all?',
          text: `${count(total, 'dead letter is', 'dead letters are')} sent again.`,
          action: 'Retry',
        },
      }),
      dropButton('Drop all', { all: true }, 'Everything'),
    ),
    ...list,
  ];

  function row({ ref, name, kind, target, connection, reason, message, status, since }) {
    const choice = { refs: [ref], connection, target };
    return h(
      'li',
      {},
      h(
        'div',
        { class: 'grow' },
        personLink(ref, name),
        h('span', { class: 'soft' }, ` ${kind.toLowerCase()}, ${connection} → ${target}, `, ago(since)),
        h(
          'p',
          {},
          h('code', { class: 'bad' }, status ? `${reason} ${status}` : reason),
          ' ',
          advised(message),
        ),
      ),
      actionButton('Retry', () => run('retry', choice), {
        needsRight: 'operate',
        'aria-label': `Retry ${name} at ${target}`,
      }),
      dropButton('Drop', choice, `${name} at ${target}`, {
        class: 'quiet',
        'aria-label': `Drop ${name} at ${target}`,
      }),
    );
  }
}
