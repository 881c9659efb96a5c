// Tests streamed answers over real sockets: order, backpressure, disconnects and failures.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import { request } from 'undici';
import type { Loss } from '../../../src/sandbox/faults.ts';
import { sendStream, type Lines } from '../../../src/sandbox/stream.ts';
import { eventually } from '../../support/eventually.ts';

let server: Server | undefined;

async function serve(lines: () => Lines, loss?: Loss): Promise<string> {
  server = createServer((incoming, outgoing) => {
    const reply = { status: 200, headers: { 'Content-Type': 'text/plain' }, lines: lines() };
    sendStream(incoming as Request, outgoing as unknown as Response, reply, loss).catch(() => {
      outgoing.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

test('streamed lines of sync and async iterables arrive in order', async () => {
  const url = await serve(() => ['a\n', 'b\n']);
  expect(await (await request(url)).body.text()).toBe('a\nb\n');
  server?.closeAllConnections();
  server?.close();
  const other = await serve(async function* () {
    yield 'c\n';
    await Promise.resolve();
    yield 'd\n';
  });
  expect(await (await request(other)).body.text()).toBe('c\nd\n');
});

test('the source of a stream is read no faster than the client reads, and is closed when the client disconnects', async () => {
  let made = 0;
  let isReturned = false;
  const url = await serve(function* () {
    try {
      for (; made < 1_000_000; made += 1) yield 'x'.repeat(1024);
    } finally {
      isReturned = true;
    }
  });
  const { body } = await request(url);
  // A client that reads nothing: only as much is produced as the sockets buffer.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const before = made;
  expect(before).toBeLessThan(50_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(made).toBe(before);
  body.on('error', () => undefined);
  body.destroy();
  await eventually('the source is returned', () => isReturned);
});

test('a client that disconnects while the next line is pending closes the source of the stream', async () => {
  let isReturned = false;
  const source: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => {
      let turn = 0;
      return {
        next: () => {
          turn += 1;
          return turn === 1
            ? Promise.resolve({ done: false, value: 'first\n' })
            : new Promise<IteratorResult<string>>(() => undefined);
        },
        return: () => {
          isReturned = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      };
    },
  };
  const { body } = await request(await serve(() => source));
  body.on('error', () => undefined);
  body.once('data', () => body.destroy());
  await eventually('the source is returned', () => isReturned);
});

test('a stream that fails before its first line answers 500, and one that fails later closes the connection', async () => {
  const early = await serve(function* () {
    if (Date.now() > 0) throw new Error('early');
    yield '';
  });
  expect((await request(early)).statusCode).toBe(500);
  server?.closeAllConnections();
  server?.close();
  const late = await serve(function* () {
    yield 'a\n';
    throw new Error('late');
  });
  const { statusCode, body } = await request(late);
  expect(statusCode).toBe(200);
  await expect(body.text()).rejects.toThrow();
});

test.each([
  ['short', 'first\n'],
  ['of a megabyte', `${'x'.repeat(1024 * 1024)}\n`],
])(
  'the fault `drop` interrupts a stream → the client gets the whole first line, %s, and nothing more',
  async (_length, first) => {
    const url = await serve(() => [first, 'second\n'], { kind: 'drop' });
    for (let turn = 0; turn < 20; turn += 1) {
      let text = '';
      const read = async () => {
        for await (const piece of (await request(url)).body) text += String(piece);
      };
      await expect(read()).rejects.toThrow();
      expect(text === first).toBe(true);
    }
  },
);

test('the fault `drop` interrupts a stream without lines → the client gets no complete answer', async () => {
  const url = await serve(() => [], { kind: 'drop' });
  await expect(request(url).then(({ body }) => body.text())).rejects.toThrow();
});
