// Handles environment variables of a deployment: upsert by name; values of sensitive names are masked (contract 10).
import { audit, bodyOf, type Call, type HandlerReply } from '../call.ts';
import { objectList, own, requireText, type SandboxJsonObject } from '../json.ts';
import { SECRET_WORDS } from '../masking.ts';
import { SandboxProblem } from '../problem.ts';
import { recordsOf, setRecords } from './collections.ts';
import { deploymentOf, accessibleDeployment, requirePermission } from './reach.ts';

const PLACEHOLDER = '[ENCRYPTED]';

function answerList(call: Call): HandlerReply {
  const items = recordsOf(call, 'env-vars').map(({ name, value }) => ({
    name,
    value: SECRET_WORDS.test(String(name)) ? PLACEHOLDER : value,
  }));
  return { status: 200, body: { items, data: items } };
}

/** Handles `GET`: 200 with the list under both published names, `items` and `data`; 403, 404. */
export function listVariables(call: Call): HandlerReply {
  accessibleDeployment(call);
  return answerList(call);
}

/**
 * Parses `{name, value}`.
 * @throws 400 for other forms, and for the placeholder of a masked value: a list that is sent back must not overwrite secrets
 */
function variableOf(source: SandboxJsonObject): SandboxJsonObject {
  const name = requireText(source, 'name');
  const value = own(source, 'value');
  if (typeof value !== 'string') throw new SandboxProblem(400, `The value of ${name} must be text`);
  if (value === PLACEHOLDER) throw new SandboxProblem(400, `${PLACEHOLDER} is not a value for ${name}`);
  return { name, value };
}

/** Handles `PUT {items: [{name, value}]}`: other variables stay; 200 with all, 400, 403, 404. */
export function putVariables(call: Call): HandlerReply {
  const body = bodyOf(call);
  // An answer has the list under both names, and a client may send either back.
  const changes = objectList(body, Object.hasOwn(body, 'items') ? 'items' : 'data').map(variableOf);
  const deployment = deploymentOf(call);
  requirePermission(call, 'DeploymentUpdate', deployment.id);
  const merged = new Map(recordsOf(call, 'env-vars').map((variable) => [variable['name'], variable]));
  for (const change of changes) merged.set(change['name'], change);
  setRecords(call, 'env-vars', [...merged.values()]);
  const names = changes.map(({ name }) => name);
  audit(call, 'Updated deployment configuration', { variables: names }, deployment.name);
  return answerList(call);
}
