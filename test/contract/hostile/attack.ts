// Sends raw requests that no HTTP library sends, and checks that the server still answers other clients.
import { createConnection, type Socket } from 'node:net';
import { toAnswer, type Answer, type Client, type Json } from '../scim-conformance/client.ts';

/** Own property names of all prototypes that a pollution could change, read before any attack. */
const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
const names = (prototype: object): string => Object.getOwnPropertyNames(prototype).sort().join();
const CLEAN = PROTOTYPES.map(names);

/** Fails when a prototype was changed, or when an ordinary request is not answered within ten seconds. */
export async function expectUnharmed(scim: Client): Promise<void> {
  expect(PROTOTYPES.map(names)).toEqual(CLEAN);
  expect(({} as Json).polluted).toBeUndefined();
  const startedAt = Date.now();
  const answer = await scim.get('/Users?count=1');
  expect(answer.status).toBe(200);
  expect(Date.now() - startedAt).toBeLessThan(10_000);
}

export interface Raw {
  socket: Socket;
  write(data: string | Buffer): void;
  /** Resolves with the received text when `until` returns true, the peer closes, or the time is over. */
  read(until: (text: string) => boolean, limitMs?: number): Promise<string>;
  close(): void;
}

/** A TCP socket that sends any bytes. */
export async function openRaw(port: number): Promise<Raw> {
  const socket = createConnection({ host: '127.0.0.1', port, noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  let closed = false;
  const wake = new Set<() => void>();
  const notify = (): void => [...wake].forEach((each) => each());
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1');
    notify();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
    notify();
  });
  return {
    socket,
    write: (data) => void socket.write(data),
    read: (until, limitMs = 5000) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          wake.delete(check);
          resolve(received);
        };
        const check = (): void => {
          if (closed || until(received)) done();
        };
        const timer = setTimeout(done, limitMs);
        wake.add(check);
        check();
      }),
    close: () => socket.destroy(),
  };
}

/** Splits the received text into answers by Content-Length. Answers to HEAD must not be among them. */
export function parseAnswers(wire: string): Answer[] {
  const answers: Answer[] = [];
  let rest = Buffer.from(wire, 'latin1');
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers['content-length'] ?? 0);
    const text = rest.subarray(end + 4, end + 4 + length).toString('utf8');
    rest = rest.subarray(end + 4 + length);
    answers.push(toAnswer(statusLine, Number(statusLine.split(' ')[1]), headers, text));
  }
}

/** Number of complete answers on the wire. */
export const answersIn = (wire: string): number => {
  try {
    return parseAnswers(wire).length;
  } catch {
    return 0; // The body is not complete yet.
  }
};

/** Sends bytes on a new socket and returns the answers. */
export async function exchange(
  port: number,
  data: string | Buffer,
  count = 1,
  limitMs = 5000,
): Promise<Answer[]> {
  const raw = await openRaw(port);
  raw.write(data);
  const wire = await raw.read((text) => answersIn(text) >= count, limitMs);
  raw.close();
  return parseAnswers(wire);
}

/** Formats a request as text. */
export const rawRequest = (
  line: string,
  headers: Record<string, string | number>,
  body: string | Buffer = '',
): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${line} HTTP/1.1\r\n${Object.entries({ Host: 'localhost', ...headers })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
      'latin1',
    ),
    Buffer.from(body),
  ]);
