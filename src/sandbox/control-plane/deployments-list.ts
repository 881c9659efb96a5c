// Handles `GET /api/v1/deployments`: the deployments that the caller can access. The answer holds them twice, with
// offset paging and with cursor paging (contract 4.1, ASSUMED-53).
import type { Call, HandlerReply } from '../call.ts';
import { cursorPage, offsetPage } from '../paging.ts';
import type { DeploymentRecord } from '../records.ts';
import { mayAccess } from './reach.ts';

/** Returns 200 with the deployments in the key's scope that the caller can access (ASSUMED-04); 400 for invalid paging. */
export function listDeployments(call: Call): HandlerReply {
  const scope = call.caller.credential.deployments;
  const reached = [...call.state.deployments.values()].filter(
    (deployment) => (!scope || scope.has(deployment.id)) && mayAccess(call, deployment.id),
  );
  const createdAt = (deployment: DeploymentRecord): string => new Date(deployment.createdAtMs).toISOString();
  const rows = reached.map((deployment) => ({
    id: Number(deployment.id),
    name: deployment.name,
    created_at: createdAt(deployment),
    deploymentUrl: call.platformUrl,
    creationStep: 'ready',
  }));
  const { page, pagination } = offsetPage(call, reached);
  return {
    status: 200,
    body: {
      data: {
        deployments: page.map((deployment) => ({
          id: deployment.id,
          name: deployment.name,
          created_at: createdAt(deployment),
        })),
      },
      pagination,
      ...cursorPage(call, 'deployment', rows, (row) => row),
    },
  };
}
