// Tests a sentinel that reports another primary while a connection asks where to connect.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connectRedis, type ConnectionRole } from '../../../src/directory/redis/connection.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../../support/redis-servers.ts';

const CHANNEL = '+switch-master';
const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;

/** Starts a sentinel that names `port` as the primary and delays this answer on request. */
async function startFakeSentinel(port: number) {
  const sockets = new Set<Socket>();
  const subscribers = new Set<Socket>();
  let isHolding = false;
  const held: (() => void)[] = [];
  const answer = (socket: Socket, command: string): void => {
    if (command === 'subscribe') {
      subscribers.add(socket);
      socket.write(`>3\r\n${bulk('subscribe')}${bulk(CHANNEL)}:1\r\n`);
    } else if (command === 'sentinel') {
      const reply = (): void => void socket.write(`*2\r\n${bulk('127.0.0.1')}${bulk(String(port))}`);
      if (isHolding) held.push(reply);
      else reply();
    } else socket.write('+OK\r\n');
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => subscribers.delete(socket));
    socket.on('data', (data) => {
      for (const [, command = ''] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n([^\r]*)\r\n/g))
        answer(socket, command.toLowerCase());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis+sentinel://127.0.0.1:${(server.address() as AddressInfo).port}/main`,
    subscribers,
    held,
    hold: () => (isHolding = true),
    announce: () => {
      for (const socket of subscribers)
        socket.write(`>3\r\n${bulk('message')}${bulk(CHANNEL)}${bulk('main 127.0.0.1 1 127.0.0.1 2')}`);
    },
    release: () => {
      isHolding = false;
      for (const reply of held.splice(0)) reply();
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

let server: RedisServer;
beforeAll(async () => void (server = await startRedisServer(['maxmemory-policy noeviction'])));
afterAll(() => server.stop());

test.each<ConnectionRole>(['commands', 'queue', 'subscriber'])(
  'a %s connection whose reconnect a sentinel interrupts becomes ready again, and after disconnect stays closed',
  async (role) => {
    const sentinel = await startFakeSentinel(server.port);
    const redis = connectRedis({ url: sentinel.url }, role, silentLogger);
    await eventually(
      'connected and subscribed',
      () => redis.status === 'ready' && sentinel.subscribers.size > 0,
    );
    sentinel.hold();
    await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually('the connection asks where to connect', () => sentinel.held.length > 0);
    sentinel.announce();
    await eventually('the subscription has ended', () => sentinel.subscribers.size === 0);
    sentinel.release();
    await eventually('Redis answers again', async () => (await redis.ping()) === 'PONG', 5000);
    redis.disconnect();
    await eventually('the connection is closed', () => redis.status === 'end');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(redis.status).toBe('end');
    sentinel.stop();
  },
  20_000,
);
