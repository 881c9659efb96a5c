// Shows one target: its lag, its obstacles, and the orders for it.
import { count, duration, h, noteList, pill } from './dom.js';
import { targetNotes } from './target-notes.js';
import { orders } from './target-orders.js';
import { labelOf, missingIn } from './target-state.js';

/** Lag above which the card warns. */
const LONG_LAG_MS = 60_000;

/** Shows one row of the status. @param afterOrder called after an order, to show its effect */
export function targetCard(row, afterOrder) {
  const { connection, target, dirty, inflight, blocked, oldestMs, guard } = row;
  return h(
    'section',
    {
      class: 'card',
      'aria-label': `${connection} to ${target}`,
      'data-key': `${connection} ${target}`,
    },
    h(
      'div',
      { class: 'head' },
      h('h2', {}, connection, h('span', { class: 'arrow' }, ' → '), target),
      pill(...labelOf(row)),
    ),
    h(
      'p',
      { class: 'soft' },
      `${count(row.coverage.users.desired, 'user', 'users')} and ${count(row.coverage.groups.desired, 'group', 'groups')}`,
    ),
    h(
      'dl',
      { class: 'figures' },
      figure('Not applied', dirty, dirty > 0 && 'info', `#/waiting?target=${encodeURIComponent(target)}`),
      figure('Lag', oldestMs > 0 ? duration(oldestMs) : '0', oldestMs > LONG_LAG_MS && 'warn'),
      figure('With queue or worker', inflight),
      figure('Dead letters', blocked, blocked > 0 && 'bad', '#/dead-letters'),
      figure('Held by guard', guard.held, guard.held > 0 && 'warn', '#/approvals'),
      figure('Linked, with nothing open', row.coverage.users.linked + row.coverage.groups.linked),
      figure('Missing', missingIn(row), missingIn(row) > 0 && 'bad'),
      figure('Exceptions', row.exceptions.total, row.exceptions.total > 0 && 'bad', '#/exceptions'),
      figure('Drift found', driftOf(row), driftOf(row) > 0 && 'warn'),
    ),
    priorityMeters(row.priorities),
    h('div', {}, row.load && loadProgress(row.load)),
    noteList(targetNotes(row)),
    orders(row, afterOrder),
  );
}

/** Returns the number of differences that the last reconcile found at the platform. */
const driftOf = ({ reconcile: { last } }) => (last?.drift ?? []).reduce((sum, each) => sum + each.count, 0);

/** Shows a number with its name, as a link if it is not 0 and has an address. @param tone false: no colour */
const figure = (name, value, tone, href) =>
  h(
    'div',
    {},
    h('dt', {}, name),
    h('dd', { class: tone || undefined }, href && value ? h('a', { href }, numeral(value)) : numeral(value)),
  );

const numeral = (value) => (typeof value === 'number' ? value.toLocaleString('en') : value);

/** Most urgent first. They are no kinds of change: a change that takes back a deactivation keeps the priority `deactivation`. */
const PRIORITIES = ['deactivation', 'edit', 'new', 'reconcile'];

/** Shows how many syncs wait, by priority. @param counts number by priority */
function priorityMeters(counts) {
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
  return h(
    'div',
    { class: 'priorities' },
    h('p', { class: 'soft' }, 'Waiting, by priority'),
    PRIORITIES.map((priority) =>
      h(
        'div',
        {},
        h('span', {}, priority),
        h('meter', {
          min: 0,
          // The largest value has to be above 0.
          max: Math.max(1, total),
          value: counts[priority],
          'aria-label': `Waiting in the priority ${priority}`,
        }),
        h('span', { class: 'number' }, numeral(counts[priority])),
      ),
    ),
  );
}

/** Words for each limit of the rate of a load. */
const BOUNDS = {
  redisRefuses: 'Redis takes no writes',
  hold: 'the hold stops it',
  address: 'the address of the platform changed',
  breaker: 'the platform fails, only probes go out',
  pause: 'all calls pause',
  noWorker: 'no worker runs',
  waiting: 'it waits for members or for the next try',
  rateLimit: 'the rate limit bounds it',
  processor: 'the processor of the workers bounds it',
  latency: 'the answers of the platform bound it',
};

/** Shows the progress of a load (a large backlog, see docs/glossary.md), with the time left and what limits the rate. */
function loadProgress({ done, total, perSecond, secondsLeft, bound }) {
  const parts = [
    `${done.toLocaleString('en')} of ${total.toLocaleString('en')} loaded`,
    perSecond === null ? 'rate not known yet' : `${perSecond} a second`,
    secondsLeft !== null && `about ${duration(secondsLeft * 1000)} left`,
    bound !== null && BOUNDS[bound],
  ];
  return h(
    'label',
    { class: 'progress load' },
    // The largest value has to be above 0.
    h('progress', { max: Math.max(1, total), value: done }),
    h('span', {}, parts.filter(Boolean).join(', ')),
  );
}
