// Generates load: a fixed number of sockets, each with one request in progress. It parses only the parts of an
// answer that a measurement needs, so that the client costs little.
import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/**
 * @typedef {object} Call
 * @property {string} method
 * @property {string} path
 * @property {string} [body]
 *
 * @typedef {object} Result
 * @property {number} requests answered within the time
 * @property {number} seconds
 * @property {number} failed answers with a status of 400 or more
 * @property {string} [firstFailure]
 * @property {Float64Array} latencies milliseconds, ascending
 */

const HEAD_END = Buffer.from('\r\n\r\n');

/** Returns the request as sent. @param {string[]} headers header lines of every request */
function toWire({ method, path, body }, headers) {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return `${[`${method} ${path} HTTP/1.1`, ...headers, ...length].join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Parses consecutive HTTP answers. `onAnswer(status, head)` is called at the last byte of each. */
function createReader(onAnswer) {
  /** Bytes of an incomplete head. */
  let held = Buffer.alloc(0);
  /** Bytes of the body that have not arrived yet. */
  let missing = 0;
  let status = 0;
  let head = '';
  return (chunk) => {
    if (missing > 0) {
      missing -= chunk.length;
      if (missing === 0) onAnswer(status, head);
      return;
    }
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const end = held.indexOf(HEAD_END);
    if (end < 0) return;
    head = held.latin1Slice(0, end);
    status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    missing = length - (held.length - end - HEAD_END.length);
    held = Buffer.alloc(0);
    if (missing === 0) onAnswer(status, head);
  };
}

/**
 * Sends calls for `seconds`. `next` returns each call just before it is sent; `onAnswer` receives the status and head of
 * its answer. Rejects when a socket fails or an answer takes longer than ten seconds.
 * @param {{ port: number, headers: string[], connections: number, seconds: number, next: () => Call,
 *           onAnswer?: (status: number, head: string) => void }} options
 * @returns {Promise<Result>}
 */
export async function runLoad({ port, headers, connections, seconds, next, onAnswer }) {
  const common = [`Host: 127.0.0.1:${port}`, ...headers];
  const latencies = [];
  let failed = 0;
  let firstFailure;
  const begun = performance.now();
  const deadline = begun + seconds * 1000;

  /** Opens a socket and sends one call after the other. */
  const runSocket = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let sentAt = 0;
      const send = () => {
        const wire = toWire(next(), common);
        sentAt = performance.now();
        socket.write(wire);
      };
      const read = createReader((status, head) => {
        const now = performance.now();
        latencies.push(now - sentAt);
        if (status >= 400) {
          failed++;
          firstFailure ??= head;
        }
        onAnswer?.(status, head);
        if (now < deadline) send();
        else socket.end(resolve);
      });
      socket.on('connect', send);
      socket.on('data', read);
      socket.on('error', reject);
      socket.setTimeout(10_000, () => socket.destroy(new Error(`no answer from port ${port} for 10 s`)));
    });

  await Promise.all(Array.from({ length: connections }, runSocket));
  const spent = (performance.now() - begun) / 1000;
  const sorted = Float64Array.from(latencies).sort();
  return { requests: sorted.length, seconds: spent, failed, firstFailure, latencies: sorted };
}

/** Returns the value below which `share` of the ascending values lie. */
export function quantile(values, share) {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
}

export const median = (values) => quantile(Float64Array.from(values).sort(), 0.5);
