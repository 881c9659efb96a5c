// Authenticates chat requests by API key or deployment token, and finds the addressed agent (contract 6.1).
import type { Request } from 'express';
import { authenticate } from '../auth.ts';
import { resolveContext } from '../deployment-authentication.ts';
import { own, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { ACCOUNT_NAME } from '../ready.ts';
import type { Credential, DeploymentRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import type { ChatNames } from './names.ts';

/** Result of authentication. `externalId` of a token is in lower case. */
export type ChatProof =
  | { readonly kind: 'apiKey'; readonly credential: Credential }
  | {
      readonly kind: 'token';
      readonly token: string;
      readonly context: SandboxJsonObject;
      readonly externalId: string;
      readonly email: string | null;
    };

export interface ChatCaller {
  readonly deployment: DeploymentRecord;
  readonly agentId: string;
  /** The credential that the request was authenticated by. */
  readonly proof: ChatProof;
}

/** The parts of a chat address. */
interface ChatAddress {
  readonly accountName: string;
  readonly form: 'agents' | 'deployments';
  /** Id of the agent or of the deployment, depending on `form`. */
  readonly targetId: string;
}

const ADDRESS =
  /^\/api\/v1\/public\/([^/]+)\/(agents|deployments)\/([^/]+)\/chat\/(?:stream-chat-state|abort)\/?$/;
/** Agent of a deployment without agents of its own: the platform chooses one. */
const BUILT_IN_AGENT = 'auto';

/** Returns the decoded text, or the text itself when its encoding is invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the parts of a chat path, or undefined for any other path. */
export function parseAddress(path: string): ChatAddress | undefined {
  const [, accountName, form, targetId] = ADDRESS.exec(path) ?? [];
  if (accountName === undefined || targetId === undefined) return undefined;
  const isAgentForm = form === 'agents';
  return {
    accountName: decoded(accountName),
    form: isAgentForm ? 'agents' : 'deployments',
    targetId: decoded(targetId),
  };
}

/**
 * Returns the problem for an invalid credential; the family formats it as JSON-RPC with status 200 (ASSUMED-06,
 * ASSUMED-83).
 */
function unauthorized(why: string): SandboxProblem {
  return new SandboxProblem(401, why);
}

function requireTarget(
  current: CurrentState,
  address: ChatAddress,
): { deployment: DeploymentRecord; agentId: string } {
  if (address.accountName !== ACCOUNT_NAME) throw new SandboxProblem(404, 'Tenant not found');
  const { deployments } = current.state;
  if (address.form === 'deployments') {
    const deployment = deployments.get(address.targetId);
    if (!deployment) throw new SandboxProblem(404, 'Deployment not found');
    return { deployment, agentId: deployment.agents[0] ?? BUILT_IN_AGENT };
  }
  const owner = [...deployments.values()].find(({ agents }) => agents.includes(address.targetId));
  if (!owner) throw new SandboxProblem(404, 'Agent not found');
  return { deployment: owner, agentId: address.targetId };
}

function requirePlan(current: CurrentState): void {
  if (!current.settings.plan.chat) throw new SandboxProblem(403, 'The plan does not include chat');
}

function authenticateKey(request: Request, current: CurrentState, address: ChatAddress): ChatCaller {
  const isKey = /^api-key(\s|$)/i.test(request.headers.authorization ?? '');
  // A missing agent is reported before the key is checked (ASSUMED-82).
  if (isKey && address.form === 'deployments')
    throw new SandboxProblem(403, 'agentId is required for Api-Key authentication');
  if (!isKey) throw unauthorized('Authorization header is malformed');
  const { credential } = authenticate(request, current, { acceptsApiKeyScheme: true });
  requirePlan(current);
  const target = requireTarget(current, address);
  if (credential.deployments && !credential.deployments.has(target.deployment.id))
    throw new SandboxProblem(403, 'The API key does not reach this deployment');
  return { ...target, proof: { kind: 'apiKey', credential } };
}

/** Returns `externalId`, else `sub`; empty values and other types count as absent. */
function identityOf(context: SandboxJsonObject): string | undefined {
  const named = [own(context, 'externalId'), own(context, 'sub')];
  return named.find((value): value is string => typeof value === 'string' && value.trim() !== '');
}

/**
 * Verifies a token at `nowMs`. Throws SandboxProblem 401 for a refused token, and for claims without a user or without
 * the scope `chat`. Called again before every query of the agent, because the token may have expired.
 */
export async function proveToken(
  deployment: DeploymentRecord,
  token: string,
  nowMs: number,
): Promise<Extract<ChatProof, { kind: 'token' }>> {
  if (!deployment.tokenAuthentication) throw unauthorized('Token authentication is off for this deployment');
  const context = await resolveContext(deployment, token, nowMs);
  if (!context) throw unauthorized('Invalid token');
  const externalId = identityOf(context)?.trim().toLowerCase();
  if (externalId === undefined) throw unauthorized('The token names no externalId or sub');
  const scope = own(context, 'scope');
  if (!Array.isArray(scope) || !scope.includes('chat')) throw unauthorized('The token lacks the scope chat');
  const email = own(context, 'email');
  return { kind: 'token', token, context, externalId, email: typeof email === 'string' ? email : null };
}

/**
 * Returns the caller of a chat request. `Authorization` takes precedence over a token header, even if invalid.
 * Throws SandboxProblem 401 (invalid credential), 403 (key without agent, of other deployments, plan without
 * chat), 404 (tenant, deployment, agent).
 */
export async function authenticateChat(
  request: Request,
  current: CurrentState,
  address: ChatAddress,
  names: ChatNames,
): Promise<ChatCaller> {
  if (request.headers.authorization !== undefined) return authenticateKey(request, current, address);
  const sent = request.headers[names.tokenHeader];
  const token = Array.isArray(sent) ? sent[0] : sent;
  if (!token) throw unauthorized('A credential is missing');
  const target = requireTarget(current, address);
  const proof = await proveToken(target.deployment, token, current.nowMs);
  requirePlan(current);
  return { ...target, proof };
}
