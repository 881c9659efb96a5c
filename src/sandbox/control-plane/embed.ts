// Handles sessions and tokens for embedding and usage analytics (contract 10).
import { randomUUID } from 'node:crypto';
import { bodyOf, type Call, type HandlerReply } from '../call.ts';
import { signToken } from '../deployment-tokens.ts';
import { requireText } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord } from '../records.ts';
import { addRecord, recordsOf } from './collections.ts';
import { deploymentsInReach } from './reach.ts';

const HOUR_SECONDS = 3600;

/** Returns the first deployment in reach of the caller. @throws 403 */
function anyDeployment(call: Call): DeploymentRecord {
  const [found] = deploymentsInReach(call);
  if (!found) throw new SandboxProblem(403, 'You have no access to any deployment');
  return found;
}

/** Handles `POST /embed/generate-session`: 200 `{sessionId}`, which is later exchanged for a token; 400, 403. */
export function generateSession(call: Call): HandlerReply {
  // Refuses a body that is no object.
  bodyOf(call);
  const sessionId = randomUUID();
  addRecord(call, 'embed-sessions', { sessionId, deploymentId: anyDeployment(call).id });
  return { status: 200, body: { sessionId } };
}

/** Handles `POST /embed/session/token {sessionId}`: 200 `{token}`; 400, 404 unknown session. */
export async function sessionToken(call: Call): Promise<HandlerReply> {
  const wanted = requireText(bodyOf(call), 'sessionId');
  const session = recordsOf(call, 'embed-sessions').find((record) => record['sessionId'] === wanted);
  const deployment = call.state.deployments.get(String(session?.['deploymentId']));
  if (!session || !deployment) throw new SandboxProblem(404, 'Session not found');
  // An empty list allows no calls to the data API; without the claim all would be allowed (core-data/session.ts).
  const claims = { sub: wanted, scope: [] };
  const times = { nowMs: call.nowMs, expiresInSeconds: HOUR_SECONDS };
  return { status: 200, body: { token: await signToken(deployment, claims, times) } };
}

/** Handles `POST /usage-analytics/token`: 200, valid for one hour; 403. */
export async function usageToken(call: Call): Promise<HandlerReply> {
  const deployment = anyDeployment(call);
  const times = { nowMs: call.nowMs, expiresInSeconds: HOUR_SECONDS };
  return {
    status: 200,
    body: {
      // The scope `meta` allows metadata, no queries.
      token: await signToken(deployment, { scope: ['meta'] }, times),
      apiUrl: call.dataApiUrl,
      deploymentId: Number(deployment.id),
      expiresAt: new Date(call.nowMs + HOUR_SECONDS * 1000).toISOString(),
    },
  };
}
