// The platform listener: order of checks as in contract 4.0, the same walls around every API family.
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { systemClock } from '../support/clock.ts';
import { isMarkedPlain } from './auth.ts';
import { readBody } from './body.ts';
import { send, visitOf, type Reply, type Visit } from './call.ts';
import type { Family } from './family.ts';
import { fallSilent } from './loss.ts';
import { Problem } from './problem.ts';
import type { World } from './world.ts';

/** A refusal that Express or its body reader made (status 4xx) or an unexpected fault of our own (500). */
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new Problem(status, 'The request cannot be read', 'invalidSyntax');
  }
  return new Problem(
    500,
    `Sandbox fault: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
}

function refuse(render: (problem: Problem) => Reply): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    // An answer that has begun cannot be taken back; Express closes the socket.
    if (response.headersSent) next(error);
    else send(response, render(toProblem(error)));
  };
}

/** Opens the log entry and closes it when the answer, or the socket, has gone. */
function note(world: World): RequestHandler {
  return (request, response, next) => {
    const arrivedMs = performance.now();
    const [path = '', query = ''] = request.originalUrl.split('?', 2);
    const id = request.headers['x-request-id'];
    const requestId = typeof id === 'string' ? id : null;
    const atMs = world.clock.now();
    const entry = world.requests.open({ method: request.method, path, query, requestId, atMs });
    const visit: Visit = { entry, mediaType: 'application/json' };
    response.locals['visit'] = visit;
    response.on('close', () => {
      entry.durationMs = Math.round((performance.now() - arrivedMs) * 10) / 10;
      if (response.writableEnded) entry.status = response.statusCode;
      if (request.method !== 'GET' && request.method !== 'HEAD') world.changed();
    });
    next();
  };
}

/** Rolls the dice for this request; refuses it, before anything happens, if they say so. */
function tempt(world: World): RequestHandler {
  return async (request, response, next) => {
    const visit = visitOf(response);
    const fate = world.faults.decide(request.method, visit.entry.path);
    visit.fate = fate;
    if (fate.latencyMs > 0) await systemClock.sleep(fate.latencyMs);
    if (!fate.refusal) next();
    else if (fate.refusal.kind === 'drop' || fate.refusal.kind === 'hold')
      await fallSilent(request, fate.refusal);
    else if (fate.refusal.kind === 'html')
      response.status(200).type('html').send('<!doctype html><title>App</title>');
    else {
      const { status, retryAfter } = fate.refusal;
      const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
      throw new Problem(status, status === 429 ? 'Too many requests' : 'Injected fault', undefined, headers);
    }
  };
}

function mountFamily(app: Express, world: World, family: Family): void {
  const prepare: RequestHandler = (request, response, next) => {
    visitOf(response).mediaType = family.mediaType(request);
    next();
  };
  const identify: RequestHandler = async (request, response, next) => {
    const caller = await family.authenticate(request);
    if (caller) visitOf(response).caller = caller;
    next();
  };
  app.use([...family.mounts], prepare, tempt(world), identify);
  for (const wall of family.walls ?? []) app.use(wall.mount, wall.router);
  app.use([...family.mounts], readBody(world));
  for (const room of family.rooms) app.use(room.mount, room.router);
  const nowhere: RequestHandler = () => {
    throw new Problem(404, 'Not found');
  };
  app.use([...family.mounts], nowhere, refuse(family.render));
}

/** Body of a refusal outside every family, and of the transport check (contract 7). */
export function platformError(problem: Problem): Reply {
  return { status: problem.status, body: { error: problem.message }, headers: problem.headers };
}

/** The platform as an Express application; families are tried in the order given. */
export function createApplication(world: World, families: readonly Family[]): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  app.use(note(world));
  app.use((request, response, next) => {
    // Answered here, not by a family: the transport comes before everything else and speaks one form (contract 4.0).
    if (isMarkedPlain(request)) send(response, platformError(new Problem(400, 'HTTPS is required')));
    else next();
  });
  for (const family of families) mountFamily(app, world, family);
  app.use(() => {
    throw new Problem(404, 'Not found');
  }, refuse(platformError));
  return app;
}
