// Measures a first load against first-load-platform.mjs: calls per person by kind, the share of the possible rate of
// calls, processor time per call, and the writes for a user of whom five values change. See README.md.
import console from 'node:console';
import { resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, URL } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { user } from './people.mjs';
import { createStage, freePort, LOAD_CORE, pinSelf, processorSeconds, TOKEN } from './processes.mjs';

const { values: flags } = parseArgs({
  options: {
    people: { type: 'string', default: '1000' },
    'platform-ms': { type: 'string', default: '20' },
    concurrency: { type: 'string', default: '8' },
    rate: { type: 'string', default: '10000' },
    workers: { type: 'string', default: '1' },
    group: { type: 'string', default: '100' },
    movers: { type: 'string', default: '20' },
    node: { type: 'string', default: process.execPath },
    bridge: { type: 'string', default: fileURLToPath(new URL('../dist/main.js', import.meta.url)) },
    json: { type: 'boolean', default: false },
  },
});
const people = Number(flags.people);
const waitMs = Number(flags['platform-ms']);
const concurrency = Number(flags.concurrency);
const rate = Number(flags.rate);
const workers = Number(flags.workers);
const groupSize = Number(flags.group);
const movers = Math.min(people, Number(flags.movers));
/** The load is over when the platform has not been called for this long. */
const QUIET_MS = 1500;
/** Longest time from the first change to its first call. */
const START_MS = 1000;
/** Pushes that are sent at the same time. */
const AT_ONCE = 16;
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ATTRIBUTES = 'urn:cube:params:1.0:UserAttribute';
const single = (from, type = 'string') => ({ type, from });
const target = {
  concurrency,
  // The burst is a tenth of a second at this rate, and never less than 50 calls.
  rateLimit: { requestsPerSecond: rate, burst: Math.max(50, Math.ceil(rate / 10)) },
  attributes: {
    region: single(`${ATTRIBUTES}:region`),
    clearance: single(`${ATTRIBUTES}:clearance`, 'number'),
    title: single('title'),
    department: single(`${ENTERPRISE}:department`),
  },
};

const stage = createStage();
pinSelf(LOAD_CORE);

async function startPlatform() {
  const port = await freePort();
  await stage.startScript('./first-load-platform.mjs', [String(port), String(waitMs)], port);
  const url = `http://127.0.0.1:${port}`;
  return { url, pool: new Pool(url, { connections: 1 }) };
}

const counts = async (platform, method = 'GET') =>
  await (await platform.request({ path: '/counts', method })).body.json();

/** Waits until `isDone` holds and the platform is no longer called. @returns the counts of calls */
async function untilQuiet(platform, isDone) {
  let calls = -1;
  for (let quietSince = Date.now(); ; await sleep(100)) {
    const now = await counts(platform);
    const total = sum(now.calls);
    if (total !== calls || !isDone(now)) quietSince = Date.now();
    calls = total;
    if (Date.now() - quietSince > QUIET_MS) return now;
  }
}

const sum = (calls) => Object.values(calls).reduce((total, each) => total + each, 0);

/** Sends a SCIM request to the bridge. @returns the body of the answer @throws Error unless the status is 2xx */
async function push(bridge, method, path, body) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' };
  const answer = await bridge.request({
    method,
    path: `/scim/v2${path}`,
    headers,
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Calls `work` with 0 to `total` - 1, AT_ONCE at a time. */
async function atOnce(total, work) {
  let next = 0;
  const run = async () => {
    while (next < total) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}

const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const replace = (path, value) => ({ op: 'replace', path, value });
const move = {
  schemas: [PATCH_OP],
  Operations: [
    replace('displayName', 'Moved Person'),
    replace('title', 'Manager'),
    replace(`${ENTERPRISE}:department`, 'Sales'),
    replace(`${ATTRIBUTES}:region`, 'Luanda'),
    replace(`${ATTRIBUTES}:clearance`, 5),
  ],
};

try {
  const { url, pool: platform } = await startPlatform();
  const redis = await stage.startRedis();
  const common = {
    node: flags.node,
    main: resolve(flags.bridge),
    name: 'load',
    redisUrl: redis.url,
    target,
    platform: { url, token: 'a-key-of-the-double' },
  };
  const api = await stage.startBridge({ ...common, role: 'api' });
  const bridge = new Pool(`http://127.0.0.1:${api.port}`, { connections: AT_ONCE });
  const ids = [];
  await atOnce(people, async (index) => {
    ids[index] = (await push(bridge, 'POST', '/Users', user(index))).id;
  });
  for (let start = 0, number = 0; groupSize > 0 && start < people; start += groupSize, number++) {
    const members = ids.slice(start, start + groupSize).map((value) => ({ value }));
    await push(bridge, 'POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: `Team ${number}`,
      members,
    });
  }
  const running = [];
  for (let index = 0; index < workers; index++)
    running.push(await stage.startBridge({ ...common, role: 'worker' }));
  const before = running.map(({ pid }) => processorSeconds(pid));
  const load = await untilQuiet(platform, ({ active }) => active === people);
  const spent = running.reduce((total, { pid }, index) => total + processorSeconds(pid) - before[index], 0);
  const calls = sum(load.calls);
  const seconds = (load.lastAt - load.firstAt) / 1000;
  // Calls per second that the rate limit and the platform's delay allow.
  const possible = Math.min(rate, waitMs === 0 ? Infinity : (workers * concurrency * 1000) / waitMs);

  await counts(platform, 'DELETE');
  await atOnce(movers, (index) => push(bridge, 'PATCH', `/Users/${ids[index]}`, move));
  await sleep(START_MS);
  const moved = await untilQuiet(platform, () => true);
  const writes = Object.entries(moved.calls).filter(([kind]) => /^(patch|create|set)/.test(kind));
  const result = {
    people,
    platformMs: waitMs,
    callsPerPerson: calls / people,
    seconds,
    callsPerSecond: calls / seconds,
    shareOfPossible: calls / seconds / possible,
    cpuMsPerCall: (spent * 1000) / calls,
    writesPerMover: sum(Object.fromEntries(writes)) / movers,
    callsPerMover: sum(moved.calls) / movers,
    load: load.calls,
    move: moved.calls,
  };
  if (flags.json) console.log(JSON.stringify(result));
  else {
    const { load: byKind, move: byMove, ...figures } = result;
    const rounded = Object.entries(figures).map(([name, value]) => [name, Math.round(value * 1000) / 1000]);
    console.table(Object.fromEntries(rounded));
    console.table(byKind);
    console.table(byMove);
  }
} finally {
  await stage.stop();
}
