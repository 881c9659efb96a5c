// Builds the Platform REST family: `/api/v1` and `/build/api/v1`, one token, errors as `{error}` (contract 1.1,
// 7).
import { Router } from 'express';
import { authenticate, requireDeployment } from './auth.ts';
import { platformError } from './application.ts';
import { visitOf } from './call.ts';
import { createControlPlaneRooms } from './control-plane/room.ts';
import type { ApiFamily, Room } from './family.ts';
import { createUsersRoom } from './users/room.ts';
import { createWorkspaceRoom } from './workspace/room.ts';
import { sceneOf, type World } from './world.ts';

/** Checks the deployment of a path before all routes below it. */
function createDeploymentCheck(world: World, mount: string): Room {
  const router = Router({ caseSensitive: true });
  router.use('/deployments/:deploymentId', (request, response, next) => {
    const { caller } = visitOf(response);
    if (caller) requireDeployment(sceneOf(world), caller, request.params.deploymentId);
    next();
  });
  return { mount, router };
}

/** Mounts all routes behind the deployment check; `more` are routes built elsewhere. */
export function createPlatformFamily(world: World, more: readonly Room[]): ApiFamily {
  return {
    mounts: ['/api', '/build/api'],
    walls: [createDeploymentCheck(world, '/api/v1'), createDeploymentCheck(world, '/build/api/v1')],
    rooms: [createUsersRoom(world), createWorkspaceRoom(world), ...createControlPlaneRooms(world), ...more],
    authenticate: (request) => authenticate(request, sceneOf(world), !world.settings.strictAuthScheme),
    render: platformError,
    mediaType: () => 'application/json',
  };
}
