// Builds the Platform REST family, which serves `/api/v1` and `/build/api/v1`. Both accept the same credentials and
// answer errors as `{error}` (contract 1.1, 7).
import { Router } from 'express';
import { authenticate, requireDeployment } from './auth.ts';
import { platformError } from './application.ts';
import { callerOf } from './call.ts';
import { createControlPlaneRoutes } from './control-plane/routes.ts';
import type { ApiFamily, MountedRouter } from './family.ts';
import { createUsersRoutes } from './users/routes.ts';
import { createWorkspaceRoutes } from './workspace/routes.ts';
import { currentStateOf, type SandboxRuntime } from './runtime.ts';

/** Checks the deployment of a path before all routes below it. */
function createDeploymentCheck(runtime: SandboxRuntime, mount: string): MountedRouter {
  const router = Router({ caseSensitive: true });
  router.use('/deployments/:deploymentId', (request, response, next) => {
    requireDeployment(currentStateOf(runtime), callerOf(response), request.params.deploymentId);
    next();
  });
  return { mount, router };
}

/** Returns the family: all routes, behind the deployment check; `more` are built elsewhere. */
export function createPlatformFamily(runtime: SandboxRuntime, more: readonly MountedRouter[]): ApiFamily {
  return {
    // No version here, so that a path of an unknown version is 404 in the error form of this family.
    mounts: ['/api', '/build/api'],
    pathChecks: [createDeploymentCheck(runtime, '/api/v1'), createDeploymentCheck(runtime, '/build/api/v1')],
    routers: [
      createUsersRoutes(runtime),
      createWorkspaceRoutes(runtime),
      ...createControlPlaneRoutes(runtime),
      ...more,
    ],
    authenticate: (request) =>
      authenticate(request, currentStateOf(runtime), {
        // The vendor's client sends `Authorization: Api-Key` here (contract 1.1). With `strictAuthScheme`, tests find clients that
        // do not send Bearer.
        acceptsApiKeyScheme: !runtime.settings.strictAuthScheme,
      }),
    render: platformError,
    mediaType: () => 'application/json',
  };
}
