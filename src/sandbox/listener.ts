// Starts one HTTP or HTTPS listener. A stop closes all connections at once, so that it does not wait for clients.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Certificate } from './certificate.ts';

export interface Listener {
  readonly url: string;
  stop(): Promise<void>;
}

/** Returns the host as written in a URL; a wildcard address becomes `localhost`. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Listens on `host:port` (port 0 = a free one), with TLS when a certificate is given. Rejects when the port is
 * in use.
 */
export async function listenSandbox(
  handler: RequestListener,
  host: string,
  port: number,
  certificate?: Certificate,
): Promise<Listener> {
  // Longer than the idle time of common client pools, so that no connection is closed while a client reuses it.
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
