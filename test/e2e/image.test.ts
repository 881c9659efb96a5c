// Tests the Dockerfile, and the files of the image put together without Docker.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { packageVersion } from '../../src/support/version.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const dockerfile = read('Dockerfile');
const { assembleTree, sizeOf } = (await import(join(ROOT, '.ci/image/tree.mjs'))) as {
  assembleTree: (to: string) => void;
  sizeOf: (folder: string) => { bytes: number; files: number };
};

/** Runs a process as the image does: as another user without write permission. Only root can switch to that user. */
const USER = process.getuid?.() === 0 ? { uid: 10001, gid: 10001 } : {};
const MAIN = 'dist/main.js';
let tree: string;
const files = (): string[] =>
  readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(tree, join(entry.parentPath, entry.name)));

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'scim-bridge-image-'));
  assembleTree(tree);
  chmodSync(tree, 0o555);
}, 120_000);
afterAll(() => rmSync(tree, { recursive: true, force: true }));

test('the image has no source maps, types, tests, documents, development packages or query engine', () => {
  const found = files();
  expect(found).toEqual(
    expect.arrayContaining([MAIN, 'LICENSE', 'THIRD-PARTY-LICENSES', 'config/plan.schema.json']),
  );
  const waste =
    /\.(map|ts|tsbuildinfo)$|(^|\/)(tests?|docs|__tests__|\.git\w*)\/|(^|\/)(readme|tests?\.[cm]?js$)|node_modules\/(@duckdb|selfsigned|typescript|jest|playwright-core)\//i;
  expect(found.filter((path) => waste.test(path))).toEqual([]);
  const { bytes } = sizeOf(tree);
  expect(bytes).toBeLessThan(35 * 1024 * 1024);
});

test('every module of the image loads with only the packages in the image', () => {
  const script = join(tmpdir(), `scim-bridge-load-${process.pid}.mjs`);
  const modules = files().filter((path) => /^dist\/(?!ui\/).*\.js$/.test(path) && path !== MAIN);
  writeFileSync(
    script,
    `const faults = [];
    for (const path of ${JSON.stringify(modules.map((path) => join(tree, path)))})
      await import(path).catch((error) => faults.push(path + ': ' + error.message));
    console.log(JSON.stringify(faults));
    process.exit(0);`,
  );
  try {
    const faults = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })) as string[];
    expect(modules.length).toBeGreaterThan(400);
    // TLS and the query engine of the sandbox need the optional packages.
    expect(faults.filter((fault) => !/@duckdb\/node-api|selfsigned/.test(fault))).toEqual([]);
  } finally {
    rmSync(script);
  }
});

test('the service starts, answers and stops as a user without write permission', async () => {
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    ...USER,
    cwd: tree,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      HOST: '127.0.0.1',
      REDIS_URL: process.env.TEST_REDIS_URL,
      PLATFORM_URL: 'https://acme.example.com',
      PLATFORM_TOKEN: 'not-a-real-key-0123456789',
      SCIM_TOKEN: 'a-token-for-tests-only-0123456789',
    },
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (output += data.toString()));
  const exited = once(child, 'exit');
  const port = await eventually('the service listens', () => {
    if (child.exitCode !== null) throw new Error(output);
    return Promise.resolve(/"port":(\d+)/.exec(output)?.[1]);
  });
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test('scim-bridge is on PATH, and --version has the revision of the build', () => {
  expect(dockerfile).toContain('ln -s /app/dist/main.js /usr/local/bin/scim-bridge');
  expect(dockerfile).toMatch(/^ARG REVISION=unknown$[^]*^ENV SCIM_BRIDGE_REVISION=\$\{REVISION\}$/m);
  const env = { PATH: process.env.PATH, SCIM_BRIDGE_REVISION: '3fdcfea' };
  const text = execFileSync(join(tree, MAIN), ['--version'], { ...USER, cwd: tree, env, encoding: 'utf8' });
  expect(text.trim()).toBe(`${packageVersion()} (revision 3fdcfea)`);
});

test('every stage of the Dockerfile names the base image by its digest', () => {
  expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:\d+(\.[\d.]+)?-trixie-slim@sha256:[0-9a-f]{64}$/m);
  const stages = dockerfile.match(/^FROM .+$/gm) ?? [];
  expect(stages.length).toBe(3);
  for (const stage of stages)
    expect(stage).toMatch(/^FROM (--platform=\$\{BUILDPLATFORM\} )?\$\{NODE_IMAGE\} AS /);
});

test('every file that the image copies exists and is not ignored', () => {
  const allowed = read('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  for (const path of allowed) expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
  const copied = dockerfile
    .split('\n')
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));
  expect(copied.length).toBeGreaterThan(5);
  for (const path of copied) {
    expect([path, allowed.some((entry) => entry === path || entry.startsWith(`${path}/`))]).toEqual([
      path,
      true,
    ]);
  }
});

test('the image runs as a fixed user that is not root, and without package managers', () => {
  const runtime = dockerfile.slice(dockerfile.indexOf('AS runtime'));
  expect(runtime).toMatch(/^USER 10001:10001$/m);
  expect(runtime).not.toMatch(/\bnpm ci\b/);
  expect(runtime).toMatch(/rm -rf .*node_modules/);
  expect(dockerfile.match(/npm ci(?: --\S+)*/g)).toEqual(['npm ci', 'npm ci --omit=dev --omit=optional']);
});
