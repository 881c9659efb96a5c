// Reads the live status from a stream of the service (http/admin/live.ts), and shows in the header whether the status is current.
import { watch } from './api.js';
import { duration } from './dom.js';

/** Age of the last event, milliseconds, from which the service is silent: two keep-alive events (every 2 s) are missing. */
const QUIET_MS = 4000;
/** Age of the status from which the status is old: the service answers, and Redis does not answer the service. */
const OLD_MS = 6000;
/** Time without any event after which the stream is opened again. */
const GIVE_UP_MS = 15_000;
const RETRY_MS = 1000;
/** Interval at which the shown state is judged. */
const TICK_MS = 500;

const sign = document.getElementById('live');
/** For screen readers, because the visible sign counts seconds and is hidden from them. */
const spoken = document.getElementById('live-spoken');
const listeners = new Set();
/** Aborts the stream; undefined: the page reads no live status. */
let running;
/** Rows of the last status. */
let rows;
/** Time of the last event, by the clock of this browser; 0 = none yet. */
let heardAt = 0;
/** Time of the status by the same clock, from the age that the last keep-alive event reported; 0 = none yet. */
let freshAt = 0;
/** Message of the service when it refused the last stream; undefined: not refused, or no answer. */
let refusal;

/** Calls `listener` with the rows of each status from now on. */
export function onStatus(listener, signal) {
  listeners.add(listener);
  signal.addEventListener('abort', () => listeners.delete(listener));
}

/** Time of the last status, Unix milliseconds. */
export const statusTime = () => freshAt;

export function startLive() {
  if (running) return;
  running = new AbortController();
  heardAt = freshAt = Date.now();
  sign.hidden = false;
  const { signal } = running;
  const timer = setInterval(tick, TICK_MS);
  // While it was hidden the page had no stream, so the silence says nothing about the bridge.
  const onShown = () => document.hidden || (heardAt = Date.now());
  addEventListener('visibilitychange', onShown);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    removeEventListener('visibilitychange', onShown);
  });
  keepOpen(signal);
  tick();
}

export function stopLive() {
  running?.abort();
  running = rows = refusal = undefined;
  sign.hidden = true;
  delete document.body.dataset.live;
}

async function keepOpen(signal) {
  while (!signal.aborted) {
    // A browser has few connections to one server, so a hidden page closes its stream.
    if (document.hidden)
      await new Promise((seen) => addEventListener('visibilitychange', seen, { once: true }));
    else await readOne(signal);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Reads one stream until it ends, is silent for GIVE_UP_MS, or the page is hidden. Errors are shown in the header only. */
async function readOne(signal) {
  const left = new AbortController();
  const leave = () => left.abort();
  const onHidden = () => document.hidden && leave();
  const openedAt = Date.now();
  const isSilent = () => Date.now() - Math.max(heardAt, openedAt) >= GIVE_UP_MS;
  const silent = setInterval(() => isSilent() && leave(), TICK_MS);
  signal.addEventListener('abort', leave);
  addEventListener('visibilitychange', onHidden);
  try {
    await watch('/live', receive, left.signal);
  } catch (error) {
    refusal = error.status ? error.message : undefined;
  } finally {
    clearInterval(silent);
    signal.removeEventListener('abort', leave);
    removeEventListener('visibilitychange', onHidden);
  }
}

/** @param event `status` with the rows as data, or `beat` with the age of the status (null: none was read) */
function receive(event, data) {
  heardAt = Date.now();
  refusal = undefined;
  if (event === 'status') rows = data;
  else if (data.statusAgeMs !== null) freshAt = heardAt - data.statusAgeMs;
  if (event === 'status') for (const listener of listeners) listener(rows);
  tick();
}

function tick() {
  if (document.hidden) return;
  const now = Date.now();
  const [state, text] = judge(now);
  if (sign.textContent !== text) sign.textContent = text;
  const { live: before } = document.body.dataset;
  if (before && before !== state) spoken.textContent = SPOKEN[state];
  sign.title = refusal ?? '';
  document.body.dataset.live = state;
}

const SPOKEN = {
  live: 'The page is live.',
  quiet: 'The bridge does not answer.',
  old: 'The figures are old.',
};

/** Returns the state and its words: `quiet` is no answer of the service, `old` no answer of Redis. */
function judge(now) {
  if (now - heardAt >= QUIET_MS)
    return ['quiet', refusal ? 'Not live' : `No answer for ${duration(now - heardAt)}`];
  if (now - freshAt >= OLD_MS) return ['old', `Figures are ${duration(now - freshAt)} old`];
  return ['live', 'Live'];
}
