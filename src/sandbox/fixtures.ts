// Serves `POST /fixtures` of the control port: creates objects directly, without the calls and checks of the public interface
// (docs/sandbox.md).
import { makeAgent, setChatAuthentication } from './chat/fixtures.ts';
import {
  type SandboxJsonObject,
  objectList,
  optionalBoolean,
  textOrNull,
  optionalTexts,
  own,
  requireText,
} from './json.ts';
import { makeAuditEvent, makeDeployment, makeRelease } from './control-plane/fixtures.ts';
import { SandboxProblem } from './problem.ts';
import { readTime, requireOwner, type MakeFixture } from './fixture.ts';
import type { Credential, UserRecord } from './records.ts';
import type { Secrets } from './secrets.ts';
import type { CurrentState } from './state.ts';
import { createPerson } from './users/people.ts';
import { makeFolder, makeGrant, makeReport, makeWorkbook } from './workspace/fixtures.ts';

/** Creates a user. The role Admin is stored as `isAdmin` (records.ts); without `roles` the user gets the default role. */
function makeUser(current: CurrentState, source: SandboxJsonObject): SandboxJsonObject {
  const userName = requireText(source, 'userName');
  const named = optionalTexts(source, 'roles');
  const isAdmin = (optionalBoolean(source, 'isAdmin') ?? false) || (named ?? []).includes('Admin');
  const user = createPerson(current, {
    userName,
    email: textOrNull(source, 'email') ?? userName,
    firstName: textOrNull(source, 'firstName'),
    externalId: textOrNull(source, 'externalId'),
    isAdmin,
    isDeactivated: optionalBoolean(source, 'isDeactivated') ?? false,
    permissions: new Set(optionalTexts(source, 'permissions')),
    // `manual` is the source of the alias of a user whom an administrator created (contract 3.3).
    aliasSource: 'manual',
    ...(named ? { roles: new Set(named.filter((name) => name !== 'Admin')) } : {}),
  });
  return { ...source, id: user.id, userName: user.userName, email: user.email, isAdmin };
}

/** Records a login of the owner of an access token, because users get access tokens by logging in (contract 4.6). */
function noteLogin(current: CurrentState, owner: UserRecord): void {
  current.state.audit.add({
    timestamp: new Date(current.nowMs).toISOString(),
    userEmail: owner.email,
    eventName: 'Logged in',
    // A login is an event of the tenant, not of a deployment.
    deploymentName: '',
    ipAddress: '127.0.0.1',
    attributes: { username: owner.userName },
  });
}

/** Returns the function that creates a credential; without `deployments` the credential is valid for all deployments. */
function makeCredential(kind: Credential['kind']): MakeFixture {
  return (current, source, secrets) => {
    // API keys begin with `sk-` (contract 1.1).
    const secret = secrets.fresh(kind === 'apiKey' ? 'sk-' : '');
    const deployments = own(source, 'deployments') ?? null;
    if (deployments !== null && !Array.isArray(deployments))
      throw new SandboxProblem(400, 'deployments must be a list of ids');
    const scope = deployments && new Set(deployments.map((id: unknown) => String(id)));
    const owner = requireOwner(current, source);
    const name = textOrNull(source, 'name') ?? `${owner.userName} ${current.state.credentials.size + 1}`;
    current.state.credentials.set(secret, {
      kind,
      name,
      secret,
      ownerId: owner.id,
      deployments: scope,
      expiresAtMs: readTime(source, 'expiresAt'),
    });
    if (kind === 'oauthToken') noteLogin(current, owner);
    return { ...source, name, owner: owner.userName, [kind === 'apiKey' ? 'key' : 'token']: secret };
  };
}

function makeRole(current: CurrentState, source: SandboxJsonObject): SandboxJsonObject {
  const role = {
    id: current.state.roles.nextId(),
    name: requireText(source, 'name'),
    description: textOrNull(source, 'description'),
    isBuiltIn: false,
    policies: objectList(source, 'policies'),
  };
  current.state.roles.put(role);
  return role;
}

// The order matters: one call may create a user and an API key of that user.
const KINDS: ReadonlyMap<string, MakeFixture> = new Map<string, MakeFixture>([
  ['roles', makeRole],
  ['users', makeUser],
  ['apiKeys', makeCredential('apiKey')],
  ['oauthTokens', makeCredential('oauthToken')],
  ['releases', makeRelease],
  ['deployments', makeDeployment],
  ['agents', makeAgent],
  ['chatAuthentication', setChatAuthentication],
  ['folders', makeFolder],
  ['workbooks', makeWorkbook],
  ['reports', makeReport],
  ['grants', makeGrant],
  ['auditEvents', makeAuditEvent],
]);

/** Creates all fixtures of the body and returns the same lists with ids and secrets; throws 400, 409. */
export function createFixtures(
  current: CurrentState,
  body: SandboxJsonObject,
  secrets: Secrets,
): Record<string, SandboxJsonObject[]> {
  const unknown = Object.keys(body).find((kind) => !KINDS.has(kind));
  if (unknown !== undefined) throw new SandboxProblem(400, `Unknown kind of fixture: ${unknown}`);
  const created: Record<string, SandboxJsonObject[]> = {};
  for (const [kind, make] of KINDS) {
    if (!Object.hasOwn(body, kind)) continue;
    created[kind] = objectList(body, kind).map((source) => make(current, source, secrets));
  }
  return created;
}
