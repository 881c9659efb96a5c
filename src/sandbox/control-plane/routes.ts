// Routes the control plane, and the resources for which the specification defines a path but no fields (contract 10).
import { requireAdmin } from '../auth.ts';
import type { Call, Handler, HandlerReply } from '../call.ts';
import { hideSecrets } from '../masking.ts';
import { SandboxProblem } from '../problem.ts';
import type { Route } from '../routes.ts';
import type { SandboxRuntime } from '../runtime.ts';
import { exportAuditLog } from './audit-export.ts';
import { listBranches, setStagingEnvironment } from './branches.ts';
import { createIn, deleteFrom, listArray, listItems, readFrom } from './collections.ts';
import { postDeployment, readDeployment, updateDeployment } from './deployment-settings.ts';
import { listDeployments } from './deployments-list.ts';
import { generateSession, sessionToken, usageToken } from './embed.ts';
import { listVariables, putVariables } from './env-vars.ts';
import { createMetaToken, listEnvironments } from './environments.ts';
import { accessibleDeployment } from './reach.ts';
import { listRegions, putTenantSettings, readAppConfig, readTenantSettings } from './tenant.ts';
import { listVersions } from './versions.ts';

/** Answers 404 unless the plan has `hosted` (ASSUMED-108). */
const hosted =
  (handler: Handler): Handler =>
  (call) => {
    if (!call.settings.plan.hosted) throw new SandboxProblem(404, 'Not found');
    return handler(call);
  };
/** Refuses callers who are not administrators. */
const admin =
  (handler: Handler): Handler =>
  (call) => {
    requireAdmin(call.caller);
    return handler(call);
  };
/** Hides secrets in the answer from callers who are not administrators. */
const masked =
  (handler: (call: Call) => HandlerReply): Handler =>
  (call) => {
    const reply = handler(call);
    return call.caller.user.isAdmin ? reply : { ...reply, body: hideSecrets(reply.body) };
  };
/** Refuses callers who have no access to the deployment of the path. */
const withAccess =
  (handler: Handler): Handler =>
  (call) => {
    accessibleDeployment(call);
    return handler(call);
  };
/** Answers every caller with 200 and the same body. */
const always =
  (body: unknown): Handler =>
  () => ({ status: 200, body });

const CONTROL_PLANE: readonly Route[] = [
  ['get', '/deployments', hosted(listDeployments)],
  ['get', '/deployments/:deploymentId', hosted(readDeployment)],
  ['put', '/deployments/:deploymentId', hosted(updateDeployment)],
  ['get', '/deployments/:deploymentId/versions', hosted(listVersions)],
  ['get', '/deployments/:deploymentId/environments', hosted(listEnvironments)],
  [
    'post',
    '/deployments/:deploymentId/environments/:environmentId/tokens-for-meta-sync',
    hosted(createMetaToken),
  ],
  ['get', '/audit-logs/export', hosted(exportAuditLog)],
];

/** Routes of contract 10; their answers are minimal. */
const BY_PATH: readonly Route[] = [
  ['get', '/deployments/:deploymentId/env-vars', listVariables],
  ['put', '/deployments/:deploymentId/env-vars', putVariables],
  ['get', '/deployments/:deploymentId/dbt-sync', withAccess(listItems('dbt-sync'))],
  ['post', '/deployments/:deploymentId/dbt-sync', admin(createIn('dbt-sync'))],
  ['get', '/deployments/:deploymentId/notifications', admin(listItems('notifications'))],
  ['post', '/deployments/:deploymentId/notifications', admin(createIn('notifications'))],
  ['get', '/regions', listRegions],
  ['get', '/github/status', always({ isConnected: false })],
  ['get', '/github/installations', always({ items: [], data: [] })],
  ['get', '/oauth-integrations', masked(listArray('oauth-integrations'))],
  ['post', '/oauth-integrations', admin(createIn('oauth-integrations'))],
  ['get', '/oauth-integrations/:id', masked(readFrom('oauth-integrations'))],
  ['delete', '/oauth-integrations/:id', admin(deleteFrom('oauth-integrations'))],
  ['get', '/user-oauth-tokens', masked(listArray('user-oauth-tokens'))],
  ['get', '/user-oauth-tokens/:id', masked(readFrom('user-oauth-tokens'))],
  ['get', '/oidc-token-configs', admin(listArray('oidc-token-configs'))],
  ['post', '/oidc-token-configs', admin(createIn('oidc-token-configs'))],
  ['get', '/oidc-token-configs/:id', admin(readFrom('oidc-token-configs'))],
  ['delete', '/oidc-token-configs/:id', admin(deleteFrom('oidc-token-configs'))],
  ['get', '/app-config', readAppConfig],
  ['post', '/embed/generate-session', generateSession],
  ['post', '/embed/session/token', sessionToken],
  ['get', '/embed-tenants', admin(listItems('embed-tenants'))],
  ['post', '/usage-analytics/token', usageToken],
];

/** Routes below `/build/api/v1`. */
export const BUILD_ROUTES: readonly Route[] = [
  ['post', '/deployments', hosted(postDeployment)],
  ['get', '/deployments/:deploymentId/branches', hosted(listBranches)],
  ['put', '/deployments/:deploymentId/branches/staging-environment', hosted(setStagingEnvironment)],
  ['get', '/deployments/:deploymentId/data-model/file-hashes', withAccess(always({}))],
  ['post', '/deployments/:deploymentId/github/connect', admin(createIn('github-connections'))],
];

/** Returns the routes of contract 4.1 to 4.6 and 10. */
export const controlPlaneRoutes = (runtime: SandboxRuntime): Route[] => [
  ...CONTROL_PLANE,
  ...BY_PATH,
  ['get', '/tenant/settings', readTenantSettings],
  ['put', '/tenant/settings', putTenantSettings(runtime)],
];
