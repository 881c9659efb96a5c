// Shows one target: its lag, its obstacles, and the orders for it.
import { breakerNote, isKeyRefused } from './breaker.js';
import { advised, ago, count, duration, h, noteList, pill } from './dom.js';
import { orders } from './target-orders.js';
import { labelOf, missingIn, obstacles } from './target-state.js';

/** Lag above which the card warns. */
const LONG_LAG_MS = 60_000;

/** Shows one row of the status. @param redraw draws the overview again after an order */
export function targetCard(row, redraw) {
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
      figure('Linked', row.coverage.users.linked + row.coverage.groups.linked),
      figure('Missing', missingIn(row), missingIn(row) > 0 && 'bad'),
      figure('Exceptions', row.exceptions.total, row.exceptions.total > 0 && 'bad', '#/exceptions'),
      figure('Drift found', driftOf(row), driftOf(row) > 0 && 'warn'),
    ),
    priorities(row),
    h('div', {}, row.load && loadProgress(row.load)),
    noteList(notes(row)),
    orders(row, redraw),
  );
}

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

function priorities({ priorities: waiting }) {
  const total = Object.values(waiting).reduce((sum, each) => sum + each, 0);
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
          value: waiting[priority],
          'aria-label': `Waiting in the priority ${priority}`,
        }),
        h('span', { class: 'number' }, numeral(waiting[priority])),
      ),
    ),
  );
}

/** Words for each limit of the rate of a load. */
const BOUNDS = {
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

const MINUTE_MS = 60_000;

function pauseCause({ asked, askedMs, status }) {
  if (asked) return `the platform asked for it (HTTP ${status})`;
  return askedMs === undefined
    ? `the platform answered HTTP ${status} without a Retry-After: the bridge chose the wait`
    : `the platform asked for a wait of ${Math.ceil(askedMs / MINUTE_MS)} min (HTTP ${status}), and the bridge tries again after 1 h at most`;
}

/** Returns sentences about the target: hold, address, lost values, settings, breaker, comparisons, conflicts and events. */
function notes(row) {
  const { target, hold, hasMoved, hasNewRules, lostAttributes, breaker } = row;
  const { last, next } = row.reconcile;
  const found = [];
  if (hold) found.push([`On hold by ${hold.by}, `, ago(hold.since), hold.note ? `: ${hold.note}` : '']);
  if (hasMoved)
    found.push('The address changed: nothing is written before a reconcile has recognised the accounts');
  if (lostAttributes.length > 0)
    found.push(
      `The definition of ${lostAttributes.join(', ')} was deleted at the platform, so values of people may be lost: a reconcile looks at all people, and writes the values that are lost`,
    );
  if (hasNewRules)
    found.push(
      'Mapping, scope, group names or policy in the settings changed, or the target was not in them, since a reconcile last brought them to everybody: the counts may be by the former settings. No reconcile can bring the new ones while an attribute has another type at the platform',
    );
  const note = breakerNote(breaker, target);
  found.push(breaker.since ? [`${note}; first failure `, ago(breaker.since)] : note);
  if (breaker.pause && !isKeyRefused(breaker.pause))
    found.push(
      `All calls pause until ${new Date(breaker.pause.until).toLocaleTimeString()}, because ${pauseCause(breaker.pause)}`,
    );
  if (!last) found.push('Not compared yet');
  else
    found.push([
      'Compared ',
      ago(last.endedAt),
      `: ${last.outcome}`,
      last.message && [', ', advised(last.message)],
    ]);
  found.push(...obstacles(row).map(advised));
  if (next) found.push(['Next reconcile of the schedule ', ago(next)]);
  return found;
}
