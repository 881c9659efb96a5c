// Serves the metrics endpoint for Prometheus.
import type { BlockList } from 'node:net';
import express, { type RequestHandler, type Router } from 'express';
import type { AdminCheck } from './admin/authenticate.ts';
import { createProblemHandler, Problem } from './admin/problem.ts';
import { createClientAddress, isWithin, toNetworks } from './middleware/client-address.ts';

const METRICS = '/metrics';

/** Returns the router of /metrics. @param scrape returns the metrics as UTF-8 text; its error becomes a 500 */
export function createMetricsRouter(contentType: string, scrape: () => Promise<Buffer>): Router {
  const router = express.Router();
  router.get(METRICS, async (_request, response) => {
    const text = await scrape();
    response.writeHead(200, { 'Content-Type': contentType }).end(text);
  });
  return router;
}

/** Networks without clients from the internet: this machine, link-local, RFC 1918, RFC 6598, and the same for IPv6. */
const PRIVATE_NETWORKS = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

/**
 * Returns a router that protects /metrics on the port that identity providers reach, because metrics name targets and
 * tokens. A client with a public address, or behind a proxy, needs the admin token.
 * @param checkAdmin undefined: no admin token is set, and clients that need it get 403
 */
export function protectMetrics(
  metrics: Router,
  deps: Parameters<typeof createProblemHandler>[0],
  checkAdmin: AdminCheck | undefined,
): Router {
  // `toNetworks` returns undefined for an empty list only.
  const networks = toNetworks(PRIVATE_NETWORKS) as BlockList;
  // Without trusted proxies the client address is that of the peer.
  const peerOf = createClientAddress([]);
  const check: RequestHandler = (request, _response, next) => {
    const { 'x-forwarded-for': forwardedFor, forwarded } = request.headers;
    const isProxied = forwardedFor !== undefined || forwarded !== undefined;
    if (isProxied || !isWithin(networks, peerOf(request))) {
      if (!checkAdmin)
        throw new Problem(403, 'Metrics are not for clients from outside: scrape the process itself.');
      checkAdmin(request);
    }
    next();
  };
  const router = express.Router();
  router.use(METRICS, check, createProblemHandler(deps));
  return router.use(metrics);
}
