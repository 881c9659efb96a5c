// Shows the resources whose newest change is not applied yet, in the order of their syncs.
import { get } from './api.js';
import { ago, empty, h, personLink, pill } from './dom.js';
import { pagedList } from './paged-list.js';
import { tabs } from './states.js';

const STATES = { due: ['calm', 'waits'], queued: ['info', 'in the queue'], running: ['info', 'under way'] };

/** Shows tabs for the targets, and the list. @param view.query `target` in the address */
export async function waiting({ query }) {
  const rows = await get('/status');
  const targets = [...new Set(rows.map(({ target }) => target))];
  const target = targets.find((name) => name === query.get('target'));
  const only = target ? `&target=${encodeURIComponent(target)}` : '';
  const list = await pagedList(
    (offset, limit) => get(`/waiting?offset=${offset}&limit=${limit}${only}`),
    row,
  );
  /** Returns the number of waiting resources of a target, or of all targets. */
  const numberOf = (name) =>
    rows
      .filter((each) => name === undefined || each.target === name)
      .reduce((sum, { dirty }) => sum + dirty, 0);
  return [
    targets.length > 1 &&
      tabs('Target', [
        ['All', '#/waiting', numberOf(), target === undefined],
        ...targets.map((name) => [
          name,
          `#/waiting?target=${encodeURIComponent(name)}`,
          numberOf(name),
          name === target,
        ]),
      ]),
    list.length > 0
      ? [
          h(
            'p',
            { class: 'soft' },
            'In the order in which they are written. The list is of the moment when it was opened.',
          ),
          ...list,
        ]
      : empty('Nothing waits', 'What is not applied at a target yet is listed here.'),
  ].flat();
}

const row = ({ name, ref, kind, connection, target, since, priority, state, nextTry }) =>
  h(
    'li',
    {},
    h(
      'div',
      { class: 'grow' },
      personLink(ref, name),
      h(
        'p',
        { class: 'soft' },
        `${kind.toLowerCase()}, ${connection} → ${target}, pushed `,
        ago(since),
        Date.parse(nextTry) > Date.now() && [', next try ', ago(nextTry)],
      ),
    ),
    priority && h('span', { class: 'soft' }, priority),
    pill(...STATES[state]),
  );
