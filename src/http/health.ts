// Serves the health endpoints. The platform's state never counts: it must not take the inbound side down.
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Router } from 'express';
import type { Ids } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { AdminCheck } from './admin/authenticate.ts';
import { createProblemHandler } from './admin/problem.ts';
import { JSON_HEADERS } from './json-headers.ts';

export interface Check {
  ok: boolean;
  /** Faults, each with advice; empty when ok. */
  findings: string[];
  [detail: string]: unknown;
}

export interface HealthChecks {
  /** The process works: event loop and job fetching. */
  live: () => Check;
  /** Pushes can be stored. */
  ready: () => Promise<Check>;
  /** Everything, by component. */
  detail: () => Promise<Record<string, Check>>;
}

/**
 * Every caller is told whether all is well. Findings name targets, connections and Redis: they are for operators, who send
 * the admin token.
 * @param checkAdmin undefined: no admin token is set, and no caller gets findings
 */
export function createHealthRouter(
  deps: { logger: Logger; ids: Ids },
  checks: HealthChecks,
  checkAdmin: AdminCheck | undefined,
): Router {
  /** @throws Problem 401 or 429 for a wrong token; probes send none */
  const isOperator = (request: IncomingMessage): boolean => {
    if (!checkAdmin || request.headers.authorization === undefined) return false;
    checkAdmin(request);
    return true;
  };
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
  router.get('/health', async (request, response) => {
    if (isOperator(request)) {
      const components = await checks.detail();
      answer(response, 200, { ok: Object.values(components).every(({ ok }) => ok), components });
    } else answer(response, 200, { ok: checks.live().ok && (await checks.ready()).ok });
  });
  router.use(createProblemHandler(deps));
  return router;
}

function answer(response: ServerResponse, status: number, body: object): void {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...JSON_HEADERS };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
