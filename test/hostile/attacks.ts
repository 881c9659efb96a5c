// Sends attacks over raw sockets and returns the answered statuses.
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawRequest } from '../contract/hostile/attack.ts';
import { createAnswerReader } from './answer-reader.ts';

export interface Tally {
  /** Number of answers by status. */
  statuses: Record<number, number>;
  /** Connections that ended before their last answer. */
  closed: number;
  /** Answers that no request may get: 5xx other than 503 with a whole number of seconds in Retry-After. */
  faults: string[];
}

const LIMIT_MS = 30_000;

export function createTally(): Tally & { note: (status: number, head: string) => void } {
  const statuses: Record<number, number> = {};
  const faults: string[] = [];
  return {
    statuses,
    faults,
    closed: 0,
    note: (status, head) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      const isAllowed = status < 500 || (status === 503 && /\r\nretry-after: \d+\r\n/i.test(`${head}\r\n`));
      if (!isAllowed && faults.length < 10) faults.push(head);
    },
  };
}

async function connected(port: number): Promise<Socket> {
  const socket = createConnection({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
  return socket;
}

/** Returns a SCIM request as bytes; `body` is JSON text, or bytes that `headers` describe. */
export function scimRequest(
  line: string,
  token: string,
  body?: string | Buffer,
  headers: Record<string, string | number> = {},
): Buffer {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const type = body === undefined ? {} : { 'Content-Type': 'application/scim+json' };
  return rawRequest(line, { Authorization: `Bearer ${token}`, ...type, ...length, ...headers }, body);
}

/**
 * Sends each of `wires` (bytes of requests) on a connection of its own, all at once. Waits for `answersEach`
 * answers on each.
 */
export async function burst(
  port: number,
  wires: readonly Buffer[],
  { answersEach = 1, limitMs = LIMIT_MS } = {},
): Promise<Tally> {
  const tally = createTally();
  const one = async (wire: Buffer): Promise<void> => {
    const socket = await connected(port);
    if (socket.destroyed) return void tally.closed++;
    let left = answersEach;
    const done = new AbortController();
    const reader = createAnswerReader((status, head) => {
      tally.note(status, head);
      if (--left === 0) done.abort();
    });
    socket.on('data', reader).on('close', () => done.abort());
    socket.write(wire);
    await sleep(limitMs, undefined, { signal: done.signal }).catch(() => undefined);
    if (left > 0) tally.closed++;
    socket.destroy();
  };
  await Promise.all(wires.map(one));
  return tally;
}

/** Returns the same request many times, to be sent on one connection without waiting for an answer. */
export const pipeline = (port: number, wire: Buffer, times: number, limitMs = LIMIT_MS): Promise<Tally> =>
  burst(port, [Buffer.concat(Array.from({ length: times }, () => wire))], { answersEach: times, limitMs });

/** Sends each request, and disconnects after `afterMs` without reading an answer. */
export async function abandon(port: number, wires: readonly Buffer[], afterMs: number): Promise<void> {
  const sockets = await Promise.all(wires.map(() => connected(port)));
  sockets.forEach((socket, index) => socket.write(wires[index] ?? ''));
  await sleep(afterMs);
  for (const socket of sockets) socket.destroy();
}

/** Sends all bytes of a request except the last one on many connections, and keeps them open. */
export async function unfinished(
  port: number,
  wire: Buffer,
  { connections, holdMs }: { connections: number; holdMs: number },
): Promise<Tally> {
  const tally = createTally();
  const sockets = await Promise.all(Array.from({ length: connections }, () => connected(port)));
  const most = wire.subarray(0, -1);
  for (const socket of sockets) {
    socket.on('data', createAnswerReader(tally.note)).on('close', () => void tally.closed++);
    socket.write(most);
  }
  await sleep(holdMs);
  for (const socket of sockets) socket.destroy();
  return tally;
}

/** Sends `times` requests on each of many connections and reads no answer. */
export async function neverRead(
  port: number,
  wire: Buffer,
  { connections, times, holdMs }: { connections: number; times: number; holdMs: number },
): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => connected(port)));
  for (const socket of sockets) {
    socket.pause();
    socket.write(Buffer.concat(Array.from({ length: times }, () => wire)));
  }
  await sleep(holdMs);
  for (const socket of sockets) socket.destroy();
}

/** Returns JSON of about `bytes` bytes that consists of brackets: `[{},{},…]`. */
export const structure = (bytes: number): string => `[${'{},'.repeat(Math.floor(bytes / 3) - 1)}{}]`;
