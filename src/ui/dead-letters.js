// Shows dead letters: resources whose sync needs a person, with reason and advice.
import { get, operator, post } from './api.js';
import { actionButton, advised, ago, confirmed, count, empty, h, personLink, say } from './dom.js';
import { onStatus } from './live.js';
import { pagedList } from './paged-list.js';

/** Returns the number of dead letters of all targets. */
const sumOf = (rows) => rows.reduce((sum, { blocked }) => sum + blocked, 0);

/** @param view.redraw draws the view again after an order, and when the number of dead letters has changed */
export async function deadLetters({ redraw, signal }) {
  const [rows, list] = await Promise.all([
    get('/status'),
    pagedList((offset, limit) => get(`/dead-letters?offset=${offset}&limit=${limit}`), row),
  ]);
  const total = sumOf(rows);
  // A retry that is refused again comes back a moment later.
  onStatus((fresh) => sumOf(fresh) !== total && redraw(), signal);
  if (list.length === 0)
    return empty('No dead letters', 'What the platform refuses for good is listed here, in its own words.');
  async function run(action, choice) {
    const { count: reached } = await post(`/dead-letters/${action}`, { ...choice, by: operator() });
    say(
      action === 'retry'
        ? `${count(reached, 'dead letter is', 'dead letters are')} tried again.`
        : `${count(reached, 'dead letter is', 'dead letters are')} taken off the list.`,
    );
    redraw();
  }
  function drop(choice, what) {
    return async () => {
      if (
        await confirmed(
          'Drop?',
          `${what} goes off this list. The desired state stays, and the next change of the resource is sent.`,
          'Drop',
          { danger: true },
        )
      )
        await run('drop', choice);
    };
  }
  const retryAll = async () => {
    if (
      await confirmed(
        'Retry all?',
        `${count(total, 'dead letter is', 'dead letters are')} sent again.`,
        'Retry',
      )
    )
      await run('retry', { all: true });
  };
  return [
    h(
      'div',
      { class: 'buttons' },
      h('span', { class: 'grow soft' }, count(total, 'dead letter', 'dead letters')),
      actionButton('Retry all', retryAll, { class: 'main', right: 'operate' }),
      actionButton('Drop all', drop({ all: true }, 'Everything'), { right: 'operate' }),
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
        right: 'operate',
        'aria-label': `Retry ${name} at ${target}`,
      }),
      actionButton('Drop', drop(choice, `${name} at ${target}`), {
        class: 'quiet',
        right: 'operate',
        'aria-label': `Drop ${name} at ${target}`,
      }),
    );
  }
}
