// Builds the Platform REST family, which serves `/api/v1` and `/build/api/v1`. Both accept the same credentials and
// answer errors as `{error}` (contract 1.1, 7).
import { Router } from 'express';
import { authenticate, requireDeployment } from './auth.ts';
import { platformError } from './application.ts';
import { callerOf } from './call.ts';
import { BUILD_ROUTES, controlPlaneRoutes } from './control-plane/routes.ts';
import type { ApiFamily, MountedRouter } from './family.ts';
import { createRoutes, type Route } from './routes.ts';
import { USER_ROUTES } from './users/routes.ts';
import { WORKSPACE_ROUTES } from './workspace/routes.ts';
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

/** Returns the family: all routes, behind the deployment check. @param more further routes below `/api/v1` */
export function createPlatformFamily(runtime: SandboxRuntime, more: readonly Route[]): ApiFamily {
  const routes = [...USER_ROUTES, ...WORKSPACE_ROUTES, ...controlPlaneRoutes(runtime), ...more];
  return {
    // No version here, so that a path of an unknown version is 404 in the error form of this family.
    mounts: ['/api', '/build/api'],
    pathChecks: [createDeploymentCheck(runtime, '/api/v1'), createDeploymentCheck(runtime, '/build/api/v1')],
    routers: [createRoutes(runtime, '/api/v1', routes), createRoutes(runtime, '/build/api/v1', BUILD_ROUTES)],
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
