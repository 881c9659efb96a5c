// Serves the health endpoints. The state of the platform does not decide about `ok` (app/target-check.ts): while the platform is
// unavailable, the bridge must still receive pushes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Router } from 'express';
import type { Ids } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { AdminCheck } from './admin/authenticate.ts';
import { createProblemHandler } from './admin/problem.ts';
import { sendJson } from './json-headers.ts';

export interface Check {
  ok: boolean;
  /** One sentence with advice for each fault; empty when healthy. */
  findings: string[];
  /** Further values, for operators only. */
  [detail: string]: unknown;
}

export interface HealthChecks {
  /** Liveness: the event loop runs and the worker fetches jobs. */
  live: () => Check;
  /** Readiness: Redis accepts writes. */
  ready: () => Promise<Check>;
  /** State of each component, by name. */
  detail: () => Promise<Record<string, Check>>;
}

/**
 * Returns the router of /livez, /readyz and /health. Every client gets the property `ok`. Findings name targets,
 * connections and Redis, so only a client with the admin token gets them.
 * @param checkAdmin undefined: no admin token is set, and no client gets findings
 */
export function createHealthRouter(
  deps: { logger: Logger; ids: Ids },
  checks: HealthChecks,
  checkAdmin: AdminCheck | undefined,
): Router {
  /** Returns false for a request without a token, such as a probe. @throws Problem 401 or 429 for a wrong token */
  const isOperator = (request: IncomingMessage): boolean => {
    if (!checkAdmin || request.headers.authorization === undefined) return false;
    checkAdmin(request);
    return true;
  };
  const answer = (response: ServerResponse, status: number, body: object): void =>
    sendJson(response, status, body, { 'Cache-Control': 'no-store' });
  const router = express.Router();
  router.get('/livez', (request, response) => {
    const check = checks.live();
    answer(response, check.ok ? 200 : 503, isOperator(request) ? check : { ok: check.ok });
  });
  router.get('/readyz', async (request, response) => {
    const showsAll = isOperator(request);
    const check = await checks.ready();
    answer(response, check.ok ? 200 : 503, showsAll ? check : { ok: check.ok });
  });
  // Always 200: /health is for readers of the body; /livez and /readyz are for probes, which act on the status.
  router.get('/health', async (request, response) => {
    if (isOperator(request)) {
      const components = await checks.detail();
      answer(response, 200, { ok: Object.values(components).every(({ ok }) => ok), components });
    } else answer(response, 200, { ok: checks.live().ok && (await checks.ready()).ok });
  });
  router.use(createProblemHandler(deps));
  return router;
}
