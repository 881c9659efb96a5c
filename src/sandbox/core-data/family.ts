// Builds the Core Data family: queries and metadata under the data API's base path, with tokens of the
// deployment (contract 1.1, 5).
import { Router, type Request, type RequestHandler } from 'express';
import { sendOrLose, type HandlerReply } from '../call.ts';
import type { SandboxJsonObject } from '../json.ts';
import { isActive } from '../control-plane/environments.ts';
import type { ApiFamily } from '../family.ts';
import { SandboxProblem } from '../problem.ts';
import { currentStateOf, type SandboxRuntime } from '../runtime.ts';
import type { QueryAccess } from './core-data.ts';
import { listDataSources, listEntities, showEntity } from './entities.ts';
import { allowOrigins } from './cross-origin.ts';
import { dryRun, load, showSql, sourceOf } from './load.ts';
import { CompilerRefusal } from './members.ts';
import { openCoreDataSession, requireScope, type ApiScope, type CoreDataSession } from './session.ts';
import { createSlowQueries } from './slow-queries.ts';
import { sqlQueryIn, toLines } from './sql-stream.ts';

/** Returns the body of an answer, or a promise of it. */
type Answer = (session: CoreDataSession, request: Request, branchName: string | null) => unknown;
/** Paths that Cube has; other ones need no token. */
const PATH = /^\/v1\/(?:load|subscribe|sql|dry-run|cubesql|meta|data-sources|entities(?:\/[^/]+)?)\/?$/;
const STREAM_HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };
/** Answer to a slow query until its result is ready. */
const CONTINUE_WAIT = { error: 'Continue wait' };

/** Returns the base paths of the data API: production, and the vendor's path for other branches. */
function mountsOf(runtime: SandboxRuntime): string[] {
  return [runtime.dataPath, `/dev-mode/:branchName${runtime.dataPath}`];
}

/** Formats `{error}`, with a type for refusals of the data model's compiler (contract 5.5). */
function render(problem: SandboxProblem): HandlerReply {
  const type = problem instanceof CompilerRefusal ? { type: 'UserError' } : {};
  return { status: problem.status, body: { error: problem.message, ...type }, headers: problem.headers };
}

/**
 * Returns the branch of the address; null = production. Throws 404 for an unknown branch, and for a shared
 * branch whose staging environment does not run (contract 4.4).
 */
function branchOf(runtime: SandboxRuntime, { deployment }: CoreDataSession, request: Request): string | null {
  const name = request.params['branchName'];
  if (typeof name !== 'string') return null;
  const branch = deployment.branches.find((one) => one.name === name);
  const isReached = branch && (branch.kind !== 'shared' || isActive(runtime.state, deployment, branch));
  if (!isReached) throw new SandboxProblem(404, 'Branch not found');
  return name;
}

function requestIdOf(request: Request): string | null {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' ? id : null;
}

/** Builds the family; each request opens one session. */
export function createCoreDataFamily(runtime: SandboxRuntime): ApiFamily {
  // Set by `authenticate`, read by the routes.
  const sessions = new WeakMap<Request, CoreDataSession>();
  const slow = createSlowQueries<unknown>();

  function sessionOf(request: Request): CoreDataSession {
    const session = sessions.get(request);
    if (!session) throw new Error('The data API was asked without its authentication');
    return session;
  }

  /** Returns a handler for tokens with the scope. */
  function withScope(scope: ApiScope, answer: Answer): RequestHandler {
    return async (request, response) => {
      const session = sessionOf(request);
      requireScope(session, scope);
      const branchName = branchOf(runtime, session, request);
      await sendOrLose(request, response, { status: 200, body: await answer(session, request, branchName) });
    };
  }

  const answerLoad: Answer = async ({ deployment, context }, request, branchName) => {
    const source = sourceOf(request.method, request.body, request.query);
    // A repeated request gets the result of the first one, but only with the same rights.
    const key = JSON.stringify([deployment.id, branchName, context, source]);
    const waited = await slow.ask(key, runtime.settings.dataContinueWaitMs, () =>
      load(source, runtime.coreData.open(deployment, branchName, context)),
    );
    return waited.kind === 'done' ? waited.result : CONTINUE_WAIT;
  };

  /** Returns the answer of a call that only describes a query and does not run it. */
  const describing =
    (describe: (source: SandboxJsonObject, access: QueryAccess) => unknown): Answer =>
    ({ deployment, context }, request, branchName) =>
      describe(
        sourceOf(request.method, request.body, request.query),
        runtime.coreData.open(deployment, branchName, context),
      );

  const answerSql: RequestHandler = async (request, response) => {
    const session = sessionOf(request);
    requireScope(session, 'data');
    const { deployment, context } = session;
    const branchName = branchOf(runtime, session, request);
    const disconnected = new AbortController();
    response.once('close', () => disconnected.abort());
    const query = { ...sqlQueryIn(request.body), signal: disconnected.signal };
    const parts = runtime.coreData.sql(deployment, branchName, context, query);
    const refreshedAt = new Date(runtime.clock.now()).toISOString();
    await sendOrLose(request, response, {
      status: 200,
      headers: STREAM_HEADERS,
      lines: toLines(parts, refreshedAt, requestIdOf(request)),
    });
  };

  function createRoutes(mount: string) {
    const router = Router({ caseSensitive: true, mergeParams: true });
    const answerMeta = withScope('meta', ({ deployment, context }, request) =>
      runtime.coreData.meta(deployment, context, request.query['onlyViews'] === 'true'),
    );
    // Cube's client library may be configured to use POST for each of these.
    const byGetOrPost: [path: string, handler: RequestHandler][] = [
      ['/v1/load', withScope('data', answerLoad)],
      ['/v1/subscribe', withScope('data', answerLoad)],
      ['/v1/sql', withScope('sql', describing(showSql))],
      ['/v1/dry-run', withScope('data', describing(dryRun))],
      ['/v1/meta', answerMeta],
    ];
    for (const [path, handler] of byGetOrPost) router.get(path, handler).post(path, handler);
    router.post('/v1/cubesql', answerSql);
    router.get(
      '/v1/data-sources',
      withScope('meta', ({ deployment }) => listDataSources(runtime.coreData.modelOf(deployment))),
    );
    router.get(
      '/v1/entities',
      withScope('meta', ({ deployment, context }, request) =>
        listEntities(request, runtime.settings, runtime.coreData.modelOf(deployment), context),
      ),
    );
    router.get(
      '/v1/entities/:name',
      withScope('meta', ({ deployment, context }, request) =>
        showEntity(runtime.coreData.modelOf(deployment), context, String(request.params['name'])),
      ),
    );
    return { mount, router };
  }

  return {
    mounts: mountsOf(runtime),
    routers: mountsOf(runtime).map(createRoutes),
    before: allowOrigins,
    // As in Cube: without JSON the query is missing (400).
    ignoresOtherBodies: true,
    // A path that Cube does not have is answered with the web page of its framework.
    notFound: (request, response) => {
      const page = `<pre>Cannot ${request.method} this path</pre>`;
      response.status(404).type('html').send(`<!DOCTYPE html><html lang="en"><body>${page}</body></html>`);
    },
    authenticate: async (request) => {
      // No token is required for a path that Cube does not have: such a path is 404 for everybody.
      if (PATH.test(request.path))
        sessions.set(request, await openCoreDataSession(request, currentStateOf(runtime)));
      return undefined;
    },
    render,
    mediaType: () => 'application/json',
  };
}
