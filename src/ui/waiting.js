// Shows the resources whose newest change is not applied yet, in the order of their syncs.
import { get } from './api.js';
import { ago, empty, h, personLink, pill } from './dom.js';
import { pagedList } from './paged-list.js';
import { tabs } from './states.js';

/** Tone and text of the label for each state of a mark. */
const STATES = { due: ['calm', 'waits'], queued: ['info', 'in the queue'], running: ['info', 'under way'] };

/** The label in place of that of `queued` while Redis takes no writes: a change that was handed over may have no job in the queue. */
const WITHOUT_REDIS = ['calm', 'waits until Redis takes writes'];

/** Shows tabs for the targets, and the list. @param view.query of the address; `target`: only resources of this target */
export async function waiting({ query }) {
  const rows = await get('/status');
  const targets = [...new Set(rows.map(({ target }) => target))];
  const target = targets.find((name) => name === query.get('target'));
  const only = target ? `&target=${encodeURIComponent(target)}` : '';
  const isRefused = rows.some(({ fleet }) =>
    fleet.findings.some(({ finding }) => finding === 'redisRefuses'),
  );
  const list = await pagedList(
    (offset, limit) => get(`/waiting?offset=${offset}&limit=${limit}${only}`),
    (each) => row(each, isRefused),
  );
  /** Returns the number of waiting resources (`dirty` in the status) of a target; without a name, of all targets. */
  const numberOf = (name) =>
    rows
      .filter((each) => name === undefined || each.target === name)
      .reduce((sum, { dirty }) => sum + dirty, 0);
  return [
    targets.length > 1 &&
      tabs('Target', [
        { words: 'All', href: '#/waiting', number: numberOf(), isShown: target === undefined },
        ...targets.map((name) => ({
          words: name,
          href: `#/waiting?target=${encodeURIComponent(name)}`,
          number: numberOf(name),
          isShown: name === target,
        })),
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

const row = ({ name, ref, kind, connection, target, since, priority, state, nextTry }, isRefused) =>
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
    pill(...(isRefused && state === 'queued' ? WITHOUT_REDIS : STATES[state])),
  );
