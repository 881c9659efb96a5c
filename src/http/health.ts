// What an orchestrator asks. The platform's state never counts: it must not take the inbound side down.
import type { ServerResponse } from 'node:http';
import express, { type Router } from 'express';

export interface Check {
  ok: boolean;
  /** What is wrong and what to do; empty when ok. */
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

export function createHealthRouter(checks: HealthChecks): Router {
  const router = express.Router();
  router.get('/livez', (_request, response) => {
    const check = checks.live();
    answer(response, check.ok ? 200 : 503, check);
  });
  router.get('/readyz', async (_request, response) => {
    const check = await checks.ready();
    answer(response, check.ok ? 200 : 503, check);
  });
  router.get('/health', async (_request, response) => {
    const components = await checks.detail();
    const ok = Object.values(components).every((component) => component.ok);
    answer(response, 200, { ok, components });
  });
  return router;
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
