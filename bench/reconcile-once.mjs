// Runs one measured pass in a process of its own, so that memory is measured per pass. `walk` only fetches and parses
// the pages of users and groups, with the same client, page size and concurrency as `reconcile`. Usage:
// reconcile-once.mjs <walk|reconcile> <dist folder> <settings file>
import console from 'node:console';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const [what, dist, file] = process.argv.slice(2);
const part = (name) => import(pathToFileURL(join(dist, name)).href);
const { loadConfig } = await part('config/load.js');
const { randomIds, systemClock } = await part('support/sources.js');
const { silentLogger } = await part('support/logger.js');
const { openScopes } = await part('app/open.js');
const { reconcile } = await part('reconcile/apply/run.js');
const { connectPlatform } = await part('platform/client.js');

/** Page sizes of users and groups, as reconcile asks for them. */
const [USERS, GROUPS] = [500, 200];
const config = loadConfig({ cwd: '/', env: process.env, file });
const { url, token, concurrency, guard } = config.targets.main;

async function walk() {
  const client = connectPlatform({ url, token, allowLoopbackHttp: true, connections: concurrency * 2 });
  let seen = 0;
  const options = { count: USERS, inFlight: Math.ceil(concurrency / 2) };
  const startedAt = performance.now();
  for await (const page of client.groups.pages({ count: GROUPS, inFlight: 2, members: false }))
    seen += page.resources.length;
  for await (const page of client.users.pages(options)) seen += page.resources.length;
  const wallMs = performance.now() - startedAt;
  await client.close();
  return { wallMs, seen };
}

async function run() {
  const deps = { logger: silentLogger, clock: systemClock, ids: randomIds, random: Math.random };
  const { scopes, stop } = await openScopes(config, deps);
  const startedAt = performance.now();
  const signal = new globalThis.AbortController().signal;
  const { report, plan } = await reconcile(scopes[0].scope, {
    id: 'bench',
    signal,
    repair: true,
    guard,
    logger: silentLogger,
  });
  const wallMs = performance.now() - startedAt;
  await stop();
  const { calls } = plan.cost;
  return {
    wallMs,
    seen: report.users + report.groups,
    outcome: report.outcome,
    calls,
    message: report.message,
  };
}

// The commands of the bridge set the same flag (src/cli/scopes.ts).
setFlagsFromString('--heap-growing-percent=100');
const cpu = process.cpuUsage();
const result = what === 'walk' ? await walk() : await run();
const used = process.cpuUsage(cpu);
console.log(
  JSON.stringify({
    ...result,
    cpuMs: (used.user + used.system) / 1000,
    peakMb: Math.round(process.resourceUsage().maxRSS / 1024),
  }),
);
