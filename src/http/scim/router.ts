// Routes the SCIM endpoints of one connection: each route reads the request, calls the provider and sends its answer (respond.ts).
import express, { type Request, type RequestHandler, type Router } from 'express';
import type { Kind } from '../../directory/records.ts';
import { createBulk } from '../../provider/bulk.ts';
import type { Answer, ProviderDeps } from '../../provider/context.ts';
import { createDiscovery } from '../../provider/discovery.ts';
import { createGroups, type Groups } from '../../provider/groups.ts';
import { createSearch, LIST_LIMITS } from '../../provider/search.ts';
import { createUsers, type Users } from '../../provider/users.ts';
import {
  forbidden,
  methodNotAllowed,
  notFound,
  notImplemented,
  parseListQuery,
  parseSearchRequest,
} from '../../scim/index.ts';
import { subjectOf } from '../middleware/authenticate.ts';
import {
  allowOnly,
  createScimHandlers,
  searchParamsOf,
  type ScimHandlerOptions,
  type ScimHandlers,
} from './respond.ts';

interface ScimRouterOptions extends ScimHandlerOptions {
  authenticate: RequestHandler;
}

/** Handlers, the check of the credentials, and parts of the provider, which the routes below call. */
interface ScimParts extends ScimHandlers, Pick<ProviderDeps, 'profile' | 'userType'> {
  authenticate: RequestHandler;
  resources: { Users: Users; Groups: Groups };
  search: ReturnType<typeof createSearch>;
}

/** Returns the router of the SCIM endpoints, for the mount path `options.root`. */
export function createScimRouter(deps: ProviderDeps, options: ScimRouterOptions): Router {
  // The router ignores the case of paths, because Microsoft's request collection uses /users.
  const router = express.Router();
  const { profile, userType } = deps;
  const { authenticate } = options;
  const handlers = createScimHandlers(options);
  const resources = { Users: createUsers(deps), Groups: createGroups(deps) };
  const parts = { ...handlers, authenticate, resources, search: createSearch(deps), profile, userType };
  // Users and groups come first, because nearly all requests are for them and Express tries layers in order.
  routeResources(router, parts, 'Users', 'User');
  routeResources(router, parts, 'Groups', 'Group');
  routeDiscovery(router, handlers, createDiscovery(deps, options.maxBodyBytes));
  // A provider whose configured address ends in a slash requests //Users.
  router.use((request, response, next) => {
    if (!request.url.startsWith('//')) {
      next();
      return;
    }
    request.url = request.url.replace(/^\/+/, '/');
    router(request, response, next);
  });
  router.use(authenticate);
  routeBulk(router, handlers, createBulk(resources, profile));
  routeSearch(router, parts);
  routeMe(router, parts);
  router.use(() => {
    throw notFound('No such address.');
  });
  return router;
}

/** Adds the routes of users or groups: the list, the search in it, and one resource by its id. */
function routeResources(
  router: Router,
  { readBody, contextOf, answer, answerList, authenticate, resources, search, profile }: ScimParts,
  endpoint: keyof ScimParts['resources'],
  kind: Kind,
): void {
  const resource = resources[endpoint];
  const list = answerList((request, context) =>
    search.list(kind, parseListQuery(searchParamsOf(request), LIST_LIMITS), context),
  );
  // One route for each path with all its methods: each further layer costs time at every request.
  router
    .route(`/${endpoint}`)
    .all(authenticate)
    .get(list)
    .post(
      readBody[endpoint],
      answer((request) => resource.create(request.body, contextOf(request))),
    )
    .all(allowOnly('GET', 'POST'));
  router
    .route(`/${endpoint}/.search`)
    .all(authenticate)
    .post(
      readBody.Users,
      answerList((request, context) => {
        const query = parseSearchRequest(request.body, LIST_LIMITS, profile);
        return search.list(kind, query, context);
      }),
    )
    .all(allowOnly('POST'));
  router
    .route(`/${endpoint}/:id`)
    .all(authenticate)
    .get(answer((request) => resource.get(idIn(request), contextOf(request))))
    .put(
      readBody[endpoint],
      answer((request) => resource.replace(idIn(request), request.body, contextOf(request))),
    )
    .patch(
      readBody[endpoint],
      answer((request) => resource.patch(idIn(request), request.body, contextOf(request))),
    )
    .delete(answer((request) => resource.remove(idIn(request), contextOf(request))))
    .all(allowOnly('GET', 'PUT', 'PATCH', 'DELETE'));
}

/** Adds the discovery documents. They need no token, because they contain nothing about stored users and groups. */
function routeDiscovery(
  router: Router,
  { answer, baseUrl }: ScimHandlers,
  discovery: ReturnType<typeof createDiscovery>,
): void {
  const documents: Record<string, RequestHandler[]> = {
    '/ServiceProviderConfig': [answer((request) => discovery.config(baseUrl(request)))],
    '/ResourceTypes': [noFilter, answer((request) => discovery.resourceTypes(baseUrl(request)))],
    '/ResourceTypes/:id': [answer((request) => discovery.resourceType(baseUrl(request), idIn(request)))],
    '/Schemas': [noFilter, answer((request) => discovery.schemas(baseUrl(request)))],
    '/Schemas/:id': [answer((request) => discovery.schema(baseUrl(request), idIn(request)))],
  };
  for (const [path, handlers] of Object.entries(documents))
    router
      .route(path)
      .get(...handlers)
      .all(allowOnly('GET'));
}

function routeBulk(
  router: Router,
  { readBody, contextOf, answer }: ScimHandlers,
  bulk: ReturnType<typeof createBulk>,
): void {
  router.post(
    '/Bulk',
    readBody.Groups,
    answer((request) => bulk.run(request.body, contextOf(request))),
  );
  router.all('/Bulk', allowOnly('POST'));
}

/** Adds the search in users and groups together. */
function routeSearch(router: Router, { readBody, answerList, search, profile }: ScimParts): void {
  router.post(
    '/.search',
    readBody.Users,
    answerList((request, context) => {
      const query = parseSearchRequest(request.body, LIST_LIMITS, profile);
      return search.everywhere(query, context);
    }),
  );
  router.all('/.search', allowOnly('POST'));
}

/** Adds the routes of the user that the JWT of the request names (RFC 7644 §3.11). */
function routeMe(
  router: Router,
  { readBody, baseUrl, contextOf, answer, resources: { Users: users }, search, userType }: ScimParts,
): void {
  // Finds the user, and adds the user's own address as Location.
  const me =
    (run: (id: string, request: Request) => Promise<Answer>): RequestHandler =>
    (request, response, next) =>
      answer(async () => {
        const userId = await search.subject(subjectOfJwt(request));
        const result = await run(userId, request);
        return { ...result, location: `${baseUrl(request)}${userType.endpoint}/${userId}` };
      })(request, response, next);
  router
    .route('/Me')
    .get(me((user, request) => users.get(user, contextOf(request))))
    .put(
      readBody.Users,
      me((user, request) => users.replace(user, request.body, contextOf(request))),
    )
    .patch(
      readBody.Users,
      me((user, request) => users.patch(user, request.body, contextOf(request))),
    )
    .delete(me((user, request) => users.remove(user, contextOf(request))))
    .all((request) => {
      subjectOfJwt(request);
      throw methodNotAllowed(['GET', 'PUT', 'PATCH', 'DELETE']);
    });
}

/** Returns the subject of the request's JWT. @throws 501 for another token, and for a JWT without subject (RFC 7644 §3.11) */
function subjectOfJwt(request: Request): string {
  const subject = subjectOf(request);
  if (subject === undefined || subject === '')
    throw notImplemented('/Me needs a JWT with a subject; this token names no user.');
  return subject;
}

/** Refuses `filter` on discovery documents with 403, as RFC 7644 §4 requires. */
const noFilter: RequestHandler = (request, _response, next) => {
  if (searchParamsOf(request).has('filter')) throw forbidden('Discovery documents cannot be filtered.');
  next();
};

const idIn = (request: Request): string => String(request.params.id);
