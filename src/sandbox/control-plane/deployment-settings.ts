// Handles `GET` and `PUT /api/v1/deployments/{id}`, including the change of version (contract 4.5).
import { audit, bodyOf, type Call, type Reply } from '../call.ts';
import { isObject, optionalBoolean, optionalText, own, type JsonObject } from '../json.ts';
import { Problem } from '../problem.ts';
import type { Deployment } from '../records.ts';
import { productionBranch } from './deployments.ts';
import { deploymentOf, reachedDeployment, requirePermission } from './reach.ts';
import { noteRun } from './releases.ts';
import { toImage, wantedRelease } from './versions.ts';

/** Returns the settings record of an answer. */
export function toSettingsView(call: Call, deployment: Deployment): JsonObject {
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

/** Handles `GET`: 200; 403, 404. */
export function readDeployment(call: Call): Reply {
  return { status: 200, body: toSettingsView(call, reachedDeployment(call)) };
}

interface Change {
  readonly name: string | null;
  readonly version: string | null;
  readonly channel: string | null;
  readonly isHeld: boolean | undefined;
  readonly templateVariables: JsonObject | null;
}

function changeOf(body: JsonObject): Change {
  const name = optionalText(body, 'name');
  if (name?.trim() === '') throw new Problem(400, 'name must not be empty');
  const templateVariables = own(body, 'templateVariables') ?? null;
  if (templateVariables !== null && !isObject(templateVariables)) {
    throw new Problem(400, 'templateVariables must be an object');
  }
  return {
    name,
    version: optionalText(body, 'releaseChannelVersion'),
    channel: optionalText(body, 'releaseChannel'),
    isHeld: optionalBoolean(body, 'releaseChannelVersionHold'),
    templateVariables,
  };
}

/** A version that is not the newest of its channel is pinned unless the client says otherwise. */
function releaseAfter(call: Call, deployment: Deployment, change: Change): Deployment['release'] {
  const { release } = deployment;
  if (change.version === null && change.channel === null) {
    return { ...release, isHeld: change.isHeld ?? release.isHeld };
  }
  const { channel, version, isHead } = wantedRelease(call.state, release, change);
  return { channel, version, isHeld: change.isHeld ?? !isHead };
}

/**
 * Handles `PUT`: absent and null properties stay; the image follows the version and cannot be set. 200 with the
 * settings; 400 (version not listed, unknown channel), 403 without `DeploymentUpdate`, 404.
 */
export function updateDeployment(call: Call): Reply {
  const change = changeOf(bodyOf(call));
  const deployment = deploymentOf(call);
  requirePermission(call, 'DeploymentUpdate', deployment.id);
  const changed: Deployment = {
    ...deployment,
    name: change.name ?? deployment.name,
    templateVariables: { ...deployment.templateVariables, ...change.templateVariables },
    release: releaseAfter(call, deployment, change),
  };
  call.state.deployments.set(deployment.id, changed);
  noteRun(call.state, changed.release);
  const { channel, version } = changed.release;
  audit(call, 'Updated deployment configuration', { name: changed.name, channel, version }, changed.name);
  return { status: 200, body: toSettingsView(call, changed) };
}
