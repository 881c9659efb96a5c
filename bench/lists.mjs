// Measures list requests that no index answers, on a large directory: time for a page, delay of other requests
// meanwhile, and memory. See README.md.
import console from 'node:console';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, URL, URLSearchParams } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Pool } from 'undici';
import { quantile } from './load.mjs';
import { userId } from './people.mjs';
import { createStage, LOAD_CORE, pinSelf, residentMegabytes, TOKEN } from './processes.mjs';

const { values: flags } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    node: { type: 'string', default: process.execPath },
    bridge: { type: 'string', default: fileURLToPath(new URL('../dist/main.js', import.meta.url)) },
    json: { type: 'boolean', default: false },
  },
});
const users = Number(flags.users);
const headers = { authorization: `Bearer ${TOKEN}` };
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** Name and query of each list. */
const LISTS = [
  ['filter, nobody matches', { filter: 'title eq "Nobody"' }],
  ['filter, everybody matches', { filter: 'title eq "Analyst"', count: '100' }],
  [
    'filter with three conditions',
    { filter: 'name.givenName co "77" and active eq true and not (userType pr)' },
  ],
  ['filter on an extension', { filter: `${ENTERPRISE}:employeeNumber ew "777"` }],
  ['filter on a value path', { filter: 'addresses[type eq "work" and locality eq "Nowhere"]' }],
  ['filter, cursor, first page', { filter: 'title eq "Analyst"', cursor: '' }],
  ['sort, first page', { sortBy: 'name.givenName', count: '100' }],
  [
    'sort, descending, last page',
    { sortBy: 'userName', sortOrder: 'descending', startIndex: String(users - 99) },
  ],
  ['sort and filter', { sortBy: 'name.givenName', filter: 'userName co "99"' }],
];

/** Reads one user every few milliseconds until `stop`, which returns the waiting times in ascending order. */
function startNeighbour(pool) {
  const waits = [];
  let isOver = false;
  const done = (async () => {
    for (let index = 0; !isOver; index = (index + 1) % users) {
      const asked = performance.now();
      const answer = await pool.request({ method: 'GET', path: `/scim/v2/Users/${userId(index)}`, headers });
      await answer.body.dump();
      waits.push(performance.now() - asked);
      await sleep(5);
    }
  })();
  const stop = async () => {
    isOver = true;
    await done;
    return waits.sort((left, right) => left - right);
  };
  return { stop };
}

/** Sends a list request several times. @returns times of the list, number of results, longest wait of a neighbour */
async function measure(pool, query) {
  const path = `/scim/v2/Users?${new URLSearchParams(query)}`;
  const times = [];
  let found;
  const neighbour = startNeighbour(pool);
  for (let round = 0; round < Number(flags.rounds); round++) {
    const asked = performance.now();
    const answer = await pool.request({ method: 'GET', path, headers });
    const body = JSON.parse(await answer.body.text());
    times.push(performance.now() - asked);
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${body.detail}`);
    found = body.totalResults;
  }
  const waits = await neighbour.stop();
  times.sort((left, right) => left - right);
  return { p50: quantile(times, 0.5), worst: times.at(-1), found, waited: waits.at(-1) };
}

async function main() {
  pinSelf(LOAD_CORE);
  const stage = createStage();
  process.once('SIGINT', () => void stage.stop().then(() => process.exit(130)));
  try {
    const redis = await stage.startRedis();
    const main = resolve(flags.bridge);
    await stage.runToEnd(flags.node, './preload.mjs', [main, redis.url, 'lists', String(users), '1000']);
    const options = { node: flags.node, main, role: 'api', name: 'lists', redisUrl: redis.url };
    const bridge = await stage.startBridge(options);
    const pool = new Pool(`http://127.0.0.1:${bridge.port}`, { connections: 4 });
    const before = residentMegabytes(bridge.pid).now;
    const rows = [];
    for (const [name, query] of LISTS) rows.push({ name, ...(await measure(pool, query)) });
    const memory = residentMegabytes(bridge.pid);
    await pool.close();
    print(rows, { before, ...memory });
  } finally {
    await stage.stop();
  }
}

function print(rows, memory) {
  if (flags.json) {
    console.log(JSON.stringify({ users, rows, memory }));
    return;
  }
  const table = new Table({ head: ['list', 'found', 'p50 ms', 'worst ms', 'a neighbour waited ms'] });
  for (const { name, found, p50, worst, waited } of rows) {
    table.push([name, found, Math.round(p50), Math.round(worst), Math.round(waited)]);
  }
  console.log(`${users} users\n${table.toString()}`);
  console.log(
    `memory of the bridge: ${memory.before} MB before, ${memory.now} MB after, ${memory.peak} MB at its highest`,
  );
}

await main();
