// Replays the recorded requests against a Cube server (CUBE_URL, CUBE_SECRET) and against the sandbox, and prints
// a table of differences (`npm run test:cube`). `--rows FILE` writes the rows for the Cube server instead.
import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDice } from '../../dist/sandbox/core-data/sampling.js';
import { SALES_MODEL } from '../../dist/sandbox/core-data/sales-model.js';
import { startSandbox } from '../../dist/sandbox/server.js';
import { differenceOf, meaningOf } from './meaning.mjs';
import { EVERYTHING, REQUESTS } from './requests.mjs';

/* global fetch, AbortSignal */

/** Moment of the sample rows; both servers have the rows of this moment and the present time. */
const ROWS_AT = Date.parse('2026-11-23T01:25:00Z');
const TIMEOUT_MS = 30_000;
const WAITS = 60;
const MOST_BYTES = 8 * 1024 * 1024;
const TYPES = { TIMESTAMP: 'TIMESTAMP', VARCHAR: 'TEXT' };

function rowsAsSql() {
  const tables = SALES_MODEL.sample({
    roll: createDice('1/sales/main'),
    untilMs: ROWS_AT,
    isProduction: true,
  });
  const literal = (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value));
  const lines = tables.flatMap(({ name, columns, rows }) => [
    `CREATE TABLE ${name} (${columns.map(([column, type]) => `${column} ${TYPES[type] ?? type}`).join(', ')});`,
    `INSERT INTO ${name} VALUES\n${rows.map((row) => `(${row.map(literal).join(', ')})`).join(',\n')};`,
  ]);
  return `${lines.join('\n')}\n`;
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @returns a token with the context of the request; numbers in `claims` are seconds from now */
function tokenOf({ context = EVERYTHING, claims = {} }, secret) {
  const now = Math.floor(Date.now() / 1000);
  const given = Object.entries(claims).map(([name, value]) => [
    name,
    typeof value === 'number' ? now + value : value,
  ]);
  const payload = { ...context, iat: now, exp: now + 3600, ...Object.fromEntries(given) };
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

async function readBody(response) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    const body = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : text;
  } catch {
    return text;
  }
}

/** Sends one request and repeats it while the server answers `Continue wait`. */
async function ask({ url, secret }, request) {
  const { method, path, body, authorization, prefix = '' } = request;
  for (let turn = 0; turn < WAITS; turn += 1) {
    const token = authorization ?? `${prefix}${tokenOf(request, secret)}`;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: token }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = { status: response.status, body: await readBody(response) };
    if (answer.body.error !== 'Continue wait') return answer;
    await sleep(100);
  }
  throw new Error('Continue wait without an end');
}

const failed = (error) => ({ failed: String(error.cause?.code ?? error.message) });
const toMeaning = (server, request) =>
  ask(server, request).then((answer) => meaningOf(request, answer), failed);

/** Starts a sandbox whose rows are those of ROWS_AT and whose clock shows the present time. */
async function startReference() {
  let isSeeded = false;
  const clock = { now: () => (isSeeded ? Date.now() : ROWS_AT), sleep: (ms) => sleep(ms) };
  const sandbox = await startSandbox({ clock });
  isSeeded = true;
  const [{ apiSecret }] = sandbox.ready.fixtures.deployments;
  return { url: sandbox.ready.dataApiUrl, secret: apiSecret, stop: () => sandbox.stop() };
}

// Control characters of an answer must not reach the terminal.
const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');

function textOf({ method, path, body }) {
  const query = body === undefined ? '' : ` ${JSON.stringify(body.query ?? body)}`;
  return `${method} ${decodeURIComponent(path)}${query}`.slice(0, 100);
}

function print(title, differences) {
  if (differences.length === 0) return;
  console.log(`\n${title}\n`);
  for (const { request, place, left, right } of differences) {
    console.log(plain(`${request.id.padEnd(6)}${textOf(request)}`));
    if (request.known) console.log(`      known: ${request.known}`);
    console.log(plain(`      ${place.padEnd(24)} sandbox ${left.padEnd(40)} server ${right}`));
  }
}

async function compare(server) {
  const reference = await startReference();
  const differences = [];
  try {
    for (const request of REQUESTS) {
      const [mine, theirs] = await Promise.all([toMeaning(reference, request), toMeaning(server, request)]);
      const difference =
        differenceOf(mine, theirs) ?? (mine.failed && { place: 'failed', left: mine.failed, right: '' });
      if (difference) differences.push({ request, ...difference });
    }
  } finally {
    await reference.stop();
  }
  const known = differences.filter(({ request }) => request.known);
  const open = differences.filter(({ request }) => !request.known);
  print('Known differences (docs/sandbox.md):', known);
  print('Differences:', open);
  console.log(
    `\n${REQUESTS.length} requests: ${REQUESTS.length - differences.length} equal, ${known.length} known, ${open.length} different.`,
  );
  return open.length === 0 ? 0 : 1;
}

const [option, file] = process.argv.slice(2);
const { CUBE_URL: url, CUBE_SECRET: secret } = process.env;
if (option === '--rows' && file) {
  writeFileSync(file, rowsAsSql());
} else if (option !== undefined || !url || !secret) {
  console.error(
    'Set CUBE_URL (such as http://localhost:4000/cubejs-api) and CUBE_SECRET; docs/sandbox.md says how to start Cube.',
  );
  process.exitCode = 1;
} else {
  process.exitCode = await compare({ url: url.replace(/\/+$/, ''), secret });
}
