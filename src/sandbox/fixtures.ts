// `POST /fixtures` of the control port: things that tests need and no public call creates (interface 8).
import type { JsonObject } from './json.ts';
import {
  isObject,
  objectList,
  optionalBoolean,
  optionalText,
  optionalTexts,
  own,
  requireText,
} from './json.ts';
import { Problem } from './problem.ts';
import { requireOwner, type Make } from './fixture.ts';
import type { Branch, Credential } from './records.ts';
import type { Secrets } from './secrets.ts';
import type { Scene } from './state.ts';
import { createPerson } from './users/people.ts';
import { makeFolder, makeGrant, makeReport, makeWorkbook } from './workspace/fixtures.ts';

function makeUser(scene: Scene, source: JsonObject): JsonObject {
  const userName = requireText(source, 'userName');
  const named = optionalTexts(source, 'roles');
  const isAdmin = (optionalBoolean(source, 'isAdmin') ?? false) || (named ?? []).includes('Admin');
  const user = createPerson(scene, {
    userName,
    email: optionalText(source, 'email') ?? userName,
    firstName: optionalText(source, 'firstName'),
    externalId: optionalText(source, 'externalId'),
    isAdmin,
    isDeactivated: optionalBoolean(source, 'isDeactivated') ?? false,
    permissions: new Set(optionalTexts(source, 'permissions')),
    aliasSource: 'manual',
    ...(named ? { roles: new Set(named.filter((name) => name !== 'Admin')) } : {}),
  });
  return { ...source, id: user.id, userName: user.userName, email: user.email, isAdmin };
}

function expiryOf(source: JsonObject): number | null {
  const value = own(source, 'expiresAt') ?? null;
  if (value === null) return null;
  const ms = typeof value === 'number' || typeof value === 'string' ? new Date(value).getTime() : Number.NaN;
  if (Number.isNaN(ms)) throw new Problem(400, 'expiresAt must be a date');
  return ms;
}

function makeCredential(kind: Credential['kind']): Make {
  return (scene, source, secrets) => {
    const secret = secrets.fresh(kind === 'apiKey' ? 'sk-' : '');
    const deployments = own(source, 'deployments') ?? null;
    const scope = Array.isArray(deployments) ? new Set(deployments.map((id: unknown) => String(id))) : null;
    const owner = requireOwner(scene, source);
    const name = optionalText(source, 'name') ?? `${owner.userName} ${scene.state.credentials.size + 1}`;
    scene.state.credentials.set(secret, {
      kind,
      name,
      secret,
      ownerId: owner.id,
      deployments: scope,
      expiresAtMs: expiryOf(source),
    });
    return { ...source, name, owner: owner.userName, [kind === 'apiKey' ? 'key' : 'token']: secret };
  };
}

/** Ids that a part of the state gives out next. */
function nextNumber(used: Iterable<number | string>): number {
  return Math.max(0, ...[...used].map(Number)) + 1;
}

function makeDeployment(scene: Scene, source: JsonObject, secrets: Secrets): JsonObject {
  const all = [...scene.state.deployments.values()];
  const id = String(nextNumber(all.map((one) => one.id)));
  const firstBranchId = nextNumber(all.flatMap((one) => one.branches.map((branch) => branch.id)));
  const sent = own(source, 'branches') ?? ['main'];
  if (!Array.isArray(sent)) throw new Problem(400, 'branches must be a list');
  const branches = sent.map((entry: unknown, place): Branch => {
    const branch = isObject(entry) ? entry : { name: entry };
    const kind = own(branch, 'kind') ?? (place === 0 ? 'production' : 'shared');
    const isKnown = kind === 'production' || kind === 'shared' || kind === 'personal';
    if (!isKnown) throw new Problem(400, 'branch kind must be production, shared or personal');
    return {
      id: firstBranchId + place,
      name: requireText(branch, 'name'),
      kind,
      owner: optionalText(branch, 'owner'),
    };
  });
  const deployment = {
    id,
    name: requireText(source, 'name'),
    createdAtMs: scene.nowMs,
    apiSecret: secrets.fresh(),
    agents: optionalTexts(source, 'agents') ?? [id],
    tokenAuthentication: optionalBoolean(source, 'tokenAuthentication') ?? false,
    branches,
  };
  scene.state.deployments.set(id, deployment);
  return { ...source, ...deployment };
}

function makeRole(scene: Scene, source: JsonObject): JsonObject {
  const role = {
    id: scene.state.roles.nextId(),
    name: requireText(source, 'name'),
    description: optionalText(source, 'description'),
    isBuiltIn: false,
    policies: objectList(source, 'policies'),
  };
  scene.state.roles.put(role);
  return role;
}

function makeAuditEvent(scene: Scene, source: JsonObject): JsonObject {
  const event = {
    timestamp: optionalText(source, 'timestamp') ?? new Date(scene.nowMs).toISOString(),
    userEmail: requireText(source, 'userEmail'),
    eventName: requireText(source, 'eventName'),
    deploymentName: optionalText(source, 'deploymentName') ?? '',
    ipAddress: optionalText(source, 'ipAddress') ?? '127.0.0.1',
    attributes: objectList({ list: [own(source, 'attributes') ?? {}] }, 'list')[0] ?? {},
  };
  scene.state.audit.add(event);
  return event;
}

// In this order, so that one call may create a user and a key of that user.
const KINDS: ReadonlyMap<string, Make> = new Map<string, Make>([
  ['roles', makeRole],
  ['users', makeUser],
  ['apiKeys', makeCredential('apiKey')],
  ['oauthTokens', makeCredential('oauthToken')],
  ['deployments', makeDeployment],
  ['folders', makeFolder],
  ['workbooks', makeWorkbook],
  ['reports', makeReport],
  ['grants', makeGrant],
  ['auditEvents', makeAuditEvent],
]);

/** Creates all fixtures of the body and answers the same lists with ids and secrets; throws 400, 409. */
export function createFixtures(
  scene: Scene,
  body: JsonObject,
  secrets: Secrets,
): Record<string, JsonObject[]> {
  const unknown = Object.keys(body).find((kind) => !KINDS.has(kind));
  if (unknown !== undefined) throw new Problem(400, `Unknown kind of fixture: ${unknown}`);
  const lists = [...KINDS].flatMap(([kind, make]): [string, JsonObject[]][] =>
    Object.hasOwn(body, kind)
      ? [[kind, objectList(body, kind).map((source) => make(scene, source, secrets))]]
      : [],
  );
  return Object.fromEntries(lists);
}
