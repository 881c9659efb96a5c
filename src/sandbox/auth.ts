// Who is calling, and may they (contract 1.1 to 1.3). Families differ in how they print a refusal, not in these rules.
import type { Request } from 'express';
import { Problem } from './problem.ts';
import type { Credential, UserRecord } from './records.ts';
import type { Scene } from './state.ts';

/** A proven caller: the person whose rights count, and the key or token they came with. */
export interface Caller {
  readonly user: UserRecord;
  readonly credential: Credential;
}

function unauthorized(message: string): Problem {
  return new Problem(401, message, undefined, { 'WWW-Authenticate': 'Bearer' });
}

/** True for a request that a proxy marks as plain http; it is refused with 400 (ASSUMED-03). */
export function isMarkedPlain(request: Request): boolean {
  const marked = request.headers['x-forwarded-proto'];
  const first = (Array.isArray(marked) ? marked[0] : marked)?.split(',')[0]?.trim().toLowerCase();
  return first === 'http';
}

/**
 * The caller of a Platform or SCIM request: `Bearer <API key or OAuth token>` or, where `apiKeyScheme` allows
 * it, `Api-Key <API key>`. Throws 401 for missing, malformed, unknown and expired credentials and for those of
 * a deactivated or deleted owner (ASSUMED-32).
 */
export function authenticate(request: Request, scene: Scene, apiKeyScheme: boolean): Caller {
  const header = request.headers.authorization;
  if (!header) throw unauthorized('Authorization header is missing');
  const [, scheme = '', secret = ''] = /^(\S+) +(\S+) *$/.exec(header) ?? [];
  const kind = scheme.toLowerCase();
  if (secret === '' || (kind !== 'bearer' && !(kind === 'api-key' && apiKeyScheme))) {
    throw unauthorized('Authorization header is malformed');
  }
  const credential = scene.state.credentials.get(secret);
  if (!credential || (kind === 'api-key' && credential.kind !== 'apiKey'))
    throw unauthorized('Invalid credential');
  if (credential.expiresAtMs !== null && credential.expiresAtMs <= scene.nowMs) {
    throw unauthorized('Credential has expired');
  }
  const user = scene.state.users.get(credential.ownerId);
  if (!user || user.isDeactivated) throw unauthorized('Invalid credential');
  return { user, credential };
}

/** 403 unless the caller is an administrator (ASSUMED-08). */
export function requireAdmin(caller: Caller): void {
  if (!caller.user.isAdmin) throw new Problem(403, 'Administrator rights are required');
}

/** The checks of every path below one deployment: 400 not a number, 403 out of the key's scope, 404 unknown (contract 4.0). */
export function requireDeployment(scene: Scene, caller: Caller, deploymentId: string): void {
  if (!/^\d+$/.test(deploymentId)) throw new Problem(400, 'deploymentId must be a number');
  const scope = caller.credential.deployments;
  if (scope && !scope.has(deploymentId)) throw new Problem(403, 'The API key does not reach this deployment');
  if (!scene.state.deployments.has(deploymentId)) throw new Problem(404, 'Deployment not found');
}
