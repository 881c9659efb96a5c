// Checks access to deployments and permissions in them (contract 1.3, 4.1, ASSUMED-08). The router of the
// API family (platform-family.ts) has already checked that the scope of the API key contains the deployment.
import { pathText, type Call } from '../call.ts';
import type { SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord, UserRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import { grantKey, type Grant } from '../workspace/records.ts';

type DeploymentAction = 'DeploymentRead' | 'DeploymentUpdate' | 'SchemaUpdate';

/** Permissions that a grant on a deployment gives; each level includes the previous ones (ASSUMED-76). */
const GRANTED: Readonly<Record<string, readonly DeploymentAction[]>> = {
  read: ['DeploymentRead'],
  edit: ['DeploymentRead', 'SchemaUpdate'],
  manage: ['DeploymentRead', 'SchemaUpdate', 'DeploymentUpdate'],
};

/** Returns true when a list of a policy names `wanted` or, by `*`, everything. */
const includes = (list: unknown, wanted: string): boolean =>
  Array.isArray(list) && (list.includes(wanted) || list.includes('*'));

/** Returns the policies of all roles of the user. */
export const policiesOfRoles = (current: CurrentState, user: UserRecord): SandboxJsonObject[] =>
  [...user.roles].flatMap((name) =>
    current.state.roles.find('name', name.toLowerCase()).flatMap(({ policies }) => policies),
  );

/** Returns true when a role of the user has a policy for this action on this resource. */
const isInRole = (current: CurrentState, user: UserRecord, action: string, resource: string): boolean =>
  policiesOfRoles(current, user).some(
    (policy) => includes(policy['actions'], action) && includes(policy['resources'] ?? ['*'], resource),
  );

/**
 * Returns true when the user may do the action, by a permission in the whole tenant or by a role; administrators may do all.
 * @param resource the resource that a role has to name, such as a deployment id; by default only a role for all resources counts
 */
export function hasPermission(
  current: CurrentState,
  user: UserRecord,
  action: string,
  resource = '*',
): boolean {
  return user.isAdmin || user.permissions.has(action) || isInRole(current, user, action, resource);
}

/** Returns true when the user may do the action with the deployment, by hasPermission or by a grant on the deployment. */
function mayDo(
  current: CurrentState,
  user: UserRecord,
  action: DeploymentAction,
  deploymentId: string,
): boolean {
  if (hasPermission(current, user, action, deploymentId)) return true;
  const grants = current.state.grants.find('subject', grantKey(user.id, 'DEPLOYMENT', Number(deploymentId)));
  return grants.some((grant) => GRANTED[grant.action]?.includes(action));
}

/** Returns true when the user owns or was granted an item in the deployment's workspace. */
function hasItemIn(current: CurrentState, user: UserRecord, deploymentId: string): boolean {
  const { grants, workspace } = current.state;
  const isOwner = workspace
    .rows()
    .some((item) => item.deploymentId === deploymentId && item.ownerId === user.id);
  const isGranted = ({ type, itemId }: Grant): boolean =>
    type !== 'DEPLOYMENT' && workspace.get(itemId)?.deploymentId === deploymentId;
  return isOwner || grants.find('user', String(user.id)).some(isGranted);
}

/** Returns whether the caller has any access to the deployment. */
function mayAccess(call: Call, deploymentId: string): boolean {
  const { user } = call.caller;
  return mayDo(call, user, 'DeploymentRead', deploymentId) || hasItemIn(call, user, deploymentId);
}

/** Returns the deployments in the scope of the key that the caller can access (ASSUMED-04). */
export function deploymentsInReach(call: Call): DeploymentRecord[] {
  const scope = call.caller.credential.deployments;
  return [...call.state.deployments.values()].filter(
    ({ id }) => (!scope || scope.has(id)) && mayAccess(call, id),
  );
}

/** Returns the deployment of the path without checking access. @throws 404 */
export function deploymentOf(call: Call): DeploymentRecord {
  const deployment = call.state.deployments.get(pathText(call, 'deploymentId'));
  if (!deployment) throw new SandboxProblem(404, 'Deployment not found');
  return deployment;
}

/** Returns the deployment of the path. @throws 404 unknown, 403 when the caller has no access to it */
export function accessibleDeployment(call: Call): DeploymentRecord {
  const deployment = deploymentOf(call);
  if (!mayAccess(call, deployment.id)) throw new SandboxProblem(403, 'You have no access to this deployment');
  return deployment;
}

/** Throws 403 unless the caller may do the action with the deployment. */
export function requirePermission(call: Call, action: DeploymentAction, deploymentId: string): void {
  if (!mayDo(call, call.caller.user, action, deploymentId)) {
    throw new SandboxProblem(403, `The permission ${action} is missing`);
  }
}
