// Builds the control-plane part of `GET /state` (docs/sandbox.md), without API secrets.
import type { SandboxJsonObject } from '../json.ts';
import type { CurrentState } from '../state.ts';

export function showDeployments(current: CurrentState): SandboxJsonObject[] {
  return [...current.state.deployments.values()].map((deployment) => ({
    id: deployment.id,
    name: deployment.name,
    createdAt: new Date(deployment.createdAtMs).toISOString(),
    agents: deployment.agents,
    tokenAuthentication: deployment.tokenAuthentication,
    release: deployment.release,
  }));
}

export function showBranches(current: CurrentState): SandboxJsonObject[] {
  return [...current.state.deployments.values()].flatMap(({ id: deploymentId, branches }) =>
    branches.map(({ isStagingEnabled, ...branch }) => ({
      deploymentId,
      ...branch,
      isStagingEnvironmentEnabled: isStagingEnabled,
      isViewed: current.state.branchViews.has(`${deploymentId}/${branch.name}`),
    })),
  );
}
