// Handles `POST /build/api/v1/deployments`: creates a deployment with a production branch (contract 10).
import { randomBytes } from 'node:crypto';
import { requireAdmin } from '../auth.ts';
import { audit, bodyOf, type Call, type HandlerReply } from '../call.ts';
import { requireText } from '../json.ts';
import { toSettingsView } from './deployment-settings.ts';
import { createDeployment } from './deployments.ts';

/** Returns 200 Deployment; 400 without a name, 403 not an administrator. */
export function postDeployment(call: Call): HandlerReply {
  const name = requireText(bodyOf(call), 'name');
  requireAdmin(call.caller);
  const branches = [{ name: 'main', kind: 'production', owner: null } as const];
  const apiSecret = randomBytes(24).toString('hex');
  const deployment = createDeployment(call, { name, apiSecret, branches });
  audit(call, 'Created deployment', { name, deploymentId: deployment.id }, name);
  return { status: 200, body: toSettingsView(call, deployment) };
}
