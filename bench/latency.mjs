// Measures the time from push to applied without load, and how much of it the bridge adds to the platform's own
// latency. A proxy between bridge and sandbox records arrival and answer of each call. See README.md.
import console from 'node:console';
import { createServer, request as forward } from 'node:http';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, URL } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Pool } from 'undici';
import { quantile } from './load.mjs';
import { addMember, change, user } from './people.mjs';
import { createStage, LOAD_CORE, pinSelf, TOKEN } from './processes.mjs';

const { values: flags } = parseArgs({
  options: {
    pushes: { type: 'string', default: '40' },
    'platform-ms': { type: 'string', default: '0' },
    node: { type: 'string', default: process.execPath },
    bridge: { type: 'string', default: fileURLToPath(new URL('../dist/main.js', import.meta.url)) },
    json: { type: 'boolean', default: false },
  },
});
const pushes = Number(flags.pushes);
const platformMs = Number(flags['platform-ms']);
/** A push counts as applied when the bridge has not called the platform for this long. */
const QUIET_MS = 300;
/** A push that is not applied within this time fails the measurement. */
const APPLY_LIMIT_MS = 10_000;
/** Time after which the calls that the bridge makes at its start have ended. */
const STARTED_MS = 1000;
const SCIM_ROOT = '/scim/v2';

/**
 * Starts the proxy, which records every call and delays its answer.
 * @typedef {{ method: string, arrivedAt: number, answeredAt: number }} PlatformCall
 * @param {string} target address of the sandbox
 */
async function startProxy(target) {
  /** @type {PlatformCall[]} */
  const calls = [];
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    // Infinity until the answer: the call is in progress.
    const call = { method: request.method, arrivedAt: performance.now(), answeredAt: Infinity };
    calls.push(call);
    const { method, url: path, headers } = request;
    const onward = forward({ hostname, port, method, path, headers }, async (answer) => {
      await sleep(platformMs);
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
      response.once('finish', () => (call.answeredAt = performance.now()));
    });
    onward.once('error', (error) => response.destroy(error));
    request.pipe(onward);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, calls, stop: () => server.close() };
}

/** Waits until the bridge makes no more calls. @returns the calls since the position `since` in the list */
async function untilQuiet(calls, since) {
  for (const end = performance.now() + APPLY_LIMIT_MS; performance.now() < end; await sleep(20)) {
    const own = calls.slice(since);
    const last = Math.max(...own.map((call) => call.answeredAt));
    if (own.length > 0 && performance.now() - last > QUIET_MS) return own;
  }
  throw new Error('a push was not applied in time');
}

/** Returns the milliseconds before `until` during which at least one call was in progress at the platform. */
function platformTime(calls, until) {
  let total = 0;
  let covered = 0;
  for (const { arrivedAt, answeredAt } of calls.toSorted((left, right) => left.arrivedAt - right.arrivedAt)) {
    const from = Math.max(arrivedAt, covered);
    const to = Math.min(answeredAt, until);
    if (to > from) total += to - from;
    covered = Math.max(covered, to);
  }
  return total;
}

/** Sends one kind of push, one at a time. @returns the row of the table */
async function measure(bridge, proxy, kind, makePush) {
  const figures = { applied: [], platform: [], added: [] };
  for (let round = 0; round < pushes; round++) {
    const { method, path, body } = makePush(round);
    const since = proxy.calls.length;
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' };
    const answer = await bridge.request({
      method,
      path: SCIM_ROOT + path,
      headers,
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    const pushedAt = performance.now();
    if (answer.statusCode >= 400) throw new Error(`${kind}: ${answer.statusCode} ${text}`);
    const calls = await untilQuiet(proxy.calls, since);
    const appliedAt = Math.max(
      ...calls.filter(({ method: sent }) => sent !== 'GET').map((call) => call.answeredAt),
    );
    if (!Number.isFinite(appliedAt)) throw new Error(`${kind}: nothing was written`);
    const atPlatform = platformTime(calls, appliedAt);
    figures.applied.push(appliedAt - pushedAt);
    figures.platform.push(atPlatform);
    figures.added.push(appliedAt - pushedAt - atPlatform);
    if (method === 'POST') created.push(JSON.parse(text).id);
  }
  const sorted = Object.fromEntries(
    Object.entries(figures).map(([name, list]) => [name, Float64Array.from(list).sort()]),
  );
  return {
    push: kind,
    appliedP50: quantile(sorted.applied, 0.5),
    platformP50: quantile(sorted.platform, 0.5),
    addedP50: quantile(sorted.added, 0.5),
    addedP99: quantile(sorted.added, 0.99),
  };
}

/** Ids of the users that the first measurement creates and the others change. */
const created = [];
const stage = createStage();
pinSelf(LOAD_CORE);
let proxy;
let bridge;
try {
  const main = resolve(flags.bridge);
  const redis = await stage.startRedis();
  const { platformUrl, fixtures } = await stage.startSandbox(flags.node, main);
  proxy = await startProxy(platformUrl);
  const platform = { url: proxy.url, token: fixtures.apiKeys.admin };
  const options = { node: flags.node, main, role: 'all', name: 'latency', redisUrl: redis.url, platform };
  const { port } = await stage.startBridge({ ...options, requestsPerSecond: 1000 });
  bridge = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
  await sleep(STARTED_MS);

  const answer = await bridge.request({
    method: 'POST',
    path: `${SCIM_ROOT}/Groups`,
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Latency',
    }),
  });
  const { id: groupId } = await answer.body.json();
  await untilQuiet(proxy.calls, 0);

  const patch = (path, body) => ({ method: 'PATCH', path, body });
  const rows = [
    await measure(bridge, proxy, 'new user', (round) => ({
      method: 'POST',
      path: '/Users',
      body: user(`n${round}`),
    })),
    await measure(bridge, proxy, 'one name', (round) =>
      patch(`/Users/${created[round]}`, change('name.givenName', `Renamed ${round}`)),
    ),
    await measure(bridge, proxy, 'one member', (round) =>
      patch(`/Groups/${groupId}`, addMember(created[round])),
    ),
    await measure(bridge, proxy, 'deactivation', (round) =>
      patch(`/Users/${created[round]}`, change('active', false)),
    ),
  ];
  if (flags.json) console.log(JSON.stringify({ node: flags.node, pushes, platformMs, rows }));
  else {
    const head = [
      'push',
      'push answered → applied p50',
      'of it at the platform p50',
      'added p50',
      'added p99',
    ];
    const table = new Table({ head, style: { head: [], border: [] } });
    const millis = (value) => `${value.toFixed(1)} ms`;
    for (const { push, appliedP50, platformP50, addedP50, addedP99 } of rows) {
      table.push([push, millis(appliedP50), millis(platformP50), millis(addedP50), millis(addedP99)]);
    }
    console.log(table.toString());
  }
} finally {
  await bridge?.close();
  await stage.stop();
  proxy?.stop();
}
