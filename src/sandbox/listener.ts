// One HTTP listener: started on a free or given port, stopped without waiting for clients that hang on.
import { createServer, type RequestListener } from 'node:http';

export interface Listener {
  readonly url: string;
  stop(): Promise<void>;
}

/** Listens on `host:port` (port 0 = a free one); rejects when the port is taken. */
export async function listen(handler: RequestListener, host: string, port: number): Promise<Listener> {
  // Longer than the idle time of usual client pools: a reused connection must not meet a closing server.
  const server = createServer({ keepAliveTimeout: 120_000 }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shown}:${typeof address === 'object' && address ? address.port : port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
