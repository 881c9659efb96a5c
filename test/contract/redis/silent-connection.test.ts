// Tests a Redis connection that stays open and never answers.
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { buildBridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedisServer } from '../../support/redis-servers.ts';

const ANSWER_LIMIT_MS = 5000;

/** Forwards to `port`; `silence` keeps the open connections and drops their data. */
async function startProxy(port: number) {
  const pairs: [client: Socket, server: Socket][] = [];
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    pairs.push([client, server]);
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    /** Commands still reach Redis; replies are lost. */
    silence: () => {
      for (const [client, server] of pairs) server.unpipe(client).resume();
    },
    stop: () => {
      for (const sockets of pairs) for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

test('when Redis replies are lost on an open connection, pushes answer 503 in time and are stored once, and later pushes answer 201', async () => {
  const redis = await startRedisServer(['maxmemory-policy noeviction']);
  const proxy = await startProxy(redis.port);
  const bridge = await buildBridge({
    configure: (config) => (config.redis.url = `redis://127.0.0.1:${proxy.port}`),
  });
  await bridge.idp.createUser('before@acme.example');
  proxy.silence();
  const began = Date.now();
  const lost = await Promise.all(
    ['a', 'b', 'c'].map((name) => bridge.idp.send('POST', '/Users', { userName: `${name}@acme.example` })),
  );
  expect(Date.now() - began).toBeLessThan(ANSWER_LIMIT_MS + 2000);
  expect(lost.map(({ status }) => status)).toEqual([503, 503, 503]);
  await eventually('a new connection serves', async () => {
    const { status, body } = await bridge.idp.send('GET', '/Users');
    return status === 200 && body.totalResults === 4;
  });
  expect((await bridge.idp.send('POST', '/Users', { userName: 'd@acme.example' })).status).toBe(201);
  await bridge.stop();
  proxy.stop();
  await redis.stop();
}, 60_000);
