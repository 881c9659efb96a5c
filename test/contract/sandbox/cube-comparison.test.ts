// Runs `npm run test:cube` against a double of a Cube server: a second sandbox, and one whose answers are changed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, mkdtempSync } from 'node:fs';
import { createServer, request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/support/sources.ts';
import { startRig, type Rig } from './rig.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Time at which the sample rows of the recorded answers were made; a clock shows it until the sandbox is seeded. */
const ROWS_AT = Date.parse('2026-11-23T01:25:00Z');
let double: Rig;
let proxy: Server;
/** Returns the answer that the double gives in place of `text`; `sent` is the body of the request. */
let change: (path: string, sent: string, text: string) => { status?: number; text: string } = (
  _path,
  _sent,
  text,
) => ({ text });

beforeAll(async () => {
  let isSeeded = false;
  double = await startRig({
    clock: {
      now: () => (isSeeded ? Date.now() : ROWS_AT),
      sleep: (ms, signal) => systemClock.sleep(ms, signal),
    },
  });
  isSeeded = true;
  // Forwards requests and lets the test change the answers.
  proxy = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method, url = '', headers } = incoming;
      const sent = Buffer.concat(chunks).toString('utf8');
      const { origin } = new URL(double.ready.dataApiUrl);
      const base = /^\/(?:readyz|livez)/.test(url) ? origin : double.ready.dataApiUrl;
      ask(`${base}${url}`, { method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          const changed = change(url, sent, Buffer.concat(parts).toString('utf8'));
          const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = answer.headers;
          outgoing.writeHead(changed.status ?? answer.statusCode ?? 500, kept);
          outgoing.end(changed.text);
        });
      }).end(sent);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await double.stop();
});

async function run(args: string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['.ci/cube/run.mjs', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (text) => (out += String(text)));
  child.stderr.on('data', (text) => (errors += String(text)));
  const [code] = await once(child, 'close');
  return { code, out, errors };
}
const secretOf = ({ ready }: Rig): string => ready.fixtures.deployments[0]?.apiSecret ?? '';
/** A part of the requests suffices here: all of them are compared with recorded answers below. */
const compare = () =>
  run(['--subject', 'transport,answers,policies'], {
    CUBE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    CUBE_SECRET: secretOf(double),
  });

test('comparing the sandbox with an equal server that sends numbers unquoted finds no difference and exits 0', async () => {
  change = (_path, _sent, text) => ({
    text: text.replace(/"data":\[.*?\](?=[,}])/g, (data) => data.replace(/"(\d{1,9})"/g, '$1')),
  });
  const { code, out } = await compare();
  expect(out).toMatch(/^\n(\d+) requests: \1 equal, 0 known, 0 different\.\n$/);
  expect(Number(/\d+/.exec(out)?.[0])).toBeGreaterThan(40);
  expect(code).toBe(0);
}, 120_000);

test('the comparison prints both values of each difference and exits 1, and lists known differences with a reason', async () => {
  change = (path, sent, text) => {
    if (text.includes('requested hidden member')) return { status: 500, text };
    if (path === '/v1/sql' && text.startsWith('{"sql"')) return { status: 404, text: '<!DOCTYPE html>' };
    if (sent === '{"query":{"measures":["orders.count"],"segments":["orders.completed"]}}')
      return { text: text.replaceAll('"319"', '"320\\u001b[2J"') };
    return { text };
  };
  const { code, out } = await compare();
  expect(out).toMatch(/Known differences[^]*known: .*Cube answers 500[^]*status +sandbox 400 +server 500/);
  const open = out.slice(out.indexOf('\nDifferences:'));
  expect(open).toMatch(/answers\.6 .*segments[^]*orders\.count +sandbox 319 +server "320/);
  expect(open).toMatch(/POST \/v1\/sql[^]*status +sandbox 200 +server 404/);
  expect(out).not.toContain('\u001b');
  expect(out).toMatch(/ \d+ known, \d+ different\.\n$/);
  expect(code).toBe(1);
}, 120_000);

test("a sandbox that reads the seed's model from Cube's YAML answers the comparison like one with the built-in seed", async () => {
  let isSeeded = false;
  const yaml = await startRig({
    modelDir: join(ROOT, '.ci/cube/server/model'),
    clock: {
      now: () => (isSeeded ? Date.now() : ROWS_AT),
      sleep: (ms, signal) => systemClock.sleep(ms, signal),
    },
  });
  isSeeded = true;
  const server = { CUBE_URL: yaml.ready.dataApiUrl, CUBE_SECRET: secretOf(yaml) };
  const { code, out } = await run(['--subject', 'forms,answers,orders,policies,groups'], server);
  await yaml.stop();
  expect(out).toMatch(/^\n(\d+) requests: \1 equal, 0 known, 0 different\.\n$/);
  expect(code).toBe(0);
}, 120_000);

test('the sandbox gives the recorded answers of a Cube server 1.7.43, except for known differences', async () => {
  const { code, out } = await run(['--recorded', 'test/fixtures/core-data/cube-1.7.43.jsonl']);
  const [, all = 0, equal = 0, known = 0] =
    /^(\d+) requests: (\d+) equal, (\d+) known, 0 different/m.exec(out) ?? [];
  expect(Number(equal) + Number(known)).toBe(Number(all));
  expect(Number(equal)).toBeGreaterThan(750);
  expect(code).toBe(0);
}, 120_000);

test('the comparison without CUBE_SECRET exits 1 and names it; with --rows it writes the rows of the seed as SQL', async () => {
  const missing = await run([], { CUBE_URL: '', CUBE_SECRET: '' });
  expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining('CUBE_SECRET')]);
  const folder = mkdtempSync(join(tmpdir(), 'cube-rows-'));
  const file = join(folder, 'rows.sql');
  expect((await run(['--rows', file])).code).toBe(0);
  const sql = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  expect(sql.match(/^CREATE TABLE (\w+)/gm)).toEqual(
    ['customers', 'orders', 'countries'].map((name) => `CREATE TABLE ${name}`),
  );
  expect(sql.match(/^\(/gm)).toHaveLength(120 + 640 + 6);
});
