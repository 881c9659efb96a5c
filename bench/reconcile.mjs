// Measures reconcile without drift against a pass that only fetches and parses the same pages: wall time,
// memory, growth with the number of users, and Redis memory per user. See README.md.
import { spawn } from 'node:child_process';
import console from 'node:console';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { URL } from 'node:url';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { attributes } from './estate.mjs';
import { median } from './load.mjs';
import { createStage, freePort, LOAD_CORE, SERVER_CORE } from './processes.mjs';

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '10000,100000' },
    groups: { type: 'string', default: '1000' },
    members: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    'platform-ms': { type: 'string', default: '5' },
    bridge: { type: 'string', default: 'dist/main.js' },
    node: { type: 'string', default: process.execPath },
    json: { type: 'boolean', default: false },
  },
});
const dist = join(process.cwd(), dirname(values.bridge));
/** Time after which the double listens. */
const START_MS = 500;
const here = (file) => new URL(file, import.meta.url).pathname;

const memoryOf = async (redis) => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);

/** Runs one pass of reconcile-once.mjs, `walk` or `reconcile`. @returns its figures */
async function once(stage, what, file) {
  const args = [here('./reconcile-once.mjs'), what, dist, file];
  const child = stage.start(SERVER_CORE, values.node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  if (text === '') throw new Error(`${what} printed nothing`);
  return JSON.parse(text);
}

/** Runs a script until it exits, not pinned to a core. */
async function runToEnd(file, args) {
  const child = spawn(values.node, [here(file), ...args.map(String)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
}

/** Measures all figures for one number of users. */
async function measure(users) {
  const stage = createStage();
  try {
    const server = await stage.startRedis();
    const redis = new Redis(server.url);
    const empty = await memoryOf(redis);
    await runToEnd('./reconcile-load.mjs', [dist, server.url, 'bench', users, values.groups, values.members]);
    const perUser = Math.round(((await memoryOf(redis)) - empty) / users);
    redis.disconnect();
    const port = await freePort();
    const double = [users, values.groups, values.members, port, values['platform-ms']].map(String);
    stage.start(LOAD_CORE, values.node, [here('./platform-double.mjs'), ...double]);
    await sleep(START_MS);
    const url = `http://127.0.0.1:${port}`;
    const file = join(stage.folder, 'settings.json');
    const rateLimit = { requestsPerSecond: 5000, burst: 5000 };
    const settings = {
      redis: { url: server.url, prefix: 'bench' },
      connections: {
        default: { tokens: [{ name: 'bench', secret: 'a-token-for-measurements-0123456789' }] },
      },
      targets: {
        main: { url, token: 'a-key-for-measurements', allowLoopbackHttp: true, rateLimit, attributes },
      },
    };
    writeFileSync(file, JSON.stringify(settings));
    // The first run also builds the derived data of all users and reads all members; later runs do not, so it
    // is not measured.
    const first = await once(stage, 'reconcile', file);
    const rounds = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      const walk = await once(stage, 'walk', file);
      const run = await once(stage, 'reconcile', file);
      rounds.push({ walk, run, ratio: run.wallMs / walk.wallMs });
    }
    const { writes } = await (await globalThis.fetch(`${url}/writes`)).json();
    return {
      users,
      walkMs: Math.round(median(rounds.map(({ walk }) => walk.wallMs))),
      runMs: Math.round(median(rounds.map(({ run }) => run.wallMs))),
      ratio: Number(median(rounds.map(({ ratio }) => ratio)).toFixed(2)),
      cpuRatio: Number(median(rounds.map(({ walk, run }) => run.cpuMs / walk.cpuMs)).toFixed(2)),
      peakMb: Math.max(...rounds.map(({ run }) => run.peakMb)),
      walkPeakMb: Math.max(...rounds.map(({ walk }) => walk.peakMb)),
      calls: rounds[0].run.calls,
      outcome: rounds.map(({ run }) => run.outcome).join(),
      firstMs: Math.round(first.wallMs),
      firstPeakMb: first.peakMb,
      writes,
      redisBytesPerUser: perUser,
    };
  } finally {
    await stage.stop();
  }
}

const sizes = [];
for (const users of values.users.split(',').map(Number)) sizes.push(await measure(users));
const small = sizes[0];
const large = sizes.at(-1);
const growth = Number((large.runMs / small.runMs).toFixed(1));
if (values.json) console.log(JSON.stringify({ sizes, growth }));
else {
  for (const size of sizes) console.log(size);
  console.log(`growth from ${small.users} to ${large.users} users: ${growth} times`);
}
