// Tests the Dockerfile and the files of the image without building it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const dockerfile = read('Dockerfile');

/** Packages that the image leaves out: npm ci --omit=dev --omit=optional. */
function leftOut(): string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: true; optional?: true; devOptional?: true }>;
  };
  return Object.entries(packages).flatMap(([path, { dev, optional, devOptional }]) => {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    return name !== undefined && (dev ?? optional ?? devOptional) ? [name] : [];
  });
}

/** Module hooks under which the packages cannot be found. */
function without(packages: string[]): string {
  const resolve = `
    const missing = new Set(${JSON.stringify(packages)});
    export function resolve(specifier, context, next) {
      const name = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
      if (missing.has(name)) throw new Error('not in the image: ' + name);
      return next(specifier, context);
    }`;
  const url = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
  return url(`import { register } from 'node:module'; register(${JSON.stringify(url(resolve))});`);
}

test('the service starts, answers and ends with the packages of the image alone', async () => {
  expect(leftOut()).toEqual(expect.arrayContaining(['typescript', 'jest', '@duckdb/node-api', 'selfsigned']));
  const child = spawn(
    process.execPath,
    ['--import', without(leftOut()), join(ROOT, 'dist/main.js'), 'serve'],
    {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        HOST: '127.0.0.1',
        REDIS_URL: process.env.TEST_REDIS_URL,
        PLATFORM_URL: 'https://acme.example.com',
        PLATFORM_TOKEN: 'not-a-real-key-0123456789',
        SCIM_TOKEN: 'a-token-for-tests-only-0123456789',
      },
    },
  );
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

test('everything that the image copies exists and passes the ignore file', () => {
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
