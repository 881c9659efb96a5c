// Shows dead letters: resources whose sync needs a person, with reason and advice.
import { get, operator, post } from './api.js';
import { act, ago, confirmed, count, empty, h, personLink, say } from './dom.js';

export async function deadLetters({ again }) {
  const all = await get('/dead-letters');
  if (all.length === 0)
    return empty(
      'Nothing needs a person',
      'What the platform refuses for good is listed here, in its own words.',
    );
  const run = async (action, choice) => {
    const { count: reached } = await post(`/dead-letters/${action}`, { ...choice, by: operator() });
    say(
      action === 'retry'
        ? `${count(reached, 'resource is', 'resources are')} tried again.`
        : `${reached} taken off the list.`,
    );
    again();
  };
  const drop = (choice, what) => async () => {
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
  const retryAll = async () => {
    if (
      await confirmed(
        'Retry all?',
        `${count(all.length, 'resource is', 'resources are')} sent again.`,
        'Retry',
      )
    )
      await run('retry', { all: true });
  };
  return [
    h(
      'div',
      { class: 'acts' },
      h('span', { class: 'grow soft' }, count(all.length, 'resource', 'resources')),
      act('Retry all', retryAll, { class: 'main', right: 'operate' }),
      act('Drop all', drop({ all: true }, 'Everything'), { right: 'operate' }),
    ),
    h(
      'ul',
      { class: 'rows card' },
      all.map(({ ref, name, kind, target, connection, reason, message, status, since }) =>
        h(
          'li',
          {},
          h(
            'div',
            { class: 'grow' },
            personLink(ref, name),
            h('span', { class: 'soft' }, ` ${kind.toLowerCase()}, ${connection} → ${target}, `, ago(since)),
            h('p', {}, h('code', { class: 'bad' }, status ? `${reason} ${status}` : reason), ` ${message}`),
          ),
          act('Retry', () => run('retry', { refs: [ref] }), {
            right: 'operate',
            'aria-label': `Retry ${name}`,
          }),
          act('Drop', drop({ refs: [ref] }, name), {
            class: 'quiet',
            right: 'operate',
            'aria-label': `Drop ${name}`,
          }),
        ),
      ),
    ),
  ];
}
