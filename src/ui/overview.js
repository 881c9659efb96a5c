// Shows the processes of the service, each target now and over time, and long operations. Changes are shown in place.
import { get } from './api.js';
import { comparison } from './comparison.js';
import { advised, ago, h, noteList, pill, say } from './dom.js';
import { onStatus, statusTime } from './live.js';
import { patch } from './patch.js';
import { targetCard } from './target-card.js';
import { trends } from './trends.js';

/** Interval between two reads of long operations, milliseconds. */
const OPERATIONS_MS = 3000;
/** Interval at which the time of figures that are not current is shown. */
const CLOCK_MS = 1000;

export async function overview({ query, signal }) {
  const operations = createOperationList(() => refresh());
  const [rows] = await Promise.all([get('/status'), operations.read()]);
  const state = stateOf(rows, redraw);
  const below = h('div', {}, ...operations.shown());

  function show(fresh) {
    patch(state, stateOf(fresh, redraw));
  }
  /** Called after an order, so that its effect is shown before the next event of the stream. */
  async function refresh() {
    const [fresh] = await Promise.all([get('/status'), operations.read()]);
    show(fresh);
    patch(below, h('div', {}, ...operations.shown()));
  }
  function redraw() {
    refresh().catch((error) => say(error.message, 'bad'));
  }

  const stale = h('p', { class: 'stale' });
  const clock = setInterval(() => {
    const time = new Date(statusTime()).toLocaleTimeString('en-GB');
    stale.textContent = `The figures are of ${time}. They go on when the bridge answers.`;
  }, CLOCK_MS);
  onStatus(show, signal);
  const timer = setInterval(async () => {
    if (document.hidden) return;
    // The header shows that the service does not answer.
    if (await operations.read().catch(() => false)) patch(below, h('div', {}, ...operations.shown()));
  }, OPERATIONS_MS);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    clearInterval(clock);
  });
  return [stale, state, trends([...new Set(rows.map(({ target }) => target))], query, signal), below];
}

/** Shows the processes, which every row of the status contains, and a card for each row. */
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

/** Creates the list of long operations. It is drawn again only after a change, because a comparison may have many lines. */
function createOperationList(redraw) {
  /** The last answer as text, and its elements. */
  let known;
  let content;
  /** The last comparison, which is read once: it may be large, and does not change once it has ended. */
  let plan;
  const readPlan = async (id) => {
    if (plan?.id !== id) plan = await get(`/operations/${id}`);
    return plan;
  };
  return {
    /** Reads the operations. @returns whether they have changed */
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
      noteList([
        ...findings.map(({ message, advice }) => advised(`${message}. ${advice ?? ''}`)),
        ...processes.map(({ role, host, version, silent, lastBeatAt }) => [
          `${role} ${host}, version ${version}, ${silent ? 'silent, ' : ''}last beat `,
          ago(lastBeatAt),
        ]),
      ]),
    ),
  ];
}

/** Findings of work that no process does. */
const MISSING = new Set(['noProcess', 'noApi', 'noWorker', 'noScheduler']);

/** Returns the label of the most severe finding. */
function fleetPill(findings) {
  if (findings.some(({ finding }) => MISSING.has(finding))) return pill('bad', 'Part of the work stops');
  if (findings.some(({ level }) => level === 'error')) return pill('bad', 'Needs a person');
  return findings.length > 0 ? pill('warn', 'Look at it') : pill('good', 'All roles run');
}
