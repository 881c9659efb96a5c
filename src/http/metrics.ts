// Serves the metrics endpoint for Prometheus.
import { BlockList } from 'node:net';
import express, { type RequestHandler, type Router } from 'express';
import type { AdminCheck } from './admin/authenticate.ts';
import { createProblemHandler, Problem } from './admin/problem.ts';
import { createClientAddress, isWithin, toNetworks } from './middleware/client-address.ts';

const METRICS = '/metrics';

/** @param scrape returns the metrics as text in UTF-8; an error fails the scrape with 500 */
export function createMetricsRouter(contentType: string, scrape: () => Promise<Buffer>): Router {
  const router = express.Router();
  router.get(METRICS, async (_request, response) => {
    const text = await scrape();
    response.writeHead(200, { 'Content-Type': contentType }).end(text);
  });
  return router;
}

/** Networks that no client on the internet has: this machine, RFC 1918, RFC 6598, and their counterparts of IPv6. */
const PRIVATE = [
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
 * Guards the metrics on the port that identity providers reach, because they name targets and tokens. A client with a
 * public address, or behind a proxy, needs the admin token.
 * @param checkAdmin undefined: no admin token is set, and such a client gets 403
 */
export function protectMetrics(
  metrics: Router,
  deps: Parameters<typeof createProblemHandler>[0],
  checkAdmin: AdminCheck | undefined,
): Router {
  const networks = toNetworks(PRIVATE) ?? new BlockList();
  const peerOf = createClientAddress([]);
  const check: RequestHandler = (request, _response, next) => {
    const { 'x-forwarded-for': chain, forwarded } = request.headers;
    if (chain !== undefined || forwarded !== undefined || !isWithin(networks, peerOf(request))) {
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
