// Builds the HTTP apps of the bridge and listens: `createHttpApp` mounts all routers on the main port, `createMetricsApp` those of
// the metrics port, and `listen` serves an app with limits for slow clients, until it is drained and stopped.
import { createServer, IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import {
  createServer as createPlainServer,
  type AddressInfo,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import express, { type Request, type Response, type Router } from 'express';
import type { Clock, Ids } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { errorBody, notFound, payloadTooLarge } from '../scim/index.ts';
import { createErrorHandler } from './middleware/errors.ts';
import { createRequestContext, type OnAnswered, setRequestIdHeader } from './middleware/request-context.ts';

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
 * response, which doubles the processor time of a GET on Node.js 20. Handlers use no methods that Express adds to requests and
 * responses.
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
/**
 * Longer than the 60 s for which load balancers usually keep an idle connection. Else a load balancer could send a request on a
 * connection that the bridge is closing.
 */
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

/**
 * A body with more than MANY_CHUNKS chunks is refused when they are smaller than SMALL_CHUNK_BYTES on average. A chunk takes
 * up to 20 µs of processor time, however small it is. One read of a socket can bring 11,000 chunks of one byte, which are
 * handled in one turn of the event loop.
 */
const MANY_CHUNKS = 500;
const SMALL_CHUNK_BYTES = 128;

const REFUSAL = JSON.stringify(
  errorBody(payloadTooLarge('The body comes in too many small chunks: send larger ones.')),
);
/** The complete HTTP response with REFUSAL, written to the socket directly. */
const REFUSAL_RESPONSE = [
  'HTTP/1.1 413 Payload Too Large',
  'Content-Type: application/scim+json',
  `Content-Length: ${REFUSAL.length}`,
  'Connection: close',
  '',
  REFUSAL,
].join('\r\n');

/**
 * A request that counts the chunks of its body, for the option `IncomingMessage` of `http.createServer`. The HTTP parser of
 * Node.js calls `push` for each chunk, before the chunk is buffered for a reader.
 */
class CountedRequest extends IncomingMessage {
  #chunks = 0;
  #bytes = 0;
  #response: ServerResponse | undefined;

  /**
   * Starts to count. Chunks that arrive after the answer count too, because Node.js reads and discards the rest of an unread
   * body without a limit.
   */
  limitChunks(response: ServerResponse): void {
    // Only a body with Transfer-Encoding has chunks; of another body the parser passes on what one read of the socket brings.
    if (this.headers['transfer-encoding'] === undefined) return;
    this.#response = response;
    // Node.js would discard an unread body without calling `push`, so its chunks would not be counted. This call reads nothing,
    // but the request then counts as read, so that Node.js leaves the body to `resume`, which reads it through `push`.
    this.read(0);
    response.once('finish', () => this.resume());
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const response = this.#response;
    if (chunk === null || !response) return super.push(chunk, encoding);
    if (this.destroyed) return false;
    this.#bytes += chunk.length;
    this.#chunks += 1;
    const areSmall = this.#bytes < this.#chunks * SMALL_CHUNK_BYTES;
    // After the answer nothing reads the body, so many chunks of any size are refused.
    const isRefused = this.#chunks > MANY_CHUNKS && (areSmall || response.writableEnded);
    if (!isRefused) return super.push(chunk, encoding);
    // A response without a socket waits behind that of an earlier pipelined request, so the refusal cannot be sent before it.
    if (response.socket && !response.headersSent) this.socket.write(REFUSAL_RESPONSE);
    this.destroy();
    return false;
  }
}

type Exchange = [request: IncomingMessage, response: ServerResponse];

const WAITING = Symbol('requests that wait');

interface SocketWithTurns extends Socket {
  /** Requests behind the one that is being answered; undefined while none is. */
  [WAITING]?: Exchange[] | undefined;
}

/** Largest number of waiting requests of one socket; each takes a few kilobytes. */
const MOST_WAITING = 1000;

/**
 * Returns a listener that starts a request of a socket only when the answer to the request before it has ended, so that pipelined
 * changes of one user are applied in their order. The socket is not read while requests wait.
 */
function onePerSocket(app: RequestListener): RequestListener {
  function start([request, response]: Exchange, waiting: Exchange[]): void {
    response.on('close', () => {
      const next = waiting.shift();
      const { socket } = request;
      if (!next) (socket as SocketWithTurns)[WAITING] = undefined;
      else if (!socket.destroyed) {
        if (waiting.length === 0) socket.resume();
        start(next, waiting);
      }
    });
    app(request, response);
  }

  return (request, response) => {
    const socket = request.socket as SocketWithTurns;
    const waiting = socket[WAITING];
    if (!waiting) {
      socket[WAITING] = [];
      start([request, response], socket[WAITING]);
      return;
    }
    waiting.push([request, response]);
    if (waiting.length > MOST_WAITING) socket.destroy();
    else socket.pause();
  };
}
