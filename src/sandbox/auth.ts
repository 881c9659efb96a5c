// Authenticates callers and checks their rights (contract 1.1 to 1.3). All API families share these rules; each formats the
// errors in its own way.
import type { Request } from 'express';
import { SandboxProblem } from './problem.ts';
import type { Credential, UserRecord } from './records.ts';
import type { CurrentState } from './state.ts';

/** An authenticated caller: the user whose rights apply, and the API key or token. */
export interface Caller {
  readonly user: UserRecord;
  readonly credential: Credential;
}

function unauthorized(message: string): SandboxProblem {
  // Undefined: RFC 7644 has a `scimType` for 400 and 409 only.
  return new SandboxProblem(401, message, undefined, { 'WWW-Authenticate': 'Bearer' });
}

/** Returns true if the first proxy reports plain http (`X-Forwarded-Proto`); such a request is refused with 400 (ASSUMED-03). */
export function isMarkedPlain(request: Request): boolean {
  const marked = request.headers['x-forwarded-proto'];
  const first = (Array.isArray(marked) ? marked[0] : marked)?.split(',')[0]?.trim().toLowerCase();
  return first === 'http';
}

/**
 * Returns the caller of a Platform or SCIM request: `Bearer <API key or OAuth token>` or, with
 * `acceptsApiKeyScheme`, `Api-Key <API key>`. Throws 401 for missing, malformed, unknown and expired credentials, and for
 * credentials of a deactivated or deleted owner (ASSUMED-32).
 */
export function authenticate(
  request: Request,
  current: CurrentState,
  { acceptsApiKeyScheme }: { readonly acceptsApiKeyScheme: boolean },
): Caller {
  const header = request.headers.authorization;
  if (!header) throw unauthorized('Authorization header is missing');
  const [, scheme = '', secret = ''] = /^(\S+) +(\S+) *$/.exec(header) ?? [];
  const kind = scheme.toLowerCase();
  if (secret === '' || (kind !== 'bearer' && !(kind === 'api-key' && acceptsApiKeyScheme))) {
    throw unauthorized('Authorization header is malformed');
  }
  const credential = current.state.credentials.get(secret);
  if (!credential || (kind === 'api-key' && credential.kind !== 'apiKey'))
    throw unauthorized('Invalid credential');
  if (credential.expiresAtMs !== null && credential.expiresAtMs <= current.nowMs) {
    throw unauthorized('Credential has expired');
  }
  const user = current.state.users.get(credential.ownerId);
  if (!user || user.isDeactivated) throw unauthorized('Invalid credential');
  return { user, credential };
}

/** Throws 403 unless the caller is an administrator (ASSUMED-08). Platform calls check body and objects first (ASSUMED-52). */
export function requireAdmin(caller: Caller): void {
  if (!caller.user.isAdmin) throw new SandboxProblem(403, 'Administrator rights are required');
}

/**
 * Checks the deployment id of a path (contract 4.0). @throws 400 not a number, 403 outside the scope of the
 * key, 404 unknown
 */
export function requireDeployment(current: CurrentState, caller: Caller, deploymentId: string): void {
  if (!/^\d+$/.test(deploymentId)) throw new SandboxProblem(400, 'deploymentId must be a number');
  const scope = caller.credential.deployments;
  if (scope && !scope.has(deploymentId))
    throw new SandboxProblem(403, 'The API key does not reach this deployment');
  if (!current.state.deployments.has(deploymentId)) throw new SandboxProblem(404, 'Deployment not found');
}
