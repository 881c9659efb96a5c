// Tests commands whose reader closes the pipe early, as real processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
/** The log entries of these users are longer than the buffer of a pipe. */
const PEOPLE = 400;

let bridge: Bridge;
let folder: string;
beforeAll(async () => {
  bridge = await buildBridge();
  const { platformUrl, fixtures } = bridge.sandbox.ready;
  folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  const settings = {
    redis: { url: process.env.TEST_REDIS_URL, prefix: bridge.config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: { main: { url: platformUrl, token: fixtures.apiKeys.admin, allowLoopbackHttp: true } },
    reconcile: { schedule: null },
  };
  writeFileSync(join(folder, 'bridge.json'), JSON.stringify(settings), { mode: 0o600 });
  for (let n = 0; n < PEOPLE; n += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, each) => bridge.idp.createUser(`p${n + each}@acme.example`)),
    );
  }
  await eventually('all is applied', async () => (await targetHealth(bridge)).dirty === 0, 60_000);
}, 120_000);
afterAll(async () => {
  await bridge.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** @returns the exit code of the command in front of the pipe, and what it wrote to standard error */
async function piped(command: string, reader: string): Promise<{ code: number; errors: string }> {
  const line = `"${process.execPath}" "${MAIN}" --config bridge.json ${command} | ${reader} > read; exit \${PIPESTATUS[0]}`;
  const child = spawn('bash', ['-c', line], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, errors };
}

test.each([
  ['log --limit 100000', 'head -1'],
  ['log --json', 'head -1'],
  ['links list', 'head -1'],
  ['plan --json', 'true'],
  ['plan', 'true'],
  ['status', 'true'],
  ['explain p1@acme.example', 'true'],
  ['acts', 'true'],
  ['--help', 'true'],
  ['log --help', 'true'],
])(
  'a command exits 0 without an error when the reader of its output closes the pipe: %s | %s',
  async (command, reader) => {
    expect(await piped(command, reader)).toEqual({ code: 0, errors: '' });
  },
);

test.each([
  ['backup -', 'head -c 10'],
  ['backup -', 'true'],
  ['links export', 'true'],
])(
  'a command that exports data exits 1 and says that the output is incomplete when its reader closes the pipe early: %s | %s',
  async (command, reader) => {
    const { code, errors } = await piped(command, reader);
    expect(code).toBe(1);
    expect(errors).toContain('it has only a part of the data');
  },
);

test('a backup to a file exits 0 when the reader of its output closes the pipe', async () => {
  expect((await piped('backup whole.backup', 'true')).code).toBe(0);
});

test('a writing command completes after its output pipe is closed', async () => {
  expect(await piped('hold --note night', 'true')).toEqual({ code: 0, errors: '' });
  expect((await targetHealth(bridge)).findings).toContain(
    'on hold by order of an operator: scim-bridge release --target main ends it',
  );
  expect(await piped('release', 'true')).toEqual({ code: 0, errors: '' });
  expect((await targetHealth(bridge)).findings).toEqual([]);
});

test('check-config, doctor, explain and status keep their exit code when the reader of their output closes the pipe', async () => {
  expect((await piped('check-config', 'true')).code).toBe(0);
  const whole = await piped('doctor', 'cat');
  expect(await piped('doctor', 'true')).toEqual(whole);
  expect(await piped('explain nobody@acme.example', 'true')).toMatchObject({ code: 4 });
  const { code, errors } = await piped('status --config nowhere.yaml', 'true');
  expect(code).toBe(78);
  expect(errors).not.toContain('    at ');
});

test('a command that cannot write its output because the disk is full reports this in one sentence', async () => {
  const line = `"${process.execPath}" "${MAIN}" --help > /dev/full`;
  const child = spawn('bash', ['-c', line], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(1);
  expect(errors).toMatch(/^Standard output cannot be written: ENOSPC[^\n]*\n$/);
});
