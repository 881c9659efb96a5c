// Tests the words about a receiver that gives no answer.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { postText } from '../../../src/support/post.ts';

const sockets = new Set<Socket>();
let server: Server;
beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  sockets.forEach((socket) => socket.destroy());
  server.close();
});

test('a text is posted by https to a receiver that takes plain HTTP only → the reason names the missing TLS, and no certificate', async () => {
  const { port } = server.address() as AddressInfo;
  const request = {
    address: `https://127.0.0.1:${port}/`,
    headers: {},
    body: '',
    timeoutMs: 5000,
    maxBytes: 100,
  };
  const answer = await postText(request, new AbortController().signal);
  expect(answer).toBe(
    'gave no answer: no TLS connection is possible, perhaps because it takes plain HTTP only',
  );
});
