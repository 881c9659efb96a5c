// Tests that commands end when the platform does not answer: refused connections, silence, and errors for every call.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { freePort } from '../../src/demo/local-redis.ts';
import { createCommands, type Commands } from '../support/command.ts';

const servers: Server[] = [];

// Sockets of a server that never answers stay open; they do not keep the process.
afterAll(() => servers.forEach((server) => server.close()));

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return (server.address() as AddressInfo).port;
}

const PLATFORMS: Record<string, () => Promise<number>> = {
  'refuses connections': () => freePort(),
  'accepts and never answers': () =>
    listen(createServer((socket) => void socket.on('error', () => undefined).unref())),
  'answers 503 always': () =>
    listen(createHttpServer((_request, response) => void response.writeHead(503).end('{}'))),
};

const ORDERS: string[][] = [['plan'], ['reconcile', '--yes'], ['sync', 'ada@acme.example']];

// One platform shows all three commands, because each takes ten seconds.
describe.each(
  Object.entries(PLATFORMS).map(
    ([name, open], index) => [name, open, index === 0 ? ORDERS : ORDERS.slice(0, 1)] as const,
  ),
)('a platform that %s', (_name, open, orders) => {
  let commands: Commands;

  beforeAll(async () => {
    commands = createCommands({
      redis: { url: process.env.TEST_REDIS_URL, prefix: `test-${randomUUID()}` },
      connections: {
        default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests-only-0123456789' }] },
      },
      targets: {
        main: {
          url: `http://127.0.0.1:${await open()}`,
          token: 'a-key-for-tests-only-0123456789',
          allowLoopbackHttp: true,
        },
      },
      reconcile: { schedule: null },
    });
  });

  afterAll(() => commands.remove());

  test.each(orders)(
    '%s ends within 15 s and says so',
    async (...args) => {
      const startedAt = Date.now();
      const { code, text } = await commands.run(...args);
      expect(text).toContain('The platform main does not answer');
      expect(code).toBe(1);
      // A busy machine comes on top of the 10 s.
      expect(Date.now() - startedAt).toBeLessThan(15_000);
    },
    30_000,
  );
});

test('a deadline that is no time is refused', async () => {
  const commands = createCommands({
    redis: { url: process.env.TEST_REDIS_URL },
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests-only-0123456789' }] } },
    targets: {
      main: { url: 'http://127.0.0.1:1', token: 'a-key-for-tests-only-0123456789', allowLoopbackHttp: true },
    },
  });
  const { code, text } = await commands.run('plan', '--deadline', 'soon');
  commands.remove();
  expect([code, text]).toEqual([1, expect.stringContaining('--deadline is a time such as 90s, 10m or 2h.')]);
});
