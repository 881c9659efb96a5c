// One HTTP or HTTPS listener: started on a free or given port, stopped without waiting for clients that hang on.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Certificate } from './certificate.ts';

export interface Listener {
  readonly url: string;
  stop(): Promise<void>;
}

/** How a client writes the host in a URL; a wildcard is reached as this machine. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Listens on `host:port` (port 0 = a free one), with TLS when a certificate is given; rejects when the port is taken. */
export async function listen(
  handler: RequestListener,
  host: string,
  port: number,
  certificate?: Certificate,
): Promise<Listener> {
  // Longer than the idle time of usual client pools: a reused connection must not meet a closing server.
  const options = { keepAliveTimeout: 120_000 };
  const server = certificate
    ? createTlsServer({ ...options, ...certificate }, handler)
    : createServer(options, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const shownPort = typeof address === 'object' && address ? address.port : port;
  return {
    url: `${certificate ? 'https' : 'http'}://${shownHost(host)}:${shownPort}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
