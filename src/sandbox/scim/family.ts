// Builds the SCIM family `/api/scim/v2`: authorisation, and errors in the form of RFC 7644 §3.12.
import { Router, type Request } from 'express';
import { authenticate, requireAdmin, type Caller } from '../auth.ts';
import { answer, type Handler, type HandlerReply } from '../call.ts';
import type { ApiFamily } from '../family.ts';
import { SandboxProblem } from '../problem.ts';
import { currentStateOf, type SandboxRuntime } from '../runtime.ts';
import { readDiscovery, readResourceTypes, readSchemas } from './discovery.ts';
import {
  createGroupResource,
  deleteGroup,
  listGroups,
  patchGroup,
  readScimGroup,
  replaceGroup,
} from './groups.ts';
import { SCIM_ERROR_URN } from './urns.ts';
import { createScimUser, deleteUser, listUsers, patchUser, readScimUser, replaceUser } from './users.ts';

/** Returns a SCIM error body; `status` is text (contract 2.8). */
function render(problem: SandboxProblem): HandlerReply {
  return {
    status: problem.status,
    headers: problem.headers,
    body: {
      schemas: [SCIM_ERROR_URN],
      status: String(problem.status),
      ...(problem.scimType ? { scimType: problem.scimType } : {}),
      detail: problem.message,
    },
  };
}

/**
 * Authenticates a SCIM request. @throws 401 invalid credential, 403 SCIM disabled or not in the plan
 * (ASSUMED-33), 403 not an administrator
 */
function enter(runtime: SandboxRuntime, request: Request): Caller {
  const caller = authenticate(request, currentStateOf(runtime), { acceptsApiKeyScheme: true });
  if (!runtime.settings.scimEnabled || !runtime.settings.plan.scim)
    throw new SandboxProblem(403, 'SCIM provisioning is off');
  requireAdmin(caller);
  return caller;
}

function createRouter(runtime: SandboxRuntime): Router {
  const router = Router({ caseSensitive: true });
  const at = (handler: Handler) => answer(runtime, handler);
  router.get('/Users', at(listUsers));
  router.post('/Users', at(createScimUser));
  router.get('/Users/:id', at(readScimUser));
  router.put('/Users/:id', at(replaceUser));
  router.patch('/Users/:id', at(patchUser));
  router.delete('/Users/:id', at(deleteUser));
  router.get('/Groups', at(listGroups));
  router.post('/Groups', at(createGroupResource));
  router.get('/Groups/:id', at(readScimGroup));
  router.put('/Groups/:id', at(replaceGroup));
  router.patch('/Groups/:id', at(patchGroup));
  router.delete('/Groups/:id', at(deleteGroup));
  router.get('/ServiceProviderConfig', at(readDiscovery));
  router.get('/ResourceTypes', at(readResourceTypes));
  router.get('/ResourceTypes/:id', at(readResourceTypes));
  router.get('/Schemas', at(readSchemas));
  router.get('/Schemas/:id', at(readSchemas));
  return router;
}

/** Builds the family (contract 2). Answers are `application/scim+json` when the client accepts it, else JSON. */
export function createScimFamily(runtime: SandboxRuntime): ApiFamily {
  const mount = '/api/scim/v2';
  return {
    mounts: [mount],
    routers: [{ mount, router: createRouter(runtime) }],
    authenticate: (request) => enter(runtime, request),
    render,
    mediaType: (request) =>
      request.headers.accept?.toLowerCase().includes('application/scim+json')
        ? 'application/scim+json'
        : 'application/json',
  };
}
