// Routes the SCIM endpoints of one connection: reads the request, calls the provider, sends its answer.
import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import type { Kind } from '../../directory/records.ts';
import { createBulk } from '../../provider/bulk.ts';
import type { Answer, ProviderDeps, RequestContext } from '../../provider/context.ts';
import { createDiscovery } from '../../provider/discovery.ts';
import { createGroups } from '../../provider/groups.ts';
import { createSearch, LIST_LIMITS } from '../../provider/search.ts';
import { createUsers } from '../../provider/users.ts';
import {
  forbidden,
  methodNotAllowed,
  notFound,
  notImplemented,
  parseListQuery,
  parseSearchRequest,
  readQuery,
} from '../../scim/index.ts';
import type { Admitted } from '../admission/admission.ts';
import { subjectOf } from '../middleware/authenticate.ts';
import { createJsonBody } from '../middleware/json-body.ts';
import { correlationIdOf } from '../middleware/request-context.ts';
import { Busy } from '../../support/limits.ts';
import { allowOnly, send, untilClosed } from './respond.ts';

interface ScimRouterOptions {
  /** Path of the SCIM root, such as `/scim/v2`. */
  root: string;
  /** Configured address of the service without a trailing slash; null: the Host header is used. */
  publicUrl: string | null;
  authenticate: RequestHandler;
  maxBodyBytes: number;
  limits: { userBodyBytes: number; pageBytes: number };
  admitted: Admitted;
}

const RETRY_AFTER_SECONDS = 2;

/** Form of an accepted Host header. The header becomes part of addresses in answers, so other characters are refused. */
const HOST = /^[A-Za-z0-9.\-:[\]]{1,255}$/;

/** Returns the router of the SCIM endpoints, for the mount path `options.root`. */
export function createScimRouter(deps: ProviderDeps, options: ScimRouterOptions): Router {
  // The router ignores the case of paths, because Microsoft's request collection uses /users.
  const router = express.Router();
  const resources = { Users: createUsers(deps), Groups: createGroups(deps) };
  const search = createSearch(deps);
  const discovery = createDiscovery(deps, options.maxBodyBytes);
  const bulk = createBulk(resources, deps.profile);
  const { admitted, maxBodyBytes } = options;
  // Readers of request bodies. A search body is read with the smaller limit, that of users.
  const json = {
    Users: createJsonBody({ limit: Math.min(options.limits.userBodyBytes, maxBodyBytes), admitted }),
    Groups: createJsonBody({ limit: maxBodyBytes, admitted }),
  };

  /** Returns the address of the SCIM root, for addresses in answers. */
  function baseUrl(request: Request): string {
    if (options.publicUrl !== null) return options.publicUrl + options.root;
    const host = request.headers.host ?? '';
    // The service itself has no TLS; behind a TLS proxy `publicUrl` gives the public address.
    return `http://${HOST.test(host) ? host : 'localhost'}${options.root}`;
  }

  function contextOf(request: Request): RequestContext {
    const context: RequestContext = { request: correlationIdOf(request), baseUrl: baseUrl(request) };
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifMatch !== undefined) context.ifMatch = ifMatch;
    if (ifNoneMatch !== undefined) context.ifNoneMatch = ifNoneMatch;
    // Parsing costs time, so the query is parsed only when it has `attributes` or `excludedAttributes`, which is rare. The names of
    // both parameters end in `ttributes`.
    if (request.url.includes('ttributes=')) {
      const { attributes, excludedAttributes } = readQuery(queryOf(request));
      // An empty parameter counts as absent.
      context.attributes = attributes || undefined;
      context.excludedAttributes = excludedAttributes || undefined;
    }
    return context;
  }

  const answer =
    (make: (request: Request) => Promise<Answer> | Answer): RequestHandler =>
    async (request: Request, response: Response, _next: NextFunction) => {
      send(response, await admitted.singles.run(() => make(request)), admitted.answers);
    };
  // Lists do not wait for a turn here. The provider limits them, because only it knows whether an index answers a list. A list is
  // refused at once when a full page of unread bytes would not fit into the share of the connection.
  const answerList =
    (make: (request: Request, context: RequestContext) => Promise<Answer>): RequestHandler =>
    async (request, response) => {
      if (!admitted.answers.fits(options.limits.pageBytes)) throw new Busy(RETRY_AFTER_SECONDS);
      const context = contextOf(request);
      context.untilLeft = () => untilClosed(response);
      send(response, await make(request, context), admitted.answers);
    };
  const id = (request: Request): string => String(request.params.id);

  // Users and groups come first, because nearly all requests are for them and Express tries layers in order.
  for (const [endpoint, kind] of [
    ['Users', 'User'],
    ['Groups', 'Group'],
  ] as const satisfies [keyof typeof resources, Kind][]) {
    const resource = resources[endpoint];
    const list = answerList((request, context) =>
      search.list(kind, parseListQuery(queryOf(request), LIST_LIMITS), context),
    );
    // One route for each path with all its methods: each further layer costs time at every request.
    router
      .route(`/${endpoint}`)
      .all(options.authenticate)
      .get(list)
      .post(
        json[endpoint],
        answer((request) => resource.create(request.body, contextOf(request))),
      )
      .all(allowOnly('GET', 'POST'));
    router
      .route(`/${endpoint}/.search`)
      .all(options.authenticate)
      .post(
        json.Users,
        answerList((request, context) => {
          const query = parseSearchRequest(request.body, LIST_LIMITS, deps.profile);
          return search.list(kind, query, context);
        }),
      )
      .all(allowOnly('POST'));
    router
      .route(`/${endpoint}/:id`)
      .all(options.authenticate)
      .get(answer((request) => resource.get(id(request), contextOf(request))))
      .put(
        json[endpoint],
        answer((request) => resource.replace(id(request), request.body, contextOf(request))),
      )
      .patch(
        json[endpoint],
        answer((request) => resource.patch(id(request), request.body, contextOf(request))),
      )
      .delete(answer((request) => resource.remove(id(request), contextOf(request))))
      .all(allowOnly('GET', 'PUT', 'PATCH', 'DELETE'));
  }

  // Discovery documents need no token, because they contain nothing about stored users and groups.
  const documents: Record<string, RequestHandler[]> = {
    '/ServiceProviderConfig': [answer((request) => discovery.config(baseUrl(request)))],
    '/ResourceTypes': [noFilter, answer((request) => discovery.resourceTypes(baseUrl(request)))],
    '/ResourceTypes/:id': [answer((request) => discovery.resourceType(baseUrl(request), id(request)))],
    '/Schemas': [noFilter, answer((request) => discovery.schemas(baseUrl(request)))],
    '/Schemas/:id': [answer((request) => discovery.schema(baseUrl(request), id(request)))],
  };
  for (const [path, handlers] of Object.entries(documents))
    router
      .route(path)
      .get(...handlers)
      .all(allowOnly('GET'));

  // A provider whose configured address ends in a slash requests //Users.
  router.use((request, response, next) => {
    if (!request.url.startsWith('//')) {
      next();
      return;
    }
    request.url = request.url.replace(/^\/+/, '/');
    router(request, response, next);
  });
  router.use(options.authenticate);
  router.post(
    '/Bulk',
    json.Groups,
    answer((request) => bulk.run(request.body, contextOf(request))),
  );
  router.all('/Bulk', allowOnly('POST'));
  router.post(
    '/.search',
    json.Users,
    answerList((request, context) => {
      const query = parseSearchRequest(request.body, LIST_LIMITS, deps.profile);
      return search.everywhere(query, context);
    }),
  );
  router.all('/.search', allowOnly('POST'));
  // Finds the user that the JWT names, and adds the user's own address as Location (RFC 7644 §3.11).
  const me =
    (run: (id: string, request: Request) => Promise<Answer>): RequestHandler =>
    (request, response, next) =>
      answer(async () => {
        const userId = await search.subject(subjectOfJwt(request));
        const result = await run(userId, request);
        return { ...result, location: `${baseUrl(request)}${deps.userType.endpoint}/${userId}` };
      })(request, response, next);
  const { Users: users } = resources;
  router
    .route('/Me')
    .get(me((user, request) => users.get(user, contextOf(request))))
    .put(
      json.Users,
      me((user, request) => users.replace(user, request.body, contextOf(request))),
    )
    .patch(
      json.Users,
      me((user, request) => users.patch(user, request.body, contextOf(request))),
    )
    .delete(me((user, request) => users.remove(user, contextOf(request))))
    .all((request) => {
      subjectOfJwt(request);
      throw methodNotAllowed(['GET', 'PUT', 'PATCH', 'DELETE']);
    });
  router.use(() => {
    throw notFound('No such address.');
  });
  return router;
}

/** Returns the subject of the request's JWT. @throws 501 for a token that is no JWT, and for a JWT without subject (RFC 7644 §3.11) */
function subjectOfJwt(request: Request): string {
  const subject = subjectOf(request);
  if (subject === undefined || subject === '')
    throw notImplemented('/Me needs a JWT with a subject; this token names no user.');
  return subject;
}

/** Refuses `filter` on discovery documents with 403, as RFC 7644 §4 requires. */
const noFilter: RequestHandler = (request, _response, next) => {
  if (queryOf(request).has('filter')) throw forbidden('Discovery documents cannot be filtered.');
  next();
};

function queryOf(request: Request): URLSearchParams {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : request.url.slice(start + 1));
}
