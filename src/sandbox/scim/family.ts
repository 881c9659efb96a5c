// Builds the SCIM family `/api/scim/v2`: authorisation, and errors in the form of RFC 7644 §3.12.
import type { Request } from 'express';
import { authenticate, requireAdmin, type Caller } from '../auth.ts';
import type { HandlerReply } from '../call.ts';
import type { ApiFamily } from '../family.ts';
import { SandboxProblem } from '../problem.ts';
import { createRoutes, type Route } from '../routes.ts';
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

const ROUTES: readonly Route[] = [
  ['get', '/Users', listUsers],
  ['post', '/Users', createScimUser],
  ['get', '/Users/:id', readScimUser],
  ['put', '/Users/:id', replaceUser],
  ['patch', '/Users/:id', patchUser],
  ['delete', '/Users/:id', deleteUser],
  ['get', '/Groups', listGroups],
  ['post', '/Groups', createGroupResource],
  ['get', '/Groups/:id', readScimGroup],
  ['put', '/Groups/:id', replaceGroup],
  ['patch', '/Groups/:id', patchGroup],
  ['delete', '/Groups/:id', deleteGroup],
  ['get', '/ServiceProviderConfig', readDiscovery],
  ['get', '/ResourceTypes', readResourceTypes],
  ['get', '/ResourceTypes/:id', readResourceTypes],
  ['get', '/Schemas', readSchemas],
  ['get', '/Schemas/:id', readSchemas],
];

/** Builds the family (contract 2). Answers are `application/scim+json` when the client accepts it, else JSON. */
export function createScimFamily(runtime: SandboxRuntime): ApiFamily {
  const mount = '/api/scim/v2';
  return {
    mounts: [mount],
    routers: [createRoutes(runtime, mount, ROUTES)],
    authenticate: (request) => enter(runtime, request),
    render,
    mediaType: (request) =>
      request.headers.accept?.toLowerCase().includes('application/scim+json')
        ? 'application/scim+json'
        : 'application/json',
  };
}
