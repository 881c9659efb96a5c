// Creates the fixtures of chat for `POST /fixtures`: agents with scripts, by which a test sets how an agent answers (AgentScript in
// records.ts), and the token settings of a deployment.
import type { MakeFixture } from '../fixture.ts';
import {
  objectList,
  optionalBoolean,
  textOrNull,
  optionalTexts,
  own,
  requireObject,
  requireText,
  type SandboxJsonObject,
} from '../json.ts';
import { parseMethod } from '../deployment-authentication.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import type { AgentScript } from './records.ts';

function requireDeploymentOf(current: CurrentState, source: SandboxJsonObject): DeploymentRecord {
  const id = String(own(source, 'deploymentId'));
  const deployment = current.state.deployments.get(id);
  if (!deployment) throw new SandboxProblem(400, `deploymentId: no such deployment: ${id}`);
  return deployment;
}

/** Returns the script of an agent. The default path `final` is the one of a final answer (contract 6.3). @throws 400 */
function parseScript(source: SandboxJsonObject): AgentScript {
  const delay = own(source, 'recordDelayMs');
  if (delay !== undefined && (typeof delay !== 'number' || !(delay >= 0)))
    throw new SandboxProblem(400, 'recordDelayMs must be a number of milliseconds');
  const toolError = textOrNull(source, 'toolError');
  const failure = textOrNull(source, 'failure');
  const sqlQuery = textOrNull(source, 'sqlQuery');
  const finals = objectList(source, 'finals').map((entry) => ({
    content: requireText(entry, 'content'),
    graphPath: optionalTexts(entry, 'graphPath') ?? ['final'],
  }));
  return {
    ...(delay === undefined ? {} : { recordDelayMs: delay }),
    ...(toolError === null ? {} : { toolError }),
    ...(failure === null ? {} : { failure }),
    ...(sqlQuery === null ? {} : { sqlQuery }),
    ...(finals.length > 0 ? { finals } : {}),
  };
}

function freshAgentId(current: CurrentState): string {
  const used = [...current.state.deployments.values()].flatMap(({ agents }) => agents.map(Number));
  return String(Math.max(0, ...used.filter(Number.isFinite)) + 1);
}

/**
 * `agents [{deploymentId, id?, script?}]`: adds an agent, or replaces the script of an existing agent of that
 * deployment.
 */
export const makeAgent: MakeFixture = (current, source) => {
  const deployment = requireDeploymentOf(current, source);
  const agentId = textOrNull(source, 'id') ?? freshAgentId(current);
  const holder = [...current.state.deployments.values()].find(({ agents }) => agents.includes(agentId));
  if (holder && holder.id !== deployment.id)
    throw new SandboxProblem(409, `Agent ${agentId} belongs to another deployment`);
  if (!holder) {
    const agents = [...deployment.agents, agentId];
    current.state.deployments.set(deployment.id, { ...deployment, agents });
  }
  const [present] = current.state.agents.find('agentId', agentId);
  const script = parseScript(requireObject(own(source, 'script') ?? {}, 'script'));
  // Key of the sandbox's table; clients know the agent by `agentId`.
  const id = present?.id ?? current.state.agents.nextId();
  current.state.agents.put({ id, agentId, deploymentId: deployment.id, script });
  return { deploymentId: deployment.id, id: agentId, script };
};

/** `chatAuthentication [{deploymentId, tokenAuthentication?, method?}]`: sets how the deployment verifies tokens. */
export const setChatAuthentication: MakeFixture = (current, source) => {
  const deployment = requireDeploymentOf(current, source);
  const method = own(source, 'method');
  const tokenAuthentication =
    optionalBoolean(source, 'tokenAuthentication') ?? deployment.tokenAuthentication;
  const authentication =
    method === undefined ? deployment.authentication : parseMethod(requireObject(method, 'method'));
  current.state.deployments.set(deployment.id, {
    ...deployment,
    tokenAuthentication,
    ...(authentication ? { authentication } : {}),
  });
  // Without a method the API secret verifies tokens (TokenChecker).
  return { deploymentId: deployment.id, tokenAuthentication, method: authentication?.kind ?? 'secret' };
};
