// The neighbour process: sends ordinary requests and liveness probes and measures memory, in a process separate from
// the attacker. Started by bystanders.ts with {port, path, token, pid} as JSON; receives `begin` and `end`.
import { Buffer } from 'node:buffer';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';

const { port, path, token, pid } = JSON.parse(process.argv[2]);
const PEOPLE = 20;
const NEIGHBOUR_EVERY_MS = 25;
const PROBE_EVERY_MS = 100;
const REQUEST_LIMIT_MS = 15_000;

const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
const people = [];
let serial = 0;
let measured;

function ask(options, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, timeout: REQUEST_LIMIT_MS, ...options }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
      answer.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${REQUEST_LIMIT_MS} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

function askAsNeighbour(method, target, content) {
  const body = content && JSON.stringify(content);
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body && { 'content-type': 'application/scim+json', 'content-length': Buffer.byteLength(body) }),
  };
  return ask({ method, path: path + target, headers, agent: keepAlive }, body);
}

function newUser() {
  const userName = `neighbour.${process.pid}.${serial++}@neighbour.example`;
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    ...{ userName, externalId: userName, displayName: userName, active: true },
  };
}

/** Sends the usual requests of an identity provider, one after the other. */
const ORDINARY = [
  ({ id }) => askAsNeighbour('GET', `/Users/${id}`),
  ({ id }) =>
    askAsNeighbour('PATCH', `/Users/${id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'title', value: `title ${serial++}` }],
    }),
  () => askAsNeighbour('POST', '/Users', newUser()),
  ({ userName }) => askAsNeighbour('GET', `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`),
];

/** The user of a request changes with the type of request, so that all users are changed. */
const turnOf = (turn) => ORDINARY[turn % ORDINARY.length](people[turn % people.length]);

/**
 * Sends one request after the other, at most one every NEIGHBOUR_EVERY_MS. A long wait counts once for each request
 * that would have been sent in that time, so that it is not a single sample among many short ones.
 */
async function neighbour(turn) {
  const into = measured;
  const sent = performance.now();
  try {
    const { status, headers, text } = await turnOf(turn);
    const waited = performance.now() - sent;
    if (status < 300)
      for (let each = waited; each > 0; each -= NEIGHBOUR_EVERY_MS) into?.latencies.push(each);
    else if (status !== 503 || !/^\d+$/.test(headers['retry-after'] ?? ''))
      into?.faults.push(`neighbour: ${status} ${text.slice(0, 200)}`);
    else if (into) into.refused++;
  } catch (error) {
    into?.faults.push(`neighbour: ${error.message}`);
  }
  await sleep(Math.max(0, sent + NEIGHBOUR_EVERY_MS - performance.now()));
}

async function probe() {
  const into = measured;
  const asked = performance.now();
  try {
    const { status } = await ask({ path: '/livez', agent: false });
    into?.probes.push(performance.now() - asked);
    if (status !== 200) into?.faults.push(`probe: ${status}`);
  } catch (error) {
    into?.faults.push(`probe: ${error.message}`);
  }
}

/** Returns the resident memory in MB, current and peak; NaN if the system does not report it. */
function resident() {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const of = (name) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
    return { now: of('VmRSS'), peak: of('VmHWM') };
  } catch {
    return { now: NaN, peak: NaN };
  }
}

/** Resets the peak that the kernel keeps; writing 5 starts it anew (proc(5), clear_refs). */
function forgetPeak() {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // If the reset is not possible, the peak since the start counts.
  }
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

function report({ latencies, probes, refused, faults }, pending) {
  const sorted = latencies.toSorted((a, b) => a - b);
  const { now, peak } = resident();
  return {
    neighbour: {
      answered: sorted.length,
      refused,
      p50: at(sorted, 0.5),
      p99: at(sorted, 0.99),
      max: at(sorted, 1),
    },
    probes: { answered: probes.length, max: Math.max(...probes) },
    memory: { endMb: now, peakMb: peak },
    faults: [...faults.slice(0, 10), ...(pending > 0 ? [`${pending} without an answer`] : [])],
  };
}

const underWay = new Set();
function start(work) {
  const running = work().finally(() => underWay.delete(running));
  underWay.add(running);
  return running;
}

async function keepAsking() {
  for (let turn = 0; ; turn++) await start(() => neighbour(turn));
}

for (let index = 0; index < PEOPLE; index++) {
  const { status, text } = await askAsNeighbour('POST', '/Users', newUser());
  if (status !== 201) throw new Error(`the neighbour cannot create people: ${status} ${text}`);
  people.push(JSON.parse(text));
}
void keepAsking();
setInterval(() => start(probe), PROBE_EVERY_MS);

process.on('disconnect', () => process.exit());
process.on('message', async (order) => {
  if (order === 'begin') {
    forgetPeak();
    measured = { latencies: [], probes: [], refused: 0, faults: [] };
    process.send('begun');
    return;
  }
  const ended = measured;
  measured = undefined;
  const pending = [...underWay];
  await Promise.race([Promise.all(pending), sleep(REQUEST_LIMIT_MS)]);
  process.send(report(ended, pending.filter((each) => underWay.has(each)).length));
});
process.send('ready');
