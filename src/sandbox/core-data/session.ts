// Opens the session of a request: verifies the deployment's token and reads its security context and scopes.
import type { Request } from 'express';
import { resolveContext } from '../deployment-authentication.ts';
import { verifyToken } from '../deployment-tokens.ts';
import { own, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import { contextOfClaims, type CoreDataSecurityContext } from './security-context.ts';

/** Scopes of the data API: `meta` metadata, `data` queries, `sql` the SQL text of queries (contract 5.5). */
export type ApiScope = 'meta' | 'data' | 'sql';

export interface CoreDataSession {
  readonly deployment: DeploymentRecord;
  readonly context: CoreDataSecurityContext;
  readonly scopes: ReadonlySet<string>;
}

const EVERY_SCOPE: readonly ApiScope[] = ['meta', 'data', 'sql'];
/** Longest accepted token: a longer one would be expensive to verify against each deployment. */
const MAX_TOKEN_LENGTH = 16_384;

/**
 * Returns the token of `x-cube-authorization`, else of `Authorization`. It is the second word of the header, or the
 * only one (contract 1.1). @throws 403 without a token
 */
function tokenOf(request: Request): string {
  const sent = request.headers['x-cube-authorization'] ?? request.headers.authorization;
  const [first = '', second] = ((Array.isArray(sent) ? sent[0] : sent) ?? '').trim().split(' ');
  const token = second ?? first;
  if (token === '') throw new SandboxProblem(403, "Authorization header isn't set");
  return token;
}

/**
 * Returns the scopes of a token: the claim `scope` is a list, or a text with blanks between. Without the claim, and for chat,
 * the token has all scopes of the data API: the agent of a chat uses the token for its queries (ADR 0012).
 */
function scopesOf(claims: SandboxJsonObject): ReadonlySet<string> {
  const claim = own(claims, 'scope');
  if (claim === undefined || claim === null) return new Set(EVERY_SCOPE);
  const named: readonly unknown[] = typeof claim === 'string' ? claim.split(/\s+/) : [claim].flat();
  const texts = named.filter((scope) => typeof scope === 'string');
  return new Set(texts.includes('chat') ? [...texts, ...EVERY_SCOPE] : texts);
}

/**
 * Returns the claims of a meta-sync token (contract 4.3), with which a tool reads metadata; null for any other token. The
 * platform makes it, always with `scope: ["meta"]` and signed with the API secret, also when the deployment verifies other
 * tokens in another way (ASSUMED-57).
 */
async function metaSyncClaims(
  deployment: DeploymentRecord,
  token: string,
  nowMs: number,
): Promise<SandboxJsonObject | null> {
  const claims = await verifyToken(deployment, token, nowMs);
  const scope = claims && own(claims, 'scope');
  return Array.isArray(scope) && scope.length === 1 && scope[0] === 'meta' ? claims : null;
}

/** Opens the session of a request; throws 403 with the fixed texts of contract 1.3 (ASSUMED-07). */
export async function openCoreDataSession(request: Request, current: CurrentState): Promise<CoreDataSession> {
  const token = tokenOf(request);
  const { nowMs, state } = current;
  if (token.length > MAX_TOKEN_LENGTH) throw new SandboxProblem(403, 'Invalid token');
  // One host serves all deployments of the sandbox, so the signature identifies the deployment.
  for (const deployment of state.deployments.values()) {
    const claims =
      (await resolveContext(deployment, token, nowMs)) ?? (await metaSyncClaims(deployment, token, nowMs));
    if (claims) return { deployment, context: contextOfClaims(claims), scopes: scopesOf(claims) };
  }
  throw new SandboxProblem(403, 'Invalid token');
}

/** Throws 403 when the token lacks the scope. */
export function requireScope(session: CoreDataSession, scope: ApiScope): void {
  if (!session.scopes.has(scope)) throw new SandboxProblem(403, `API scope is missing: ${scope}`);
}
