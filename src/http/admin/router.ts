// Routes /admin/v1: determines the caller, checks the caller's right, validates the request and calls the handler. Answers
// must not be cached.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Turns } from '../../support/limits.ts';
import type { Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import type { Admitted } from '../admission/admission.ts';
import { JSON_HEADERS, sendJson } from '../json-headers.ts';
import { createJsonBody } from '../middleware/json-body.ts';
import { untilClosed } from '../scim/respond.ts';
import { createChecks, type Checks } from './check.ts';
import { openApiDocument } from './openapi.ts';
import { createProblemHandler, Problem } from './problem.ts';
import { json, rightFor, type AdminAnswer, type AdminRoute, type StreamedAnswer } from './route.ts';
import type { IdentifyCaller } from './sign-in/caller.ts';
import { ROLE_FOR, type AdminCaller } from './sign-in/rights.ts';

/** Returns the router of /admin/v1, with `/openapi.json` besides the given routes. */
export function createAdminRouter(
  deps: { logger: Logger; ids: Ids },
  routes: readonly AdminRoute[],
  options: { identify: IdentifyCaller; maxBodyBytes: number; admitted: Admitted },
): Router {
  const router = express.Router();
  const readBody = createJsonBody({ limit: options.maxBodyBytes, admitted: options.admitted });
  const checksOf = createChecks();
  router.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(JSON_HEADERS)) response.setHeader(name, value);
    next();
  });
  // Runs before the body is read, so that the bridge reads bodies only of callers with the right.
  const checkRight = (route: AdminRoute): RequestHandler => {
    return (request, _response, next) => {
      requireRight(callerOf(request), route);
      next();
    };
  };
  router.use(async (request, _response, next) => {
    callers.set(request, await options.identify(request));
    next();
  });
  for (const [path, samePath] of byPath([...routes, openApiRoute(routes)])) {
    const address = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of samePath) {
      const handler = toHandler(route, checksOf(route), options.admitted.readings);
      if (route.body) address[route.method](checkRight(route), readBody, handler);
      else address[route.method](checkRight(route), handler);
    }
    const allow = samePath.map(({ method }) => method.toUpperCase()).join(', ');
    address.all(() => {
      throw new Problem(405, `This address answers ${allow} only.`, { headers: { Allow: allow } });
    });
  }
  router.use(() => {
    throw new Problem(404, 'No such address: /admin/v1/openapi.json lists all.');
  });
  router.use(createProblemHandler(deps));
  return router;
}

/** Groups the routes by path. A path with a literal segment comes before one with a parameter in the same place. */
function byPath(routes: readonly AdminRoute[]): Map<string, AdminRoute[]> {
  // \uffff sorts behind every character of a path.
  const literalFirst = (path: string): string => path.replaceAll('{', '\uffff');
  const sorted = [...routes].sort((a, b) => (literalFirst(a.path) < literalFirst(b.path) ? -1 : 1));
  const paths = new Map<string, AdminRoute[]>();
  for (const route of sorted) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  return paths;
}

const openApiRoute = (routes: readonly AdminRoute[]): AdminRoute => {
  const document = openApiDocument(routes);
  return {
    method: 'get',
    path: '/openapi.json',
    id: 'describe',
    summary: 'The OpenAPI document.',
    answers: { description: 'OpenAPI 3.1.' },
    handle: () => json(document),
  };
};

/** Returns the Express handler of a route. GET requests take turns in `readings`. */
function toHandler(route: AdminRoute, checks: Checks, readings: Turns): RequestHandler {
  return async (request, response) => {
    const [pathname = ''] = request.url.split('?', 1);
    const given: unknown = request.body;
    const body = given === undefined && route.bodyOptional ? {} : given;
    if (route.body && body === undefined)
      throw new Problem(400, `Send a JSON body to ${pathname}: openapi.json describes it.`);
    const call = {
      params: request.params as Record<string, string>,
      query: checks.query(request.url.slice(pathname.length)),
      body: checks.body(body),
      caller: callerOf(request),
      via: request.headers['x-scim-bridge-via'] === 'page' ? ('page' as const) : ('admin API' as const),
      // The error is the abort reason, which the log shows.
      signal: untilClosed(response, new Error('the caller has left')),
    };
    const handle = () => route.handle(call);
    const answer = route.method === 'get' ? await readings.run(handle, call.signal) : await handle();
    await respond(request, response, answer);
  };
}

/** The caller of each request, as `identify` determined it. */
const callers = new WeakMap<Request, AdminCaller>();

function callerOf(request: Request): AdminCaller {
  const caller = callers.get(request);
  if (!caller) throw new Error('the caller was not determined');
  return caller;
}

/** @throws Problem 403 with the role that the caller lacks */
function requireRight({ rights, name }: AdminCaller, route: AdminRoute): void {
  const right = rightFor(route);
  if (rights.includes(right)) return;
  throw new Problem(
    403,
    `${name ?? 'The caller'} has not got the role ${ROLE_FOR[right]}, which this order needs (${route.id}).`,
  );
}

/** Sends an answer; to HEAD its headers only. @throws the error of a streamed answer, also after its headers were sent */
async function respond(request: Request, response: Response, answer: AdminAnswer): Promise<void> {
  if (answer.kind === 'json') sendJson(response, answer.status, answer.body, answer.headers);
  else await stream(response, answer, request.method === 'HEAD');
}

/** Sends a streamed answer piece by piece, as fast as the client reads. */
async function stream(response: Response, answer: StreamedAnswer, isHead: boolean): Promise<void> {
  const { contentType, headers, until, signal } = answer;
  const pieces = answer.pieces[Symbol.asyncIterator]();
  try {
    // The first piece is awaited before the headers are sent, so that an error can still become a problem document.
    const first = await pieces.next();
    if (response.destroyed) return;
    response.writeHead(200, { 'Content-Type': contentType, ...headers });
    if (isHead) {
      response.end();
      return;
    }
    until?.addEventListener('abort', () => {
      // A client that does not read would keep the answer open.
      if (response.writableNeedDrain) response.destroy();
    });
    await pipeline(Readable.from(allPieces(first, pieces)), response, signal ? { signal } : {});
  } catch (error) {
    // A client that disconnects early is not an error.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    await pieces.return?.();
  }
}

async function* allPieces(
  first: IteratorResult<string | Buffer>,
  others: AsyncIterator<string | Buffer>,
): AsyncGenerator<string | Buffer> {
  for (let next = first; !next.done; next = await others.next()) yield next.value;
}
