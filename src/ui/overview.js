// Shows the processes of the service, each target now and over time, and long operations. Changes are shown in place.
import { get } from './api.js';
import { comparison } from './comparison.js';
import { advised, ago, h, pill, say } from './dom.js';
import { onStatus, statusTime } from './live.js';
import { patch } from './patch.js';
import { targetCard } from './target-card.js';
import { trends } from './trends.js';

/** Interval between two reads of long operations, milliseconds. */
const OPERATIONS_MS = 3000;

export async function overview({ query, signal }) {
  const work = createWork(() => refresh());
  const [rows] = await Promise.all([get('/status'), work.read()]);
  const state = stateOf(rows, redraw);
  const below = h('div', {}, ...work.shown());

  function show(fresh) {
    patch(state, stateOf(fresh, redraw));
  }
  /** Called after an order, so that its effect is shown before the next event of the stream. */
  async function refresh() {
    const [fresh] = await Promise.all([get('/status'), work.read()]);
    show(fresh);
    patch(below, h('div', {}, ...work.shown()));
  }
  function redraw() {
    refresh().catch((error) => say(error.message, 'bad'));
  }

  const stale = h('p', { class: 'stale' });
  const clock = setInterval(() => {
    const time = new Date(statusTime()).toLocaleTimeString('en-GB');
    stale.textContent = `The figures are of ${time}. They go on when the bridge answers.`;
  }, 1000);
  onStatus(show, signal);
  const timer = setInterval(async () => {
    if (document.hidden) return;
    // The header shows that the service does not answer.
    if (await work.read().catch(() => false)) patch(below, h('div', {}, ...work.shown()));
  }, OPERATIONS_MS);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    clearInterval(clock);
  });
  return [stale, state, trends([...new Set(rows.map(({ target }) => target))], query, signal), below];
}

const stateOf = (rows, redraw) =>
  h(
    'div',
    { class: 'state' },
    ...fleetNotes(rows[0]?.fleet),
    h(
      'div',
      { class: 'targets' },
      rows.map((row) => targetCard(row, redraw)),
    ),
  );

/** Long operations are drawn again only when they have changed, because a comparison may have many lines. */
function createWork(redraw) {
  let known;
  let content;
  /** A comparison may be large, and it does not change once it has ended. */
  let plan;
  const readPlan = async (id) => {
    if (plan?.id !== id) plan = await get(`/operations/${id}`);
    return plan;
  };
  return {
    /** @returns whether it has changed */
    read: async () => {
      const operations = await get('/operations');
      const text = JSON.stringify(operations);
      if (text === known) return false;
      content = await comparison(operations, redraw, readPlan);
      known = text;
      return true;
    },
    shown: () => (content ? [content] : []),
  };
}

/** Shows the processes of the service and the findings about them. */
function fleetNotes(fleet) {
  if (!fleet) return [];
  const { processes, findings } = fleet;
  return [
    h(
      'section',
      { class: 'card', 'aria-label': 'Processes' },
      h('div', { class: 'head' }, h('h2', {}, 'Processes'), fleetPill(findings)),
      h(
        'ul',
        { class: 'notes' },
        [
          ...findings.map(({ message, advice }) => advised(`${message}. ${advice ?? ''}`)),
          ...processes.map(({ role, host, version, silent, lastBeatAt }) => [
            `${role} ${host}, version ${version}, ${silent ? 'silent, ' : ''}last beat `,
            ago(lastBeatAt),
          ]),
        ].map((note) => h('li', {}, note)),
      ),
    ),
  ];
}

const MISSING = new Set(['noProcess', 'noApi', 'noWorker', 'noScheduler']);

function fleetPill(findings) {
  if (findings.some(({ finding }) => MISSING.has(finding))) return pill('bad', 'A role is missing');
  if (findings.some(({ level }) => level === 'error')) return pill('bad', 'Needs a person');
  return findings.length > 0 ? pill('warn', 'Look at it') : pill('good', 'All roles run');
}
