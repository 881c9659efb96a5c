// Puts the files of the image together without Docker (`npm run image-tree`), as the Dockerfile does, shows their size
// and measures the start. `--out FOLDER` keeps them; `--json` prints the figures as JSON; `--no-start` skips the start.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ROOT, shippedPackages } from '../release/shipped-packages.mjs';
import { prune } from './prune.mjs';

/* global fetch */

/** Paths of the checkout that the Dockerfile copies as they are. */
const COPIED = ['package.json', 'LICENSE', 'THIRD-PARTY-LICENSES'];
const CONFIG = ['bridge.example.yaml', 'bridge.schema.json', 'plan.schema.json'];
const START_MS = 30_000;

/** Fills an empty folder with the content of /app. */
export function assembleTree(to) {
  mkdirSync(join(to, 'config'), { recursive: true });
  for (const name of COPIED) cpSync(join(ROOT, name), join(to, name));
  for (const name of CONFIG) cpSync(join(ROOT, 'config', name), join(to, 'config', name));
  cpSync(join(ROOT, 'dist'), join(to, 'dist'), { recursive: true });
  rmSync(join(to, 'dist', '.built'), { force: true });
  prune(join(to, 'dist'));
  const inImage = shippedPackages().filter(({ isOptional }) => !isOptional);
  for (const { path } of inImage) {
    const nested = join(ROOT, path, 'node_modules');
    cpSync(join(ROOT, path), join(to, path), {
      recursive: true,
      filter: (source) => !source.startsWith(nested),
    });
  }
  prune(join(to, 'node_modules'));
  chmodSync(join(to, 'dist/main.js'), 0o755);
}

/** @returns the bytes and the number of the files below a folder */
export function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .reduce(({ bytes, files }, size) => ({ bytes: bytes + size, files: files + 1 }), { bytes: 0, files: 0 });
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/**
 * Starts the service of a tree with a private Redis, or the one of REDIS_URL.
 * @returns the milliseconds until /livez answers 200
 */
export async function measureStart(tree) {
  const { startLocalRedis } = await import(join(tree, 'dist/demo/local-redis.js'));
  const redis = await startLocalRedis({ env: process.env });
  const port = await freePort();
  const begin = performance.now();
  const child = spawn(process.execPath, [join(tree, 'dist/main.js'), 'serve'], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      ...{ NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port) },
      ...{
        REDIS_URL: redis.url,
        PLATFORM_URL: 'https://acme.example.com',
      },
      ...{ PLATFORM_TOKEN: 'not-a-real-key-0123456789', SCIM_TOKEN: 'a-token-for-tests-only-0123456789' },
    },
  });
  try {
    while (performance.now() - begin < START_MS) {
      if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
      const answer = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined);
      if (answer?.ok) return Math.round(performance.now() - begin);
      await sleep(5);
    }
    throw new Error('the service did not answer within 30 s');
  } finally {
    child.kill('SIGKILL');
    await redis.stop();
  }
}

const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

async function main() {
  const { values } = parseArgs({
    options: { out: { type: 'string' }, json: { type: 'boolean' }, 'no-start': { type: 'boolean' } },
  });
  const build = spawnSync(process.execPath, [join(ROOT, '.ci/build.mjs'), '--if-needed'], {
    stdio: 'inherit',
  });
  if (build.status !== 0) process.exit(1);
  const folder = values.out ? resolve(values.out) : mkdtempSync(join(tmpdir(), 'scim-bridge-image-'));
  try {
    rmSync(folder, { recursive: true, force: true });
    assembleTree(folder);
    const figures = {
      ...{
        all: sizeOf(folder),
        dist: sizeOf(join(folder, 'dist')),
        packages: sizeOf(join(folder, 'node_modules')),
      },
      startMs: values['no-start'] ? null : await measureStart(folder),
    };
    if (values.json) console.log(JSON.stringify(figures));
    else {
      for (const part of ['dist', 'packages', 'all'])
        console.log(`${part}: ${megabytes(figures[part].bytes)} in ${figures[part].files} files`);
      if (figures.startMs !== null) console.log(`start until /livez answers: ${figures.startMs} ms`);
    }
  } finally {
    if (!values.out) rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1]?.endsWith('tree.mjs')) await main();
