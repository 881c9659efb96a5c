// Creates deployments, for the seed, fixtures and the build API.
import { createHash } from 'node:crypto';
import { headOf, noteRun } from './releases.ts';
import type { BranchRecord, DeploymentRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';

export type NewBranch = Pick<BranchRecord, 'name' | 'kind' | 'owner'>;

interface NewDeployment {
  readonly name: string;
  readonly apiSecret: string;
  /** Exactly one is of the kind `production`. */
  readonly branches: readonly NewBranch[];
  /** Agents of the chat; when absent, one agent with the deployment's id. */
  readonly agents?: readonly string[];
  /** Whether chat accepts tokens of this deployment; default false. */
  readonly tokenAuthentication?: boolean;
  readonly createdAtMs?: number;
  /** A listed version of a channel; default: the newest of the channel `latest`. */
  readonly release?: DeploymentRecord['release'];
}

function nextNumber(used: Iterable<number>): number {
  return Math.max(0, ...used) + 1;
}

/** Adds a deployment with the next free ids; branch ids are unique in the tenant. */
export function createDeployment(current: CurrentState, given: NewDeployment): DeploymentRecord {
  const { deployments } = current.state;
  const present = [...deployments.values()];
  const id = String(nextNumber(present.map((deployment) => Number(deployment.id))));
  const firstBranchId = nextNumber(
    present.flatMap((deployment) => deployment.branches.map((branch) => branch.id)),
  );
  const release = given.release ?? { ...headOf(current.state, 'latest'), isHeld: false };
  const deployment: DeploymentRecord = {
    id,
    name: given.name,
    createdAtMs: given.createdAtMs ?? current.nowMs,
    apiSecret: given.apiSecret,
    agents: given.agents ?? [id],
    tokenAuthentication: given.tokenAuthentication ?? false,
    branches: given.branches.map((branch, index) => ({
      ...branch,
      id: firstBranchId + index,
      isStagingEnabled: false,
      // In place of a commit hash: the sandbox has no Git repository.
      lastHash: createHash('sha1').update(`${id}/${branch.name}`).digest('hex'),
    })),
    release,
    templateVariables: {},
  };
  noteRun(current.state, release);
  deployments.set(id, deployment);
  return deployment;
}

/** Returns the production branch, which every deployment has. */
export function productionBranch(deployment: DeploymentRecord): BranchRecord {
  const branch = deployment.branches.find((candidate) => candidate.kind === 'production');
  if (!branch) throw new Error(`Deployment ${deployment.id} has no production branch`);
  return branch;
}
