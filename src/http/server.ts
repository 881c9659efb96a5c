// All middleware in its order, on one screen.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import type { Clock } from '../support/clock.ts';
import type { Ids } from '../support/ids.ts';
import type { Logger } from '../support/logger.ts';
import { notFound } from '../scim/index.ts';
import { onePerSocket } from './admission/one-per-socket.ts';
import { createErrorHandler } from './middleware/errors.ts';
import { createRequestContext, tellRequestId, type OnAnswered } from './middleware/request-context.ts';

export interface HttpDeps {
  logger: Logger;
  clock: Clock;
  ids: Ids;
  health: Router;
  /** SCIM routers by the path they are mounted at. */
  connections: Map<string, Router>;
  /** Where receivers of security events come, by mount path. */
  events?: Map<string, Router>;
  /** What operators see below /admin; undefined = off. */
  admin?: Router | undefined;
  /** Who wants to know what became of the requests below such a path; `''`: of those that fit none. */
  observe?: (root: string) => OnAnswered;
  /** Where metrics are served here and not on a port of their own. */
  metrics?: Router | undefined;
}

/**
 * Express' router without an Express application around it: what the application adds to every request and response
 * (prototypes, settings) is not used here and costs a tenth of a request.
 */
export function createHttpApp(deps: HttpDeps): RequestListener {
  const router = express.Router({ caseSensitive: true });
  const fail = createErrorHandler(deps);
  const mounts = [...deps.connections].map(([path, scim]): Mount => {
    const context = createRequestContext(deps, deps.observe?.(path), path);
    // One layer for both: matching a path costs more than either.
    return {
      path,
      serve: (request, response, next) => context(request, response, () => scim(request, response, next)),
    };
  });
  for (const { path, serve } of mounts) router.use(path, serve);
  // Not logged: probes come every few seconds.
  router.use(deps.health);
  if (deps.metrics) router.use(deps.metrics);
  const context = [createRequestContext(deps, deps.observe?.('')), tellRequestId];
  const nothing = (): never => {
    throw notFound('No such address: SCIM is served at /scim/v2 and /connections/{name}/scim/v2.');
  };
  for (const [path, events] of deps.events ?? []) {
    router.use(path, [createRequestContext(deps, deps.observe?.(''), path), tellRequestId], events, nothing);
  }
  if (deps.admin) router.use('/admin', context, deps.admin, nothing);
  router.use(context, nothing);
  router.use(fail);
  return (request, response) => {
    const mount = mounts.find(({ path }) => isBelow(request.url, path));
    if (mount) enter(mount, request as Request, response as Response, fail);
    else router(request as Request, response as Response, () => response.destroy());
  };
}

interface Mount {
  path: string;
  serve: RequestHandler;
}

const isBelow = (url: string | undefined, path: string): boolean =>
  url?.startsWith(path) === true && url[path.length] === '/';

/** What the router does with a path that it is used at, for plain addresses: finding out that they are costs it more. */
function enter(
  { path, serve }: Mount,
  request: Request,
  response: Response,
  fail: ErrorRequestHandler,
): void {
  request.originalUrl = request.url;
  request.baseUrl = path;
  request.url = request.url.slice(path.length);
  void serve(request, response, (error: unknown) => {
    void fail(error ?? notFound('No such address.'), request, response, () => response.destroy());
  });
}

/** Metrics on a port of their own, out of reach of identity providers. */
export function createMetricsApp(metrics: Router): RequestListener {
  const router = express.Router();
  router.use(metrics);
  return (request, response) => {
    router(request as Request, response as Response, () => response.writeHead(404).end());
  };
}

export interface Listening {
  server: Server;
  port: number;
  /** Goes on answering, and asks each client to come back on a new connection, which may lead to another process. */
  drain(): void;
  /** Stops accepting, lets running requests end, and cuts what is still open after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}

/** Slow clients may not hold a connection for ever: a request that is not complete in time is answered 408 and cut off. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUT_CHECK_MS = 2000;
const KEEP_ALIVE_MS = 65_000;
const IDLE_LOOK_MS = 100;

export async function listen(
  app: RequestListener,
  options: { host: string; port: number },
): Promise<Listening> {
  let draining = false;
  const inTurn = onePerSocket(app);
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      if (draining) response.setHeader('Connection', 'close');
      inTurn(request, response);
    },
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
    drain: () => void (draining = true),
    stop: async (deadlineMs) => {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Whatever ends from now on leaves an idle connection behind.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}
