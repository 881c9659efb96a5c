// Shows the processes of the service, each target now and over time, and long operations. Changes are shown in place.
import { get } from './api.js';
import { h, say } from './dom.js';
import { fleetCard } from './fleet-card.js';
import { onStatus, statusTime } from './live.js';
import { createOperationList } from './operation-list.js';
import { patch } from './patch.js';
import { targetCard } from './target-card.js';
import { trends } from './trends.js';

/** Interval between two reads of long operations, milliseconds. */
const OPERATIONS_MS = 3000;
/** Interval at which the sentence about old figures is renewed, milliseconds. */
const CLOCK_MS = 1000;

/** Returns the elements of the page. @param signal aborted when another page is opened */
export async function overview({ query, signal }) {
  const operations = createOperationList(refreshOrSay);
  const [rows] = await Promise.all([get('/status'), operations.read()]);
  const status = statusOf(rows, refreshOrSay);
  const below = operations.toElement();
  // The style sheet shows this sentence only while the status is not current.
  const stale = h('p', { class: 'stale' });

  function showStatus(fresh) {
    patch(status, statusOf(fresh, refreshOrSay));
  }
  function showOperations() {
    patch(below, operations.toElement());
  }
  /** Reads all after an order, so that its effect is shown before the next event of the stream. */
  async function refresh() {
    const [fresh] = await Promise.all([get('/status'), operations.read()]);
    showStatus(fresh);
    showOperations();
  }
  function refreshOrSay() {
    refresh().catch((error) => say(error.message, 'bad'));
  }

  onStatus(showStatus, signal);
  const clockTimer = setInterval(() => {
    const time = new Date(statusTime()).toLocaleTimeString('en-GB');
    stale.textContent = `The figures are of ${time}. They go on when the bridge answers.`;
  }, CLOCK_MS);
  const operationsTimer = setInterval(async () => {
    if (document.hidden) return;
    // An error is not shown here: the header shows that the service does not answer.
    const hasChanged = await operations.read().catch(() => false);
    if (hasChanged) showOperations();
  }, OPERATIONS_MS);
  signal.addEventListener('abort', () => {
    clearInterval(operationsTimer);
    clearInterval(clockTimer);
  });
  const targets = [...new Set(rows.map(({ target }) => target))];
  return [stale, status, trends(targets, query, signal), below];
}

/** Shows the processes, which every row of the status contains, and a card for each row. @param afterOrder called after an order */
const statusOf = (rows, afterOrder) =>
  h(
    'div',
    { class: 'state' },
    rows[0]?.fleet && fleetCard(rows[0].fleet),
    h(
      'div',
      { class: 'targets' },
      rows.map((row) => targetCard(row, afterOrder)),
    ),
  );
