// Handles branches of the data model and their staging environments under `/build/api/v1` (contract 4.4).
import { audit, bodyOf, type Call, type HandlerReply } from '../call.ts';
import { own, type SandboxJsonObject } from '../json.ts';
import { cursorPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import type { BranchRecord, DeploymentRecord } from '../records.ts';
import { productionBranch } from './deployments.ts';
import { deploymentOf, accessibleDeployment, requirePermission } from './reach.ts';

/** Returns the Branch record of the specification; the production branch has no parent. */
function showBranch(deployment: DeploymentRecord, branch: BranchRecord): unknown {
  return {
    id: branch.id,
    name: branch.name,
    parentBranch: branch.kind === 'production' ? '' : productionBranch(deployment).name,
    lastHash: branch.lastHash,
    isStagingEnvironmentEnabled: branch.isStagingEnabled,
  };
}

/** Handles `GET .../branches`: 200 `{data, items, pageInfo}`; 400 invalid paging, 403, 404. */
export function listBranches(call: Call): HandlerReply {
  const deployment = accessibleDeployment(call);
  const branches = [...deployment.branches].sort((left, right) => left.id - right.id);
  const show = (branch: BranchRecord) => showBranch(deployment, branch);
  return {
    status: 200,
    body: { data: branches.map(show), ...cursorPage(call, 'branch', branches, show) },
  };
}

interface StagingChange {
  readonly isEnabled: boolean;
  /** Returns true for the branch that the request names. */
  readonly isBranch: (branch: BranchRecord) => boolean;
}

/**
 * Parses the body; null counts as absent.
 * @throws 400 unless `enabled` is a boolean and the body has exactly one of `branchName` and `branchId`
 */
function parseStagingChange(body: SandboxJsonObject): StagingChange {
  const enabled = own(body, 'enabled');
  if (typeof enabled !== 'boolean') throw new SandboxProblem(400, 'enabled must be true or false');
  const name = own(body, 'branchName') ?? null;
  const id = own(body, 'branchId') ?? null;
  if ((name === null) === (id === null)) {
    throw new SandboxProblem(400, 'Exactly one of branchName and branchId is required');
  }
  if (name !== null && (typeof name !== 'string' || name === '')) {
    throw new SandboxProblem(400, 'branchName must be text');
  }
  if (id !== null && !Number.isInteger(id)) throw new SandboxProblem(400, 'branchId must be a whole number');
  return {
    isEnabled: enabled,
    isBranch: (branch) => (name === null ? branch.id === id : branch.name === name),
  };
}

/**
 * Handles `PUT .../branches/staging-environment`: 200 `{data: Branch}`, also without a change (ASSUMED-60); 400
 * for the production branch and personal branches (ASSUMED-58), 403 without `SchemaUpdate`, 404 unknown branch
 * (ASSUMED-59).
 */
export function setStagingEnvironment(call: Call): HandlerReply {
  const { isEnabled, isBranch } = parseStagingChange(bodyOf(call));
  const deployment = deploymentOf(call);
  const branch = deployment.branches.find(isBranch);
  if (!branch) throw new SandboxProblem(404, 'Branch not found');
  requirePermission(call, 'SchemaUpdate', deployment.id);
  if (branch.kind !== 'shared') {
    throw new SandboxProblem(400, 'Only shared branches can have a staging environment');
  }
  const changed: BranchRecord = { ...branch, isStagingEnabled: isEnabled };
  if (branch.isStagingEnabled !== isEnabled) {
    const branches = deployment.branches.map((other) => (other.id === branch.id ? changed : other));
    call.state.deployments.set(deployment.id, { ...deployment, branches });
    const attributes = { branch: branch.name, isStagingEnvironmentEnabled: isEnabled };
    audit(call, 'Updated deployment configuration', attributes, deployment.name);
  }
  return { status: 200, body: { data: showBranch(deployment, changed) } };
}
