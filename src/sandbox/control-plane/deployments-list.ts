// Handles `GET /api/v1/deployments`: the deployments that the caller can access. The answer holds them twice, with
// offset paging and with cursor paging (contract 4.1, ASSUMED-53).
import type { Call, HandlerReply } from '../call.ts';
import { cursorPage, offsetPage } from '../paging.ts';
import type { DeploymentRecord } from '../records.ts';
import { deploymentsInReach } from './reach.ts';

/** Returns 200 with the deployments in reach of the caller; 400 for invalid paging. */
export function listDeployments(call: Call): HandlerReply {
  const reached = deploymentsInReach(call);
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
