// Lists the files of the bridge that run between a request and its answer, at each of several requests. With --to-platform: those
// that run until the change is at the platform (role all, the sandbox as platform), without the ones that run on timers anyway.
// Needs a build and redis-server. Usage: node bench/files-of-a-request.mjs [--to-platform] [main.js]
// The same file is loaded into the bridge with --import; there, each SIGUSR2 makes it write the list of the files that
// ran since the previous signal.
import console from 'node:console';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, relative, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL, URL } from 'node:url';
import { parseArgs } from 'node:util';
import { fetch } from 'undici';
import { user } from './people.mjs';
import { createStage, TOKEN } from './processes.mjs';

const SELF = fileURLToPath(import.meta.url);
/** Requests before the measured one, so that files that only a first request runs are left out. */
const WARM_UP = 5;
/** Measured requests. */
const MEASURED = 4;
/** Pause between them; no multiple of it is near the interval of a timer. */
const PAUSE_MS = 370;
/** Longer than each interval of the timers of an idle bridge. */
const IDLE_MS = 14_000;
/** Longer than a sync takes. */
const SYNC_MS = 1500;
/** Longer than the bridge needs to write the list after it has created the file. */
const WRITE_MS = 50;

/** Runs in the bridge: at each SIGUSR2 it writes the files that ran since the previous one to `report`. */
async function recordFiles(report) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('SIGUSR2', async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0));
    writeFileSync(report, JSON.stringify(ran.map(({ url }) => url)));
  });
}

/**
 * Starts the bridge and returns the files that run for each measured `POST /Users`, after some requests to warm up.
 * @param toPlatform wait for the sync too, and leave out the files that also run without a request
 */
async function filesOfPost(main, toPlatform) {
  const stage = createStage();
  const report = resolve(stage.folder, 'ran.json');
  process.env.BENCH_REPORT = report;
  try {
    const redis = await stage.startRedis();
    const sandbox = toPlatform ? await stage.startSandbox(process.execPath, main) : undefined;
    const bridge = await stage.startBridge({
      node: process.execPath,
      nodeArguments: ['--import', SELF],
      main,
      role: toPlatform ? 'all' : 'api',
      name: 'bridge',
      redisUrl: redis.url,
      platform: sandbox && { url: sandbox.platformUrl, token: sandbox.fixtures.apiKeys.admin },
    });
    const root = `${pathToFileURL(dirname(main)).href}/`;
    const takeFiles = async () => {
      rmSync(report, { force: true });
      process.kill(bridge.pid, 'SIGUSR2');
      while (!existsSync(report)) await sleep(20);
      await sleep(WRITE_MS);
      const urls = JSON.parse(readFileSync(report, 'utf8')).filter((url) => url.startsWith(root));
      return urls.map((url) => relative(root, url)).sort();
    };
    const post = async (number) => {
      const response = await fetch(`http://127.0.0.1:${bridge.port}/scim/v2/Users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify(user(number)),
      });
      if (response.status !== 201) throw new Error(`POST answered ${response.status}`);
      await response.text();
    };
    for (let number = 0; number < WARM_UP; number++) await post(number);
    if (toPlatform) await sleep(SYNC_MS);
    await takeFiles();
    if (toPlatform) await sleep(IDLE_MS);
    const idle = toPlatform ? await takeFiles() : [];
    const rounds = [];
    for (let number = WARM_UP; number < WARM_UP + MEASURED; number++) {
      await post(number);
      if (toPlatform) await sleep(SYNC_MS);
      rounds.push(await takeFiles());
      await sleep(PAUSE_MS);
    }
    // A file that a timer ran during one request does not run during all of them.
    const [first = [], ...others] = rounds;
    const ran = first.filter((file) => others.every((files) => files.includes(file)));
    return { files: ran.filter((file) => !idle.includes(file)), all: ran.length };
  } finally {
    await stage.stop();
  }
}

if (process.env.BENCH_REPORT) await recordFiles(process.env.BENCH_REPORT);
else {
  const { values, positionals } = parseArgs({
    options: { 'to-platform': { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const main = resolve(positionals[0] ?? fileURLToPath(new URL('../dist/main.js', import.meta.url)));
  const { files, all } = await filesOfPost(main, values['to-platform']);
  const others = all === files.length ? '' : `; ${all - files.length} more run also without a request`;
  console.log(`${files.join('\n')}\n${files.length} files run for POST /Users${others}`);
}
