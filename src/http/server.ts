// Builds the HTTP apps of the bridge and listens: `createHttpApp` mounts all routers on the main port, `createMetricsApp` those of
// the metrics port, and `listen` serves an app with limits for slow clients, until it is drained and stopped.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createPlainServer, type AddressInfo, type Server as NetServer } from 'node:net';
import express, { type Request, type Response, type Router } from 'express';
import type { Clock, Ids } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { notFound } from '../scim/index.ts';
import { CountedRequest } from './counted-request.ts';
import { createErrorHandler } from './middleware/errors.ts';
import { createRequestContext, type OnAnswered, setRequestIdHeader } from './middleware/request-context.ts';
import { onePerSocket } from './one-per-socket.ts';

interface HttpDeps {
  logger: Logger;
  clock: Clock;
  ids: Ids;
  /** Router of the health endpoints; undefined when they have a port of their own. */
  health?: Router | undefined;
  /** SCIM routers by mount path. */
  scim: Map<string, Router>;
  /** Routers for receivers of security events, by mount path. */
  events?: Map<string, Router>;
  /** Router of /admin; undefined: the admin API is off. */
  admin?: Router | undefined;
  /** Creates the observer of the requests under a mount path; `''` stands for all other requests. */
  observe?: (root: string) => OnAnswered;
  /** Router of metrics; undefined when metrics have a port of their own. */
  metrics?: Router | undefined;
}

/** Returns the request listener of the main port. */
export function createHttpApp(deps: HttpDeps): RequestListener {
  const app = express.Router({ caseSensitive: true });
  // `root`: mount path whose metrics count the request, '' if none; `path`: mount path with which the route in the log begins.
  const contextOf = (root: string, path?: string) => createRequestContext(deps, deps.observe?.(root), path);
  const context = [contextOf(''), setRequestIdHeader];
  const refuseUnknownPath = (): never => {
    throw notFound('No such address: SCIM is served at /scim/v2 and /connections/{name}/scim/v2.');
  };
  for (const [path, router] of deps.scim) app.use(path, contextOf(path, path), router);
  // Mounted without request log, because probes come every few seconds.
  if (deps.health) app.use(deps.health);
  if (deps.metrics) app.use(deps.metrics);
  for (const [path, events] of deps.events ?? []) {
    app.use(path, contextOf('', path), setRequestIdHeader, events, refuseUnknownPath);
  }
  if (deps.admin) app.use('/admin', context, deps.admin, refuseUnknownPath);
  app.use(context, refuseUnknownPath);
  app.use(createErrorHandler(deps));
  return listenerOf(app);
}

/** Creates the app of the metrics port, which identity providers cannot reach. */
export function createMetricsApp(metrics: Router): RequestListener {
  return listenerOf(express.Router().use(metrics));
}

/**
 * Returns a request listener for an Express router, without `express()`. `express()` sets the prototype of every request and
 * response, which doubles the processor time of a GET on Node.js 20. The bridge does not use the methods of Express there.
 */
const listenerOf =
  (router: Router): RequestListener =>
  (request, response) =>
    router(request as Request, response as Response, () => response.writeHead(404).end());

interface Listening {
  port: number;
  /** From now on answers with `Connection: close`, so that clients reconnect, possibly to another process. */
  drain(): void;
  /** Stops accepting connections, waits for running requests, and closes the rest after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}

/** Limits for slow clients: an incomplete request is answered 408 and its connection closed. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Pause between two checks of these limits. */
const TIMEOUT_CHECK_MS = 2000;
/** Longer than the 60 s that load balancers usually keep an idle connection. */
const KEEP_ALIVE_MS = 65_000;
/** Pause between two searches for idle connections during the shutdown. */
const IDLE_CHECK_MS = 100;
/** Largest number of open connections; a further one is closed. A connection with incomplete headers takes about 12 kB. */
const MOST_CONNECTIONS = 15_000;

/** Starts the server. Resolves when it accepts connections. @throws the error of Node.js, such as EADDRINUSE */
export async function listen(
  app: RequestListener,
  options: { host: string; port: number; mostConnections?: number },
): Promise<Listening> {
  let draining = false;
  const answerInOrder = onePerSocket(app);
  const server = createServer(
    {
      IncomingMessage: CountedRequest,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      if (draining) response.setHeader('Connection', 'close');
      request.limitChunks(response);
      answerInOrder(request, response);
    },
  );
  server.maxConnections = options.mostConnections ?? MOST_CONNECTIONS;
  await open(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => {
      draining = true;
    },
    stop: async (deadlineMs) => {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A request that ends during the shutdown leaves an idle connection, which is closed here.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}

/** Opens a port. @throws an error with the code EADDRINUSE when another process has it */
const open = (server: NetServer, options: { host: string; port: number }): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    // '::' would fail on a machine without IPv6. Without a host, Node.js listens on IPv6 and IPv4, or on IPv4 alone there.
    const host = options.host === '::' ? undefined : options.host;
    server.listen({ port: options.port, host }, () => {
      server.off('error', reject);
      resolve();
    });
  });

/**
 * Opens and closes each port (null: none). If a port is taken, the start fails here, before the worker writes to a platform.
 * @throws as `open`
 */
export async function requireFreePorts(host: string, ports: readonly (number | null)[]): Promise<void> {
  for (const port of ports) {
    if (port === null) continue;
    const server = createPlainServer((socket) => socket.destroy());
    await open(server, { host, port });
    await new Promise((resolve) => server.close(resolve));
  }
}
