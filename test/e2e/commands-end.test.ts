// Tests that plan, reconcile and sync end within 20 seconds when the platform does not answer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBridge, TOKEN } from '../support/build-bridge.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
/** 15 s, and the start of two dozen processes at once on a busy machine. */
const MOST_MS = 30_000;
const FAULTS = [
  'refuses connections',
  'accepts and never answers',
  'answers 503 always',
  'answers 429 always',
] as const;
const STATUS_LINES: Partial<Record<(typeof FAULTS)[number], string>> = {
  'answers 503 always': '503 Service Unavailable',
  'answers 429 always': '429 Too Many Requests',
};
/** Further reason that a command may print: a plan whose pages are all refused ends before the command stops waiting. */
const REASONS: Partial<Record<(typeof FAULTS)[number], RegExp>> = {
  'answers 503 always': /main answers 503; no call has succeeded since 20/,
  'answers 429 always': /main answers 429 since 20|answered 429/,
};

/** Runs a command as a process. */
async function command(file: string, ...args: string[]) {
  const startedAt = Date.now();
  const child = spawn(process.execPath, [MAIN, '--config', file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let error = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (error += data.toString()));
  const killer = setTimeout(() => child.kill('SIGKILL'), 2 * MOST_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(killer);
  return { code, out, error, ms: Date.now() - startedAt };
}

/** Starts a TCP proxy in front of the platform that can stop answering. */
async function startFrontOf(port: number) {
  let fault: (typeof FAULTS)[number] | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const line = fault && STATUS_LINES[fault];
    if (line) socket.on('data', () => socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`));
    if (fault !== undefined) return;
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => socket.destroy());
    sockets.add(upstream);
    socket.pipe(upstream).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    break: (chosen: (typeof FAULTS)[number]): void => {
      fault = chosen;
      if (chosen === 'refuses connections') server.close();
      end();
    },
    stop: (): void => {
      server.close();
      end();
    },
  };
}

async function endsWith(fault: (typeof FAULTS)[number]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  let front: Awaited<ReturnType<typeof startFrontOf>> | undefined;
  const bridge = await buildBridge();
  try {
    front = await startFrontOf(Number(new URL(bridge.sandbox.ready.platformUrl).port));
    const { prefix } = bridge.config.redis;
    const key = bridge.sandbox.ready.fixtures.apiKeys.admin;
    const file = join(folder, 'bridge.json');
    const saved = join(folder, 'plan.json');
    writeFileSync(
      file,
      JSON.stringify({
        redis: { url: process.env.TEST_REDIS_URL, prefix },
        connections: { default: { tokens: [{ name: 'one', secret: TOKEN }], targets: ['main'] } },
        targets: { main: { url: front.url, token: key, allowLoopbackHttp: true } },
        reconcile: { schedule: null },
      }),
      { mode: 0o600 },
    );
    await bridge.idp.createUser('ann@acme.example');
    await bridge.idle();
    const first = await command(file, 'reconcile');
    expect(first).toMatchObject({ code: 0 });
    await command(file, 'plan', '--out', saved);
    const former = readFileSync(saved, 'utf8');
    front.break(fault);
    for (const args of [['plan', '--out', saved], ['reconcile'], ['sync', 'ann@acme.example']]) {
      const ended = await command(file, ...args);
      expect(ended).toMatchObject({ code: 1 });
      expect(ended.out + ended.error).toMatch(
        REASONS[fault] ?? /main does not answer(; no call has succeeded)? since 20/,
      );
      expect(ended.ms).toBeLessThan(MOST_MS);
    }
    expect(readFileSync(saved, 'utf8')).toBe(former);
  } finally {
    front?.stop();
    await bridge.stop();
    rmSync(folder, { recursive: true });
  }
}

test('the platform refuses connections, never answers, or always answers 503 or 429 → plan, reconcile and sync exit 1 and name the reason', async () => {
  // The commands wait most of the time.
  await Promise.all(FAULTS.map(endsWith));
}, 180_000);

test('reconcile with --deadline 1s exits 1 while Redis cannot be reached', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  try {
    const file = join(folder, 'bridge.json');
    writeFileSync(
      file,
      JSON.stringify({
        redis: { url: 'redis://127.0.0.1:9' },
        connections: { default: { tokens: [{ name: 'one', secret: TOKEN }], targets: ['main'] } },
        targets: {
          main: { url: 'http://127.0.0.1:9', token: 'a-key-for-tests-only', allowLoopbackHttp: true },
        },
      }),
      { mode: 0o600 },
    );
    const ended = await command(file, 'reconcile', '--deadline', '1s');
    expect(ended).toMatchObject({
      code: 1,
      error: expect.stringContaining('Redis at 127.0.0.1:9 does not answer (nothing listens there)'),
    });
    // The deadline, and the start of a process on a busy machine; without it the command waits 10 s for Redis.
    expect(ended.ms).toBeLessThan(9000);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

test('plan and reconcile exit 1 at --deadline when the platform never answers, and a --deadline that is no number is refused', async () => {
  const bridge = await buildBridge({ sandbox: {} });
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  const front = await startFrontOf(Number(new URL(bridge.sandbox.ready.platformUrl).port));
  try {
    const file = join(folder, 'bridge.json');
    const token = bridge.sandbox.ready.fixtures.apiKeys.admin;
    writeFileSync(
      file,
      JSON.stringify({
        redis: { url: process.env.TEST_REDIS_URL, prefix: bridge.config.redis.prefix },
        connections: { default: { tokens: [{ name: 'one', secret: TOKEN }], targets: ['main'] } },
        targets: { main: { url: front.url, token, allowLoopbackHttp: true } },
      }),
      { mode: 0o600 },
    );
    front.break('accepts and never answers');
    for (const [name, rest] of [
      ['plan', '; nothing was changed. Repeat it with a longer --deadline.'],
      ['reconcile', '. A worker applies what is marked, if one runs; repeat the command for the rest.'],
    ] as const) {
      const ended = await command(file, name, '--deadline', '2s');
      const error = expect.stringContaining(`The deadline passed before the command ended${rest}`);
      expect(ended).toMatchObject({ code: 1, error });
      // The deadline, and the start and the end of a process on a busy machine; without it the command would not end.
      expect(ended.ms).toBeLessThan(20_000);
    }
    await expect(command(file, 'plan', '--deadline', 'soon')).resolves.toMatchObject({
      code: 1,
      error: expect.stringContaining('--deadline is a number'),
    });
  } finally {
    front.stop();
    await bridge.stop();
    rmSync(folder, { recursive: true });
  }
}, 90_000);
