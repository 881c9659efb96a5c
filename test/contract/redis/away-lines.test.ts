// Tests the log of a connection to a Redis that refuses it for several reasons in turn.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connectRedis } from '../../../src/directory/redis/connection.ts';
import { createLogger } from '../../../src/support/logger.ts';
import { eventually } from '../../support/eventually.ts';

test('when Redis alternately refuses the password and breaks the connection, each reason is logged only once', async () => {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (connections % 2 === 0) socket.resetAndDestroy();
    else socket.on('data', () => socket.end('-NOAUTH Authentication required.\r\n'.repeat(10)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const reasons: string[] = [];
  const logger = createLogger('info', {
    write: (line) => void reasons.push((JSON.parse(line) as { reason: string }).reason),
  });
  const redis = connectRedis({ url: `redis://${address}` }, 'queue', logger);
  try {
    await eventually('six attempts', () => connections >= 6, 30_000);
    const away = `Redis does not answer at ${address}`;
    // How the break is told depends on the moment at which the client notices it.
    expect(reasons).toContain(`${away}: user or password are refused`);
    expect(reasons.length).toBeGreaterThan(1);
    expect(reasons).toEqual([...new Set(reasons)]);
  } finally {
    redis.disconnect();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}, 60_000);
