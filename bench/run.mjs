// Measures requests per second of the bridge and of plain Express in alternating rounds. See README.md.
import console from 'node:console';
import { resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { median, quantile, runLoad } from './load.mjs';
import { ceilings, CEILING_TEXTS, createOperations } from './operations.mjs';
import { user } from './people.mjs';
import { createStage, LOAD_CORE, pinSelf, processorSeconds, residentMegabytes } from './processes.mjs';
import { printReport } from './report.mjs';

const GROUP_MEMBERS = 10_000;

const { values: flags } = parseArgs({
  options: {
    users: { type: 'string', default: '1000' },
    role: { type: 'string', default: 'api' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    'warm-up': { type: 'string', default: '10' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    bridge: {
      type: 'string',
      multiple: true,
      default: [fileURLToPath(new URL('../dist/main.js', import.meta.url))],
    },
    'node-argument': { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(flags.rounds);
const seconds = Number(flags.seconds);
const warmUpSeconds = Number(flags['warm-up']);
const connections = Number(flags.connections);
const isWanted = ({ name }) => flags.only === undefined || flags.only.split(',').includes(name);
const reportProgress = (text) => process.stderr.write(`${text}\n`);

/** Runs an operation on one server for `length` seconds. @returns the figures of this slice */
async function slice(server, operation, length = seconds) {
  const before = processorSeconds(server.pid);
  const { headers, next, onAnswer } = operation;
  const result = await runLoad({ port: server.port, headers, connections, seconds: length, next, onAnswer });
  const busy = processorSeconds(server.pid) - before;
  if (result.failed > 0)
    reportProgress(`${operation.name ?? 'ceiling'}: ${result.failed} failed, first: ${result.firstFailure}`);
  return {
    perSecond: result.requests / result.seconds,
    cpuMicros: (busy / result.requests) * 1e6,
    busy: busy / result.seconds,
    p50: quantile(result.latencies, 0.5),
    p99: quantile(result.latencies, 0.99),
    failed: result.failed,
  };
}

/** Returns the median of each figure. */
const summary = (slices) =>
  Object.fromEntries(Object.keys(slices[0]).map((key) => [key, median(slices.map((each) => each[key]))]));

/**
 * Returns the medians of an operation's rounds. Ratios are taken within a round, so both sides ran under the
 * same conditions.
 */
function toRow(name, bridge, samples) {
  const row = { operation: name, bridge, ...summary(samples.map((sample) => sample.measured)) };
  const compared = samples.filter((sample) => sample.ceiling);
  if (compared.length === 0) return row;
  return {
    ...row,
    ceiling: summary(compared.map((sample) => sample.ceiling)),
    ratio: median(compared.map(({ measured, ceiling }) => measured.perSecond / ceiling.perSecond)),
    cpuRatio: median(compared.map(({ measured, ceiling }) => ceiling.cpuMicros / measured.cpuMicros)),
  };
}

/** Measures the load generator against a server with a fixed answer. */
async function measureLoad(stage) {
  const fixed = await stage.startCeiling(flags.node, 'static');
  const call = { method: 'GET', path: '/' };
  await slice(fixed, { headers: [], next: () => call }, 1);
  return slice(fixed, { headers: [], next: () => call });
}

async function fillCeiling(url) {
  const redis = new Redis(url);
  const texts = Array.from({ length: CEILING_TEXTS }, (_, index) => JSON.stringify(user(index)));
  await redis.mset(...texts.flatMap((text, index) => [`ceiling:text:${index}`, text]));
  redis.disconnect();
}

async function startBridges(stage, redis, users, role) {
  const bridges = [];
  for (const [index, path] of flags.bridge.entries()) {
    const main = resolve(path);
    const name = `bridge${index + 1}`;
    reportProgress(`preloading ${users} users for ${main}`);
    const members = Math.min(users, GROUP_MEMBERS);
    await stage.runToEnd(flags.node, './preload.mjs', [
      main,
      redis.url,
      name,
      String(users),
      String(members),
    ]);
    const platform = role === 'all' ? await startPlatform(stage, main) : undefined;
    const options = {
      node: flags.node,
      nodeArguments: flags['node-argument'],
      main,
      role,
      name,
      redisUrl: redis.url,
    };
    const server = await stage.startBridge({ ...options, platform });
    bridges.push({ name, main, server, operations: createOperations(users).filter(isWanted) });
  }
  return bridges;
}

async function startPlatform(stage, main) {
  const { platformUrl, fixtures } = await stage.startSandbox(flags.node, main);
  return { url: platformUrl, token: fixtures.apiKeys.admin };
}

/** Measures all figures for one directory size. */
async function measure(users, role) {
  const stage = createStage();
  try {
    const redis = await stage.startRedis();
    const client = await measureLoad(stage);
    const ceiling = await stage.startCeiling(flags.node, redis.url);
    await fillCeiling(redis.url);
    const bridges = await startBridges(stage, redis, users, role);
    const samples = new Map();
    for (let round = 0; round <= rounds; round++) {
      const warmUp = round === 0;
      reportProgress(warmUp ? 'warming up' : `round ${round} of ${rounds}`);
      const length = warmUp ? warmUpSeconds : seconds;
      for (const [index, { name: operation, ceiling: against }] of bridges[0].operations.entries()) {
        const comparison = against && (await slice(ceiling, ceilings[against], length));
        for (const bridge of bridges) {
          const measured = await slice(bridge.server, bridge.operations[index], length);
          const key = `${operation} ${bridge.name}`;
          if (!warmUp) samples.set(key, [...(samples.get(key) ?? []), { measured, ceiling: comparison }]);
        }
      }
    }
    return {
      users,
      role,
      clientLimit: client.perSecond,
      rows: [...samples].map(([key, list]) => toRow(...key.split(' '), list)),
      memory: bridges.map(({ name, main, server }) => ({
        bridge: name,
        main,
        ...residentMegabytes(server.pid),
      })),
    };
  } finally {
    await stage.stop();
  }
}

if (!pinSelf(LOAD_CORE))
  reportProgress('no pinning here: server and load share the processors, ratios are less certain');
const reports = [];
for (const role of flags.role.split(',')) {
  for (const users of flags.users.split(',')) reports.push(await measure(Number(users), role));
}
if (flags.json) console.log(JSON.stringify({ node: flags.node, rounds, seconds, connections, reports }));
else for (const report of reports) printReport(report);
