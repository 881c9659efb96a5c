// All middleware in its order, on one screen.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type Router } from 'express';
import type { Clock } from '../support/clock.ts';
import type { Ids } from '../support/ids.ts';
import type { Logger } from '../support/logger.ts';
import { notFound } from '../scim/index.ts';
import { createErrorHandler } from './middleware/errors.ts';
import { createRequestContext } from './middleware/request-context.ts';

export interface HttpDeps {
  logger: Logger;
  clock: Clock;
  ids: Ids;
  health: Router;
  /** SCIM routers by the path they are mounted at. */
  connections: Map<string, Router>;
}

export function createHttpApp(deps: HttpDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(deps.health);
  app.use(createRequestContext(deps));
  for (const [path, router] of deps.connections) app.use(path, router);
  app.use(() => {
    throw notFound('No such address: SCIM is served at /scim/v2 and /connections/{name}/scim/v2.');
  });
  app.use(createErrorHandler(deps));
  return app;
}

export interface Listening {
  server: Server;
  port: number;
  /** Stops accepting, lets running requests end, and cuts what is still open after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}

/** Slow clients may not hold a connection for ever. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;

export async function listen(app: Express, options: { host: string; port: number }): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    app,
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    stop: async (deadlineMs) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearTimeout(cut);
    },
  };
}
