// Who asks: a token of a deployment's own authentication, its security context and what it may be used for.
import type { Request } from 'express';
import { resolveContext } from '../deployment-authentication.ts';
import { verifyToken } from '../deployment-tokens.ts';
import { own, type JsonObject } from '../json.ts';
import { Problem } from '../problem.ts';
import type { Deployment } from '../records.ts';
import type { Scene } from '../state.ts';
import { contextOfClaims, type SecurityContext } from './core-data.ts';

export type ApiScope = 'meta' | 'data';

export interface Session {
  readonly deployment: Deployment;
  readonly context: SecurityContext;
  readonly scopes: ReadonlySet<string>;
}

const EVERY_SCOPE: readonly ApiScope[] = ['meta', 'data'];
/** Far beyond any real token; a longer text is not worth an attempt at every deployment. */
const MAX_TOKEN_LENGTH = 16_384;

/** The token: `x-cube-authorization` before `Authorization`, without a prefix if there is one (contract 1.1). */
function tokenOf(request: Request): string {
  const sent = request.headers['x-cube-authorization'] ?? request.headers.authorization;
  const header = (Array.isArray(sent) ? sent[0] : sent)?.trim();
  if (!header) throw new Problem(403, "Authorization header isn't set");
  const [first = '', second] = header.split(/\s+/);
  return second ?? first;
}

/**
 * What the token opens. Without a `scope` claim everything; a token for chat reads data too, because the agent asks
 * with it (platform interface, Chat API authentication 5); else exactly what is named.
 */
function scopesOf(claims: JsonObject): ReadonlySet<string> {
  const claim = own(claims, 'scope');
  if (claim === undefined || claim === null) return new Set(EVERY_SCOPE);
  const named: readonly unknown[] =
    typeof claim === 'string' ? claim.split(/\s+/) : Array.isArray(claim) ? claim : [];
  const texts = named.filter((one) => typeof one === 'string');
  return new Set(texts.includes('chat') ? [...texts, ...EVERY_SCOPE] : texts);
}

/** A meta-sync token is signed with the secret whatever way the deployment checks other tokens (ASSUMED-57). */
async function metaSyncClaims(
  deployment: Deployment,
  token: string,
  nowMs: number,
): Promise<JsonObject | null> {
  const claims = await verifyToken(deployment, token, nowMs);
  const scope = claims && own(claims, 'scope');
  return Array.isArray(scope) && scope.length === 1 && scope[0] === 'meta' ? claims : null;
}

/** The session of a request; throws 403 with the fixed texts of contract 1.3 (ASSUMED-07). */
export async function openSession(request: Request, scene: Scene): Promise<Session> {
  const token = tokenOf(request);
  const { nowMs, state } = scene;
  // One host serves all deployments of the sandbox: the signature tells whose token it is.
  for (const deployment of token.length > MAX_TOKEN_LENGTH ? [] : state.deployments.values()) {
    const claims =
      (await resolveContext(deployment, token, nowMs)) ?? (await metaSyncClaims(deployment, token, nowMs));
    if (claims) return { deployment, context: contextOfClaims(claims), scopes: scopesOf(claims) };
  }
  throw new Problem(403, 'Invalid token');
}

/** Throws 403 when the session's token is not for this. */
export function requireScope(session: Session, scope: ApiScope): void {
  if (!session.scopes.has(scope)) throw new Problem(403, `API scope is missing: ${scope}`);
}
