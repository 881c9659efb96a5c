// Opens the session of a chat request: owner of the thread, rights of its queries, and validity. There are three kinds: of an
// internal user (`internalSession`) or an external user (`keySession`) whom a request with an API key names, and of the external
// user whom a token names (`tokenSession`).
import { createHash } from 'node:crypto';
import {
  contextOfClaims,
  contextOfUser,
  type CoreDataSecurityContext,
} from '../core-data/security-context.ts';
import { SandboxProblem } from '../problem.ts';
import type { StoredAttributeValue, Credential, UserRecord } from '../records.ts';
import type { CurrentState } from '../state.ts';
import { valueFromText } from '../users/attribute-types.ts';
import { proveToken, type ChatCaller, type ChatProof } from './authentication.ts';
import { externalUserOf, provision, type RequestedExternalUser } from './external-users.ts';
import type { RequestedSession } from './request-body.ts';
import { ownerOfExternal, ownerOfUser } from './threads.ts';

export interface ChatSession {
  /** Owner of the threads; see ThreadRecord. */
  readonly owner: string;
  /** Null with a token. */
  readonly keyName: string | null;
  /** Users whose deletion or deactivation ends the runs of this session. */
  readonly userIds: ReadonlySet<number>;
  /** Hash that distinguishes tokens without revealing them; null with an API key. */
  readonly tokenFingerprint: string | null;
  /** Creates or updates the external user, if the session has one. @throws SandboxProblem 429 beyond the limit (ASSUMED-97) */
  admit(current: CurrentState): void;
  /** Returns false once the user is gone, the API key is invalid, or the deployment no longer accepts tokens. */
  hasAccess(current: CurrentState): boolean;
  /** Returns the current rights. @throws SandboxProblem 401 when the token is no longer valid or the internal user has left */
  context(current: CurrentState): CoreDataSecurityContext | Promise<CoreDataSecurityContext>;
}

/**
 * Returns the session of a stream request; throws SandboxProblem 400 for settings without a user (ASSUMED-79) or with
 * invalid values.
 */
export function openChatSession(
  current: CurrentState,
  caller: ChatCaller,
  settings: RequestedSession | null,
): ChatSession {
  const { proof } = caller;
  if (proof.kind === 'token') return tokenSession(caller, proof);
  if (!settings) throw new SandboxProblem(400, 'sessionSettings is required with an API key');
  if (settings.internalId !== null) return internalSession(current, settings.internalId, proof.credential);
  if (settings.externalId === null)
    throw new SandboxProblem(400, 'sessionSettings needs an externalId or an internalId');
  return keySession(current, settings, settings.externalId, proof);
}

/** Opens the session of an internal user, whose rights are those of its account. */
function internalSession(current: CurrentState, internalId: string, credential: Credential): ChatSession {
  const { id } = requireInternal(current, internalId);
  const present = ({ state }: CurrentState): UserRecord | undefined => {
    const user = state.users.get(id);
    return user?.isDeactivated === false ? user : undefined;
  };
  return {
    owner: ownerOfUser(id),
    keyName: credential.name,
    userIds: new Set([id, credential.ownerId]),
    tokenFingerprint: null,
    // An internal user exists already.
    admit: () => undefined,
    hasAccess: (now) => present(now) !== undefined && isKeyValid(now, credential),
    context: (now) => {
      const user = present(now);
      if (!user) throw new SandboxProblem(401, 'The user has left');
      return contextOfUser(now, user);
    },
  };
}

/** Finds an internal user by username (contract 6.2), else by an e-mail that only one user has; throws 400 (ASSUMED-84). */
function requireInternal({ state }: CurrentState, internalId: string): UserRecord {
  const name = internalId.trim().toLowerCase();
  const [byName] = state.users.find('userName', name);
  const byMail = state.users.find('email', name);
  const user = byName ?? (byMail.length === 1 ? byMail[0] : undefined);
  if (!user || user.isDeactivated)
    throw new SandboxProblem(400, 'internalId is not an existing internal user');
  return user;
}

/** Opens the session of an external user, whose rights the API key's request sets. */
function keySession(
  current: CurrentState,
  settings: RequestedSession,
  externalId: string,
  proof: Extract<ChatProof, { kind: 'apiKey' }>,
): ChatSession {
  const { credential } = proof;
  requireGroups(current, settings.groups ?? []);
  const given = contextOfClaims(settings.securityContext ?? {});
  // `groups` of the request replaces the groups of its securityContext. Attributes of both are merged; of two values with the
  // same name the value in `userAttributes` of the request counts.
  const context: CoreDataSecurityContext = {
    groups: settings.groups ?? given.groups,
    userAttributes: { ...given.userAttributes, ...typedAttributes(current, settings) },
  };
  const requested: RequestedExternalUser = {
    ...context,
    externalId,
    email: settings.email,
    isEphemeral: settings.isEphemeral,
    ephemeralTtlSeconds: settings.ephemeralTtlSeconds,
    securityContext: settings.securityContext ?? {},
  };
  return externalSession(requested, proof, {
    userIds: new Set([credential.ownerId]),
    tokenFingerprint: null,
    isProofValid: (now) => isKeyValid(now, credential),
    context: () => context,
  });
}

/**
 * Converts texts to the types of their attributes; throws 400 for an unknown name or unfitting text
 * (ASSUMED-85, ASSUMED-89).
 */
function typedAttributes(
  current: CurrentState,
  settings: RequestedSession,
): Record<string, StoredAttributeValue> {
  const values = (settings.userAttributes ?? []).map(({ name, value }): [string, StoredAttributeValue] => {
    const [definition] = current.state.attributes.find('name', name);
    if (!definition) throw new SandboxProblem(400, `No user attribute of the name ${name}`);
    const typed = valueFromText(definition.type, value);
    if (typed === undefined)
      throw new SandboxProblem(400, `User attribute ${name} must be a ${definition.type}`);
    return [name, typed];
  });
  return Object.fromEntries(values);
}

function requireGroups(current: CurrentState, groups: readonly string[]): void {
  const unknown = groups.find((name) => {
    const found = current.state.groups.find('displayName', name.toLowerCase());
    return !found.some(({ displayName }) => displayName === name);
  });
  // Policies compare names exactly; a similar name would grant nothing, so it is refused (ASSUMED-86).
  if (unknown !== undefined) throw new SandboxProblem(400, `No group of the name ${unknown}`);
}

/** Opens the session of an external user, whose rights the token contains. */
function tokenSession({ deployment }: ChatCaller, proof: Extract<ChatProof, { kind: 'token' }>): ChatSession {
  const { externalId, email, token, context: claims } = proof;
  const requested: RequestedExternalUser = {
    ...contextOfClaims(claims),
    externalId,
    email,
    // A token names no lifetime of the external user, so the default applies.
    isEphemeral: undefined,
    ephemeralTtlSeconds: undefined,
    securityContext: claims,
  };
  const present = (current: CurrentState) => current.state.deployments.get(deployment.id);
  return externalSession(requested, proof, {
    userIds: new Set(),
    tokenFingerprint: createHash('sha256').update(token).digest('hex').slice(0, 16),
    isProofValid: (now) => present(now)?.tokenAuthentication === true,
    context: async (now) => {
      const checker = present(now);
      if (!checker) throw new SandboxProblem(401, 'The deployment is gone');
      // The token is verified again for every query (contract 6.1).
      return contextOfClaims((await proveToken(checker, token, now.nowMs)).context);
    },
  });
}

/** Builds the session of an external user; `more` has the parts that depend on the credential. */
function externalSession(
  requested: RequestedExternalUser,
  proof: ChatProof,
  more: Pick<ChatSession, 'userIds' | 'tokenFingerprint' | 'context'> & {
    isProofValid(current: CurrentState): boolean;
  },
): ChatSession {
  return {
    ...more,
    owner: ownerOfExternal(requested.externalId),
    keyName: proof.kind === 'apiKey' ? proof.credential.name : null,
    admit: (current) => void provision(current, requested),
    hasAccess: (current) => {
      const user = externalUserOf(current.state, requested.externalId);
      if (!user || (user.expiresAtMs !== null && user.expiresAtMs <= current.nowMs)) return false;
      return more.isProofValid(current);
    },
  };
}

function isKeyValid({ state, nowMs }: CurrentState, { secret }: Credential): boolean {
  const credential = state.credentials.get(secret);
  if (!credential || (credential.expiresAtMs !== null && credential.expiresAtMs <= nowMs)) return false;
  return state.users.get(credential.ownerId)?.isDeactivated === false;
}

/** Caller of an abort: the owner name, or the API key alone when the request names no user. */
type Aborter =
  { readonly kind: 'owner'; readonly owner: string } | { readonly kind: 'key'; readonly name: string };

/** Identifies the caller of an abort without creating an external user. Throws 400 for an unknown internal user. */
export function identifyAborter(
  current: CurrentState,
  caller: ChatCaller,
  settings: RequestedSession | null,
): Aborter {
  const { proof } = caller;
  if (proof.kind === 'token') return { kind: 'owner', owner: ownerOfExternal(proof.externalId) };
  if (settings && settings.internalId !== null)
    return { kind: 'owner', owner: ownerOfUser(requireInternal(current, settings.internalId).id) };
  if (settings && settings.externalId !== null)
    return { kind: 'owner', owner: ownerOfExternal(settings.externalId) };
  return { kind: 'key', name: proof.credential.name };
}
