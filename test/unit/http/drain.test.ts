// Tests how the HTTP server stops and how it limits connections.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listen } from '../../../src/http/server.ts';
import { eventually } from '../../support/eventually.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('a draining server answers existing and new connections with Connection: close', async () => {
  const server = await listen((_request, response) => response.end('here'), LOCAL);
  const before = connect(server.port, '127.0.0.1');
  before.write(REQUEST);
  expect(String(await once(before, 'data'))).toMatch(/Connection: keep-alive/);
  server.drain();
  for (const socket of [before, connect(server.port, '127.0.0.1')]) {
    const closed = once(socket, 'close');
    let text = '';
    socket.on('data', (data) => (text += String(data)));
    socket.write(REQUEST);
    await closed;
    expect(text).toMatch(/200 OK[^]*Connection: close[^]*here$/);
  }
  await server.stop(1000);
});

test('a request that runs when the server stops is answered, and then the connection closes', async () => {
  let arrive: (response: ServerResponse) => void;
  const underWay = new Promise<ServerResponse>((resolve) => (arrive = resolve));
  const server = await listen((_request, response) => arrive(response), LOCAL);
  const socket = connect(server.port, '127.0.0.1');
  socket.write(REQUEST);
  const response = await underWay;
  const answered = once(socket, 'data');
  const stopped = server.stop(20_000);
  response.end('late');
  expect(String(await answered)).toMatch(/late$/);
  const startedAt = Date.now();
  await stopped;
  expect(Date.now() - startedAt).toBeLessThan(5000);
});

test('a connection beyond the limit is closed at once, and the end of another connection makes room', async () => {
  const server = await listen((_request, response) => response.end('here'), {
    ...LOCAL,
    mostConnections: 2,
  });
  const answerOf = async (socket: Socket): Promise<string> => {
    socket.on('error', () => socket.destroy());
    socket.write(REQUEST);
    const [data] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as unknown[];
    return Buffer.isBuffer(data) ? String(data) : 'closed';
  };
  const open = (): Socket => connect(server.port, '127.0.0.1');
  const first = open();
  expect(await answerOf(first)).toMatch(/here$/);
  expect(await answerOf(open())).toMatch(/here$/);
  expect(await answerOf(open())).toBe('closed');
  first.destroy();
  await eventually('room for one more', async () => /here$/.test(await answerOf(open())));
  await server.stop(0);
});
