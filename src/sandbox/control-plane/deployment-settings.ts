// Handles `POST /build/api/v1/deployments` (contract 10) and `GET` and `PUT /api/v1/deployments/{id}`, including the
// change of version (contract 4.5).
import { randomBytes } from 'node:crypto';
import { requireAdmin } from '../auth.ts';
import { audit, bodyOf, type Call, type HandlerReply } from '../call.ts';
import {
  isJsonObject,
  optionalBoolean,
  textOrNull,
  own,
  requireText,
  type SandboxJsonObject,
} from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord } from '../records.ts';
import { createDeployment, productionBranch } from './deployments.ts';
import { deploymentOf, accessibleDeployment, requirePermission } from './reach.ts';
import { noteRun } from './releases.ts';
import { toImage, wantedRelease } from './versions.ts';

/** Returns the Deployment of the specification. A deployment of the sandbox is `ready` as soon as it is created. */
function toSettingsView(call: Call, deployment: DeploymentRecord): SandboxJsonObject {
  const { channel, version, isHeld } = deployment.release;
  return {
    id: Number(deployment.id),
    name: deployment.name,
    created_at: new Date(deployment.createdAtMs).toISOString(),
    deploymentUrl: call.platformUrl,
    creationStep: 'ready',
    deployBranchName: productionBranch(deployment).name,
    releaseChannel: channel,
    releaseChannelVersion: toImage(version),
    releaseChannelVersionHold: isHeld,
    templateVariables: deployment.templateVariables,
  };
}

/** Handles `POST`: 200 with the settings of a new deployment with a production branch. @throws 400, 403 */
export function postDeployment(call: Call): HandlerReply {
  const name = requireText(bodyOf(call), 'name');
  requireAdmin(call.caller);
  const branches = [{ name: 'main', kind: 'production', owner: null } as const];
  const apiSecret = randomBytes(24).toString('hex');
  const deployment = createDeployment(call, { name, apiSecret, branches });
  audit(call, 'Created deployment', { name, deploymentId: deployment.id }, name);
  return { status: 200, body: toSettingsView(call, deployment) };
}

/** Handles `GET`: 200; 403, 404. */
export function readDeployment(call: Call): HandlerReply {
  return { status: 200, body: toSettingsView(call, accessibleDeployment(call)) };
}

/** Properties of the body of a PUT; null and undefined = not sent. */
interface Change {
  readonly name: string | null;
  readonly version: string | null;
  readonly channel: string | null;
  readonly isHeld: boolean | undefined;
  readonly templateVariables: SandboxJsonObject | null;
}

function changeOf(body: SandboxJsonObject): Change {
  const name = textOrNull(body, 'name');
  if (name?.trim() === '') throw new SandboxProblem(400, 'name must not be empty');
  const templateVariables = own(body, 'templateVariables') ?? null;
  if (templateVariables !== null && !isJsonObject(templateVariables)) {
    throw new SandboxProblem(400, 'templateVariables must be an object');
  }
  return {
    name,
    version: textOrNull(body, 'releaseChannelVersion'),
    channel: textOrNull(body, 'releaseChannel'),
    isHeld: optionalBoolean(body, 'releaseChannelVersionHold'),
    templateVariables,
  };
}

/** Returns the release after the change. A version that is not the newest of its channel is pinned by default. */
function releaseAfter(call: Call, deployment: DeploymentRecord, change: Change): DeploymentRecord['release'] {
  const { release } = deployment;
  if (change.version === null && change.channel === null) {
    return { ...release, isHeld: change.isHeld ?? release.isHeld };
  }
  const { channel, version, isHead } = wantedRelease(call.state, release, change);
  return { channel, version, isHeld: change.isHeld ?? !isHead };
}

/**
 * Handles `PUT`: absent and null properties stay. `releaseChannelVersion` is a version, also in the form `<image>:v<version>`
 * of the answer; a version with another image counts as not listed. 200 with the settings; 400 (version not listed,
 * unknown channel), 403 without `DeploymentUpdate`, 404.
 */
export function updateDeployment(call: Call): HandlerReply {
  const change = changeOf(bodyOf(call));
  const deployment = deploymentOf(call);
  requirePermission(call, 'DeploymentUpdate', deployment.id);
  const changed: DeploymentRecord = {
    ...deployment,
    name: change.name ?? deployment.name,
    templateVariables: { ...deployment.templateVariables, ...change.templateVariables },
    release: releaseAfter(call, deployment, change),
  };
  call.state.deployments.set(deployment.id, changed);
  // The version stays listed after later changes of version.
  noteRun(call.state, changed.release);
  const { channel, version } = changed.release;
  audit(call, 'Updated deployment configuration', { name: changed.name, channel, version }, changed.name);
  return { status: 200, body: toSettingsView(call, changed) };
}
