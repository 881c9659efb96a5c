// Shows plots of one target over the last hour, day or month. Range and target are in the address.
import { get } from './api.js';
import { h, select } from './dom.js';
import { createPlot } from './plots.js';

/** The ranges of the service, with the interval between two reads. */
const RANGES = {
  '1h': { name: 'Hour', words: 'the last hour', everyMs: 10_000 },
  '1d': { name: 'Day', words: 'the last 24 hours', everyMs: 60_000 },
  '30d': { name: 'Month', words: 'the last 30 days', everyMs: 60_000 },
};
/** Pause after a failed read, milliseconds. */
const RETRY_MS = 5000;

/**
 * Each line is `[name, values of the series, tone]`, without a tone `plain`. `per`: the values are numbers of events, shown as
 * a rate in this many milliseconds. `hasLimit`: the rate limit of the target is shown beside the present value.
 */
const PLOTS = [
  {
    title: 'Pushes',
    unit: 'a minute',
    per: 60_000,
    lines: [
      ['Stored', ({ pushes }) => pushes],
      ['Refused', ({ pushesRefused }) => pushesRefused, 'bad'],
    ],
  },
  {
    title: 'Calls to the platform',
    unit: 'a second',
    per: 1000,
    hasLimit: true,
    lines: [
      ['All', ({ calls }) => calls],
      ['Refused', ({ callsRefused }) => callsRefused, 'warn'],
      ['Failed', ({ callsFailed }) => callsFailed, 'bad'],
    ],
  },
  {
    title: 'Lag',
    unit: 'seconds',
    lines: [['Oldest change', ({ lagMs }) => lagMs.map((ms) => ms && ms / 1000)]], // null stays null
  },
  {
    title: 'Backlog',
    unit: 'resources by priority',
    lines: [
      ['deactivation', ({ backlog }) => backlog.deactivation, 'bad'],
      ['edit', ({ backlog }) => backlog.edit],
      ['new', ({ backlog }) => backlog.new, 'good'],
      ['reconcile', ({ backlog }) => backlog.reconcile, 'warn'],
      ['in the queue or with a worker', ({ inflight }) => inflight],
    ],
  },
  {
    title: 'Waits for a person',
    unit: 'held changes, and resources',
    lines: [
      ['Held changes', ({ held }) => held, 'warn'],
      ['Dead letters', ({ deadLetters }) => deadLetters, 'bad'],
      ['Exceptions', ({ exceptions }) => exceptions],
    ],
  },
  {
    title: 'Drift',
    unit: 'differences',
    lines: [['Found by the last comparison', ({ drift }) => drift, 'warn']],
  },
];

/** Shows the plots of one target, with a choice of range and target. @returns null when there is no target */
export function trends(targets, query, signal) {
  let range = RANGES[query.get('range')] ? query.get('range') : '1h';
  let target = targets.includes(query.get('target')) ? query.get('target') : targets[0];
  if (target === undefined) return null;
  const plots = PLOTS.map((each) => createPlot(each, signal));
  const title = h('h2', {});
  const buttons = Object.entries(RANGES).map(([name, each]) =>
    h('button', { type: 'button', 'data-range': name, onclick: () => choose({ range: name }) }, each.name),
  );
  const choice =
    targets.length > 1 &&
    select(
      targets.map((name) => [name]),
      { 'aria-label': 'Target', onchange: () => choose({ target: choice.value }) },
    );
  const failed = h('p', { class: 'failed', role: 'status' });
  let timer;
  /** Number of the last read; the answer to an earlier one is ignored. */
  let asked = 0;

  async function read() {
    clearTimeout(timer);
    const mine = ++asked;
    let waitMs = RANGES[range].everyMs;
    try {
      const history = await get(`/history?target=${encodeURIComponent(target)}&range=${range}`);
      if (mine !== asked || signal.aborted) return;
      plots.forEach((plot) => plot.show(history, RANGES[range].words));
      failed.textContent = '';
    } catch (error) {
      if (mine !== asked || signal.aborted) return;
      failed.textContent = `These plots are not up to date: ${error.message}`;
      waitMs = RETRY_MS;
    }
    timer = setTimeout(readWhenSeen, waitMs);
  }
  function readWhenSeen() {
    if (document.hidden) timer = setTimeout(readWhenSeen, RETRY_MS);
    else read();
  }
  function choose(change) {
    range = change.range ?? range;
    target = change.target ?? target;
    const address = new URLSearchParams({ range, ...(targets.length > 1 ? { target } : {}) });
    // The view stays as it is, so this is no navigation.
    history.replaceState(null, '', `#/overview?${address}`);
    showChoice();
    read();
  }
  function showChoice() {
    title.textContent = `${target}, ${RANGES[range].words}`;
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.range === range));
    if (choice) choice.value = target;
  }

  showChoice();
  read();
  signal.addEventListener('abort', () => clearTimeout(timer));
  return h(
    'section',
    { class: 'card trends', 'aria-label': 'Over time' },
    h(
      'div',
      { class: 'head' },
      title,
      h('div', { class: 'ranges', role: 'group', 'aria-label': 'Time shown' }, choice, buttons),
    ),
    failed,
    h(
      'div',
      { class: 'plots' },
      plots.map(({ element }) => element),
    ),
  );
}
