// Replays the recorded requests against a Cube server (CUBE_URL, CUBE_SECRET) and against the sandbox, and prints
// a table of differences (`npm run test:cube`). `--rows FILE` writes the rows for the Cube server, `--record FILE` its
// answers; `--recorded FILE` compares the sandbox with them, without a server; `--subject NAME,NAME` asks a part only.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDice } from '../../dist/sandbox/core-data/sampling.js';
import { SALES_MODEL } from '../../dist/sandbox/core-data/sales-model.js';
import { startSandbox } from '../../dist/sandbox/server.js';
import { ask } from './ask.mjs';
import { differenceOf, digested, meaningOf } from './meaning.mjs';
import { REQUESTS } from './requests.mjs';

/** Moment of the sample rows; both servers have the rows of this moment and the present time. */
const ROWS_AT = Date.parse('2026-11-23T01:25:00Z');
const TYPES = { TIMESTAMP: 'TIMESTAMP', VARCHAR: 'TEXT' };

function rowsAsSql() {
  const tables = SALES_MODEL.sample({
    // Id, name and branch of the seed's first deployment, whose rows the sandbox draws by them.
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

const failed = (error) => ({ failed: String(error.cause?.code ?? error.message) });
const toMeaning = (server, request, nowMs) =>
  ask(server, request, nowMs).then((answer) => meaningOf(request, answer), failed);

/** Starts a sandbox whose rows are those of ROWS_AT and whose clock shows the time that `setNow` names. */
async function startReference() {
  let nowMs = ROWS_AT;
  const clock = { now: () => nowMs, sleep: (ms) => sleep(ms) };
  const sandbox = await startSandbox({ clock });
  const [{ apiSecret }] = sandbox.ready.fixtures.deployments;
  return {
    ...{ url: sandbox.ready.dataApiUrl, secret: apiSecret, stop: () => sandbox.stop() },
    setNow: (ms) => (nowMs = ms),
  };
}

const digestOf = (request) =>
  createHash('sha256').update(JSON.stringify(request)).digest('base64url').slice(0, 16);

/** Asks a server all requests and writes the meaning of its answers with their time, one line each. */
async function record(server, path) {
  const lines = [];
  for (const request of REQUESTS) {
    const at = Date.now();
    const answer = await toMeaning(server, request, at);
    if (answer.failed) throw new Error(`${request.id}: ${answer.failed}`);
    lines.push(
      `${JSON.stringify({ id: request.id, digest: digestOf(request), at, answer: digested(answer) })}\n`,
    );
  }
  writeFileSync(path, lines.join(''));
}

/** @returns a function that gives the recorded answer to a request, with its time */
function readRecords(path) {
  const lines = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const byDigest = new Map(lines.map(({ digest, at, answer }) => [digest, { at, answer }]));
  return (request) => {
    const found = byDigest.get(digestOf(request));
    if (!found) throw new Error(`${request.id} is not recorded; record the answers again`);
    return found;
  };
}

// Control characters of an answer must not reach the terminal.
const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');

function textOf({ method, path, body }) {
  const query = body === undefined ? '' : ` ${JSON.stringify(body.query ?? body)}`;
  return `${method} ${decodeURIComponent(path)}${query}`.slice(0, 180);
}

function print(title, differences) {
  if (differences.length === 0) return;
  console.log(`\n${title}\n`);
  for (const { request, place, left, right } of differences) {
    console.log(plain(`${request.id.padEnd(14)}${textOf(request)}`));
    if (request.known) console.log(`      known: ${request.known}`);
    console.log(plain(`      ${place.padEnd(24)} sandbox ${left.padEnd(40)} server ${right}`));
  }
}

/**
 * Compares the sandbox with another server.
 * @param answerOf returns the time and the answer of the other server to a request
 * @param options.shown applied to the answers of the sandbox, so that they have the form of the other ones
 * @returns the exit code
 */
async function compare(answerOf, { shown = (meaning) => meaning, requests = REQUESTS } = {}) {
  const reference = await startReference();
  const differences = [];
  try {
    for (const request of requests) {
      const { at, answer } = await answerOf(request);
      reference.setNow(at);
      const mine = shown(await toMeaning(reference, request, at));
      const difference =
        differenceOf(mine, await answer) ??
        (mine.failed && { place: 'failed', left: mine.failed, right: '' });
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
    `\n${requests.length} requests: ${requests.length - differences.length} equal, ${known.length} known, ${open.length} different.`,
  );
  return open.length === 0 ? 0 : 1;
}

const [option, file] = process.argv.slice(2);
const { CUBE_URL, CUBE_SECRET: secret } = process.env;
const server = CUBE_URL && secret ? { url: CUBE_URL.replace(/\/+$/, ''), secret } : undefined;
const askServer = (request) => {
  const at = Date.now();
  return { at, answer: toMeaning(server, request, at) };
};
if (option === '--rows' && file) {
  writeFileSync(file, rowsAsSql());
} else if (option === '--recorded' && file) {
  process.exitCode = await compare(readRecords(file), { shown: digested });
} else if (option === '--record' && file && server) {
  await record(server, file);
} else if (option === '--subject' && file && server) {
  const subjects = file.split(',');
  const requests = REQUESTS.filter(({ id }) => subjects.includes(id.split('.')[0]));
  process.exitCode = await compare(askServer, { requests });
} else if (option === undefined && server) {
  process.exitCode = await compare(askServer);
} else {
  console.error(
    'Set CUBE_URL (such as http://localhost:4000/cubejs-api) and CUBE_SECRET; docs/sandbox.md says how to start Cube.',
  );
  process.exitCode = 1;
}
