// Routes /admin/v1: determines the caller, checks the caller's right, then calls the handler. Answers are JSON and must not
// be cached.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Turns } from '../../support/limits.ts';
import type { Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import type { Admitted } from '../admission/admission.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import { createJsonBody } from '../middleware/json-body.ts';
import { correlationIdOf } from '../middleware/request-context.ts';
import { createChecks, type Checks } from './check.ts';
import { openApiDocument } from './openapi.ts';
import { createProblemHandler, Problem } from './problem.ts';
import { json, rightFor, type AdminAnswer, type AdminRoute } from './route.ts';
import type { IdentifyCaller } from './sign-in/caller.ts';
import { ROLE_FOR, type AdminCaller } from './sign-in/rights.ts';

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
  // Before the body is read, so that only callers with the right can send one.
  const admit = (route: AdminRoute): RequestHandler => {
    return (request, _response, next) => {
      requireRight(callerOf(request), route);
      next();
    };
  };
  router.use(async (request, _response, next) => {
    callers.set(request, await options.identify(request));
    next();
  });
  const all = [...routes, describing(routes)];
  for (const [path, some] of byPath(all)) {
    const address = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of some) {
      const handler = toHandler(route, checksOf(route), options.admitted.readings);
      if (route.body) address[route.method](admit(route), readBody, handler);
      else address[route.method](admit(route), handler);
    }
    const allow = some.map(({ method }) => method.toUpperCase()).join(', ');
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

/** Sorts the routes so that a literal segment is matched before a parameter in the same place. */
function byPath(routes: readonly AdminRoute[]): Map<string, AdminRoute[]> {
  const literalFirst = (path: string): string => path.replaceAll('{', '\uffff');
  const sorted = [...routes].sort((a, b) => (literalFirst(a.path) < literalFirst(b.path) ? -1 : 1));
  const paths = new Map<string, AdminRoute[]>();
  for (const route of sorted) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  return paths;
}

const describing = (routes: readonly AdminRoute[]): AdminRoute => {
  const document = openApiDocument(routes);
  return {
    method: 'get',
    path: '/openapi.json',
    id: 'describe',
    summary: 'The OpenAPI document.',
    answers: { status: 200, description: 'OpenAPI 3.1.' },
    handle: () => Promise.resolve(json(document)),
  };
};

function toHandler(route: AdminRoute, checks: Checks, readings: Turns): RequestHandler {
  return async (request, response) => {
    const { pathname, search } = splitUrl(request.url);
    const given: unknown = request.body;
    const body = given === undefined && route.bodyOptional ? {} : given;
    if (route.body && body === undefined)
      throw new Problem(400, `Send a JSON body to ${pathname}: openapi.json describes it.`);
    const call = {
      params: request.params as Record<string, string>,
      query: checks.query(search),
      body: checks.body(body),
      request: correlationIdOf(request),
      caller: callerOf(request),
      via: request.headers['x-scim-bridge-via'] === 'page' ? ('page' as const) : ('admin API' as const),
      signal: untilClosed(response),
    };
    const isReading = route.method === 'get';
    const handled = () => route.handle(call);
    await respond(request, response, isReading ? await readings.run(handled, call.signal) : await handled());
  };
}

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

function splitUrl(url: string): { pathname: string; search: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { pathname: url, search: '' } : { pathname: url.slice(0, mark), search: url.slice(mark) };
}

function untilClosed(response: Response): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort(new Error('the caller has left')));
  return left.signal;
}

async function respond(request: Request, response: Response, answer: AdminAnswer): Promise<void> {
  if (answer.kind === 'json') {
    const text = JSON.stringify(answer.body);
    const length = Buffer.byteLength(text);
    response
      .writeHead(answer.status, {
        'Content-Type': 'application/json',
        'Content-Length': length,
        ...answer.headers,
      })
      .end(request.method === 'HEAD' ? undefined : text);
    return;
  }
  const isLines = answer.kind === 'lines';
  const texts = (isLines ? answer.lines : answer.pieces)[Symbol.asyncIterator]();
  try {
    // The first piece is awaited before the headers are sent, so that an error can still become a problem document.
    const first = await texts.next();
    if (response.destroyed) return;
    response.writeHead(200, {
      'Content-Type': answer.contentType,
      ...(isLines ? { 'Content-Disposition': `attachment; filename="${answer.filename}"` } : answer.headers),
    });
    // Headers are sent at once, because a stream may have no data for minutes.
    if (request.method === 'HEAD') return void response.end();
    if (!isLines)
      answer.until?.addEventListener('abort', () => void (response.writableNeedDrain && response.destroy()));
    const pieces = Readable.from(piecesOf(first, texts, isLines));
    await pipeline(pieces, response, isLines && answer.signal ? { signal: answer.signal } : {});
  } catch (error) {
    // A client that disconnects early is no fault.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    await texts.return?.();
  }
}

async function* piecesOf(
  first: IteratorResult<string | Buffer>,
  texts: AsyncIterator<string | Buffer>,
  isLines: boolean,
): AsyncGenerator<string | Buffer> {
  for (let next = first; !next.done; next = await texts.next())
    yield isLines ? `${String(next.value)}\n` : next.value;
}
