// Runs a proxy whose connections can be cut without notice, as by a network failure.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Starts a proxy on loopback. @param target address to which its connections go */
export async function startCuttingProxy(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = createServer((client) => {
    accepted += 1;
    const upstream = connect(Number(port), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Destroys all open connections; new ones are accepted. */
    cut,
    /** Number of connections since the start. */
    accepted: () => accepted,
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
