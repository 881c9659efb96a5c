// Handles environments of a deployment and tokens for their metadata (contract 4.2, 4.3).
import { bodyOf, pathText, queryText, type Call, type HandlerReply } from '../call.ts';
import { signToken } from '../deployment-tokens.ts';
import { own, requireObject, type SandboxJsonObject } from '../json.ts';
import { cursorPage, offsetPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import type { BranchRecord, DeploymentRecord } from '../records.ts';
import { META_TOKEN_DEFAULT_SECONDS, META_TOKEN_VENDOR_SECONDS, SQL_PORT } from '../settings.ts';
import type { State } from '../state.ts';
import { accessibleDeployment } from './reach.ts';

const TYPES = ['production', 'staging', 'development'] as const;
type EnvironmentType = (typeof TYPES)[number];
/** Type of the environment by kind of its branch. */
const TYPE_OF = { production: 'production', shared: 'staging', personal: 'development' } as const;

/** Returns true when the branch has a running environment that this caller may see (ASSUMED-55). */
function isListed(call: Call, deployment: DeploymentRecord, branch: BranchRecord): boolean {
  if (branch.kind === 'personal') return branch.owner === call.caller.user.userName;
  return branch.kind === 'production' || isActive(call.state, deployment, branch);
}

/** Returns true when a staging environment runs: it is enabled, or a user views its branch (contract 4.4). */
export function isActive(state: State, deployment: DeploymentRecord, branch: BranchRecord): boolean {
  return branch.isStagingEnabled || state.branchViews.has(`${deployment.id}/${branch.name}`);
}

interface Environment {
  readonly id: string;
  readonly name: string;
  readonly type: EnvironmentType;
  readonly branch: BranchRecord;
}

function environmentsOf(call: Call, deployment: DeploymentRecord): Environment[] {
  return deployment.branches
    .filter((branch) => isListed(call, deployment, branch))
    .map((branch) => ({
      id: String(branch.id),
      name: branch.name,
      type: TYPE_OF[branch.kind],
      branch,
    }));
}

/** Returns the addresses of an environment: HTTP and SQL protocol. */
function addressesOf(
  call: Call,
  deployment: DeploymentRecord,
  { branch }: Environment,
): { url: string; sql: SandboxJsonObject } {
  const { hostname } = new URL(call.platformUrl);
  const sql = { port: SQL_PORT, database: deployment.name };
  if (branch.kind === 'production') return { url: call.dataApiUrl, sql: { host: hostname, ...sql } };
  // Branches other than production are served below /dev-mode (contract 4.4).
  const dataPath = call.dataApiUrl.slice(call.platformUrl.length);
  const name = encodeURIComponent(branch.name);
  const url = `${call.platformUrl}/dev-mode/${name}${dataPath}`;
  return { url, sql: { host: `${name}.${hostname}`, ...sql } };
}

/** Returns an environment in the form of the platform's specification (contract 4.2): credentials as an object, no branch. */
function showEnvironment(call: Call, deployment: DeploymentRecord, environment: Environment): unknown {
  const { id, name, type } = environment;
  const { url, sql } = addressesOf(call, deployment, environment);
  return {
    id,
    name,
    type,
    api_credentials: { rest: { url }, sql: { host: sql['host'], port: sql['port'] } },
  };
}

/** Returns an environment in the form that the vendor published (contract 4.2): credentials as a list, and the branch. */
function showItem(call: Call, deployment: DeploymentRecord, environment: Environment): unknown {
  const { id, name, type, branch } = environment;
  const { url, sql } = addressesOf(call, deployment, environment);
  return {
    id,
    name,
    type,
    branch: branch.name,
    user: branch.owner,
    api_credentials: [
      { type: 'rest', version: 1, url },
      { type: 'sql', version: 1, ...sql },
    ],
  };
}

function typeOf(text: string | undefined): EnvironmentType | undefined {
  if (text === undefined) return undefined;
  const type = TYPES.find((known) => known === text);
  if (!type) throw new SandboxProblem(400, `type must be one of ${TYPES.join(', ')}`);
  return type;
}

/**
 * Handles `GET .../environments` with the filter `type`. The answer holds the list twice (contract 4.2): `data.environments`
 * by offset (showEnvironment), and `items` by cursor (showItem). @throws 400 (ASSUMED-54), 403, 404
 */
export function listEnvironments(call: Call): HandlerReply {
  const type = typeOf(queryText(call, 'type'));
  const deployment = accessibleDeployment(call);
  const listed = environmentsOf(call, deployment).filter((environment) => !type || environment.type === type);
  const rows = listed
    .map((environment) => ({ id: environment.branch.id, environment }))
    .sort((left, right) => left.id - right.id);
  const { page, pagination } = offsetPage(call, listed);
  return {
    status: 200,
    body: {
      data: { environments: page.map((environment) => showEnvironment(call, deployment, environment)) },
      pagination,
      ...cursorPage(call, 'environment', rows, ({ environment }) => showItem(call, deployment, environment)),
    },
  };
}

/** Returns the lifetime of a meta-sync token in seconds; 400 outside 1 to the cap (ASSUMED-56). */
function lifetimeOf(call: Call, body: SandboxJsonObject): number {
  const cap = call.settings.vendorTokenCap ? META_TOKEN_VENDOR_SECONDS : META_TOKEN_DEFAULT_SECONDS;
  const seconds = own(body, 'expires_in') ?? cap;
  if (typeof seconds !== 'number' || !(seconds >= 1 && seconds <= cap)) {
    throw new SandboxProblem(400, `expires_in must be a number of seconds from 1 to ${cap}`);
  }
  return Math.floor(seconds);
}

/**
 * Handles `POST .../environments/{id}/tokens-for-meta-sync`: 200 `{data: {token, created_at, expires_at}}`; 400, 403, 404. The
 * properties of `security_context`, except `scope`, `iat` and `exp`, become top-level claims of the token (ASSUMED-57).
 */
export async function createMetaToken(call: Call): Promise<HandlerReply> {
  const body = bodyOf(call);
  const context = requireObject(own(body, 'security_context'), 'security_context');
  const expiresInSeconds = lifetimeOf(call, body);
  const deployment = accessibleDeployment(call);
  const wanted = pathText(call, 'environmentId');
  if (!environmentsOf(call, deployment).some((environment) => environment.id === wanted)) {
    throw new SandboxProblem(404, 'Environment not found');
  }
  // Whole seconds as in the token, so that expires_at equals its `exp`.
  const createdAtMs = Math.floor(call.nowMs / 1000) * 1000;
  const claims = { ...context, scope: ['meta'] };
  const token = await signToken(deployment, claims, { nowMs: createdAtMs, expiresInSeconds });
  return {
    status: 200,
    body: {
      data: {
        token,
        created_at: new Date(createdAtMs).toISOString(),
        expires_at: new Date(createdAtMs + expiresInSeconds * 1000).toISOString(),
      },
    },
  };
}
