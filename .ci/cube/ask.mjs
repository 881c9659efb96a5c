// Sends a recorded request to a Core Data server, with a token of its own context.
import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { EVERYTHING } from './requests/forms.mjs';

/* global fetch, AbortSignal, URL */

/** Longest wait for one answer, number of repetitions of a request, and largest answer. */
const TIMEOUT_MS = 30_000;
const WAITS = 60;
const MOST_BYTES = 8 * 1024 * 1024;
/** Headers that are compared. */
const HEADERS = [
  'access-control-allow-origin',
  'access-control-allow-methods',
  'access-control-allow-headers',
];

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @returns a token with the context of the request; numbers in `claims` are seconds from `nowMs` */
function tokenOf({ context = EVERYTHING, claims = {}, algorithm = 'HS256', key }, secret, nowMs) {
  const now = Math.floor(nowMs / 1000);
  const given = Object.entries(claims).map(([name, value]) => [
    name,
    typeof value === 'number' ? now + value : value,
  ]);
  const payload = { ...context, iat: now, exp: now + 3600, ...Object.fromEntries(given) };
  const text = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(payload)}`;
  if (algorithm === 'none') return `${text}.`;
  return `${text}.${createHmac(algorithm.replace('HS', 'sha'), key ?? secret)
    .update(text)
    .digest('base64url')}`;
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

/** The token is sent as `tokenHeader: prefix token`; `authorization` replaces both, and '' sends none. */
function headersOf(request, server, nowMs) {
  const { authorization, prefix = '', tokenHeader = 'authorization', body, headers = {} } = request;
  const token = authorization ?? `${prefix}${tokenOf(request, server.secret, nowMs)}`;
  return {
    ...(token === '' ? {} : { [tokenHeader]: token }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
}

/**
 * Sends one request and repeats it while the server answers `Continue wait`. `raw`: the body as text; `atRoot`: the path is
 * not below the base path of the data API.
 */
export async function ask(server, request, nowMs = Date.now()) {
  const { method, path, body, raw } = request;
  for (let turn = 0; turn < WAITS; turn += 1) {
    const response = await fetch(`${request.atRoot ? new URL(server.url).origin : server.url}${path}`, {
      method,
      headers: headersOf(request, server, nowMs),
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const headers = Object.fromEntries(HEADERS.map((name) => [name, response.headers.get(name)]));
    const answer = { status: response.status, headers, body: await readBody(response) };
    if (answer.body.error !== 'Continue wait') return answer;
    await sleep(100);
  }
  throw new Error('Continue wait without an end');
}
