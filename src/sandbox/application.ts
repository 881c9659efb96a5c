// Builds the Express application of the platform. Every API family gets the same middleware, and its checks run in
// the order that the platform's contract prescribes (contract 4.0).
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { systemClock } from '../support/sources.ts';
import { isMarkedPlain } from './auth.ts';
import { readBody } from './body.ts';
import { sendReply, visitOf, type HandlerReply, type Visit } from './call.ts';
import type { ApiFamily } from './family.ts';
import { closeSilently } from './loss.ts';
import { SandboxProblem } from './problem.ts';
import type { SandboxRuntime } from './runtime.ts';

/**
 * Returns the problem for an error of Express or its body parser (4xx), or for an unexpected fault of the
 * sandbox (500).
 */
function toProblem(error: unknown): SandboxProblem {
  if (error instanceof SandboxProblem) return error;
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new SandboxProblem(status, 'The request cannot be read', 'invalidSyntax');
  }
  return new SandboxProblem(
    500,
    `Sandbox fault: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
}

/** Returns an error handler that answers with the error body which `render` builds. */
function answerError(render: (problem: SandboxProblem) => HandlerReply): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    // A started answer cannot be replaced; Express closes the socket.
    if (response.headersSent) next(error);
    else sendReply(response, render(toProblem(error)));
  };
}

/** Adds the request to the log, completes the entry when the answer is sent or the socket closed, and stores the Visit. */
function logRequest(runtime: SandboxRuntime): RequestHandler {
  return (request, response, next) => {
    const arrivedMs = performance.now();
    const [path = '', query = ''] = request.originalUrl.split('?', 2);
    const id = request.headers['x-request-id'];
    const requestId = typeof id === 'string' ? id : null;
    const atMs = runtime.clock.now();
    const entry = runtime.requests.open({ method: request.method, path, query, requestId, atMs });
    const visit: Visit = { entry, mediaType: 'application/json' };
    response.locals['visit'] = visit;
    response.on('close', () => {
      // Milliseconds, rounded to tenths.
      entry.durationMs = Math.round((performance.now() - arrivedMs) * 10) / 10;
      if (response.writableEnded) entry.status = response.statusCode;
      // The request may have changed the state, which is then saved (`--data`).
      if (request.method !== 'GET' && request.method !== 'HEAD') runtime.changed();
    });
    next();
  };
}

/** Decides the faults of a request and waits for their latency. A `refusal` answers the request before any change. */
function injectRefusal(runtime: SandboxRuntime): RequestHandler {
  return async (request, response, next) => {
    const visit = visitOf(response);
    const fault = runtime.faults.decide(request.method, visit.entry.path);
    visit.fault = fault;
    if (fault.latencyMs > 0) await systemClock.sleep(fault.latencyMs);
    const { refusal } = fault;
    if (!refusal) return next();
    switch (refusal.kind) {
      case 'drop':
      case 'hold':
        return closeSilently(request, refusal);
      case 'html':
        // A web page where the client expects JSON, as from a proxy or a login page.
        response.status(200).type('html').send('<!doctype html><title>App</title>');
        return;
      case 'status': {
        const { status, retryAfter } = refusal;
        const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
        const message = status === 429 ? 'Too many requests' : 'Injected fault';
        // Undefined: an injected status has no `scimType`.
        throw new SandboxProblem(status, message, undefined, headers);
      }
    }
  };
}

/** Adds the middleware of one family to the application. Requests pass it in the order of the calls below. */
function mountFamily(app: Express, runtime: SandboxRuntime, family: ApiFamily): void {
  const setMediaType: RequestHandler = (request, response, next) => {
    visitOf(response).mediaType = family.mediaType(request);
    next();
  };
  const identify: RequestHandler = async (request, response, next) => {
    const caller = await family.authenticate(request);
    if (caller) visitOf(response).caller = caller;
    next();
  };
  app.use([...family.mounts], setMediaType);
  if (family.before) app.use([...family.mounts], family.before);
  app.use([...family.mounts], injectRefusal(runtime), identify);
  for (const check of family.pathChecks ?? []) app.use(check.mount, check.router);
  app.use([...family.mounts], readBody(runtime, family.ignoresOtherBodies ?? false));
  for (const routes of family.routers) app.use(routes.mount, routes.router);
  const notFound: RequestHandler = () => {
    throw new SandboxProblem(404, 'Not found');
  };
  app.use([...family.mounts], family.notFound ?? notFound, answerError(family.render));
}

/** Returns `{error}`, the error form of the Platform API and of requests that belong to no family (contract 7). */
export function platformError(problem: SandboxProblem): HandlerReply {
  return { status: problem.status, body: { error: problem.message }, headers: problem.headers };
}

/** Creates the Express application; families are matched in the order given. */
export function createApplication(runtime: SandboxRuntime, families: readonly ApiFamily[]): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  // Only texts and lists of texts: `a[b]=c` is the parameter `a[b]`, not an object.
  app.set('query parser', 'simple');
  app.use(logRequest(runtime));
  app.use((request, response, next) => {
    // The transport check precedes every family and has one error form (contract 4.0).
    if (isMarkedPlain(request))
      sendReply(response, platformError(new SandboxProblem(400, 'HTTPS is required')));
    else next();
  });
  // Cube's health checks and their fixed answer.
  app.get(['/readyz', '/livez'], (_request, response) => {
    sendReply(response, { status: 200, body: { health: 'HEALTH' } });
  });
  for (const family of families) mountFamily(app, runtime, family);
  app.use(() => {
    throw new SandboxProblem(404, 'Not found');
  }, answerError(platformError));
  return app;
}
