// Creates fixtures of `POST /fixtures`: deployments, releases and audit events (docs/sandbox.md).
import {
  isJsonObject,
  optionalBoolean,
  textOrNull,
  optionalTexts,
  own,
  requireObject,
  requireText,
} from '../json.ts';
import { readTime, type MakeFixture } from '../fixture.ts';
import { SandboxProblem } from '../problem.ts';
import { createDeployment, type NewBranch } from './deployments.ts';
import { publish } from './releases.ts';

/** Parses a branch name or `{name, kind?, owner?}`; the default kind is `production` for the first branch, else `shared`. */
function branchOf(entry: unknown, index: number): NewBranch {
  const branch = isJsonObject(entry) ? entry : { name: entry };
  const kind = own(branch, 'kind') ?? (index === 0 ? 'production' : 'shared');
  if (kind !== 'production' && kind !== 'shared' && kind !== 'personal') {
    throw new SandboxProblem(400, 'branch kind must be production, shared or personal');
  }
  return { name: requireText(branch, 'name'), kind, owner: textOrNull(branch, 'owner') };
}

/** `{name, branches?, agents?, tokenAuthentication?}`; returns the deployment with ids and the API secret. */
export const makeDeployment: MakeFixture = (current, source, secrets) => {
  const sent = own(source, 'branches') ?? ['main'];
  if (!Array.isArray(sent)) throw new SandboxProblem(400, 'branches must be a list');
  const branches = sent.map(branchOf);
  if (branches.filter((branch) => branch.kind === 'production').length !== 1) {
    throw new SandboxProblem(400, 'branches must hold exactly one production branch');
  }
  const agents = optionalTexts(source, 'agents');
  const deployment = createDeployment(current, {
    name: requireText(source, 'name'),
    apiSecret: secrets.fresh(),
    branches,
    tokenAuthentication: optionalBoolean(source, 'tokenAuthentication') ?? false,
    ...(agents ? { agents } : {}),
  });
  return { ...source, ...deployment };
};

/** `{channel, version}`: publishes a version. */
export const makeRelease: MakeFixture = (current, source) => {
  const version = requireText(source, 'version');
  if (!/^\d+(\.\d+)*$/.test(version)) throw new SandboxProblem(400, 'version must be numbers with dots');
  return { ...source, ...publish(current.state, { channel: requireText(source, 'channel'), version }) };
};

/** `{timestamp?, userEmail, eventName, deploymentName?, ipAddress?, attributes?}`; the time is stored in UTC. */
export const makeAuditEvent: MakeFixture = (current, source) => {
  const atMs = readTime(source, 'timestamp') ?? current.nowMs;
  const event = {
    timestamp: new Date(atMs).toISOString(),
    userEmail: requireText(source, 'userEmail'),
    eventName: requireText(source, 'eventName'),
    deploymentName: textOrNull(source, 'deploymentName') ?? '',
    ipAddress: textOrNull(source, 'ipAddress') ?? '127.0.0.1',
    attributes: requireObject(own(source, 'attributes') ?? {}, 'attributes'),
  };
  current.state.audit.add(event);
  return event;
};
