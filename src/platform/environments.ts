// Reads environments and branches of a deployment, and creates metadata tokens (contract 4.2 to 4.4).
import { isRecord } from './answer.ts';
import { identified, optionalMember } from './fields.ts';
import type { Reader } from './readers.ts';
import { toWireId, type CallOptions, type Send } from './request.ts';
import { listByOffset } from './rest-list.ts';

export type EnvironmentType = 'production' | 'staging' | 'development';

export interface Environment {
  id: string;
  name: string;
  type: EnvironmentType;
  /** Base address of the data API. */
  restUrl?: string;
  sql?: { host: string; port: number };
}

export interface MetaToken {
  /** Gives access to metadata, not to rows. It is a secret and must not be logged. */
  token: string;
  createdAt: string;
  expiresAt: string;
}

export interface Branch {
  id: string;
  name: string;
  parentBranch?: string;
  lastHash?: string;
  isStagingEnvironmentEnabled: boolean;
}

export interface PlatformEnvironments {
  list(
    deploymentId: string,
    filter?: { type?: EnvironmentType },
    options?: CallOptions,
  ): AsyncIterable<Environment>;
  /**
   * Creates a token that sees the metadata with the rights of `securityContext`. The default lifetime is one
   * hour, because some tenants allow no more (contract 4.3). Renew the token at `expiresAt`.
   */
  createMetaToken(
    at: { deploymentId: string; environmentId: string },
    input: { securityContext: Record<string, unknown>; expiresInSeconds?: number },
    options?: CallOptions,
  ): Promise<MetaToken>;
}

export interface PlatformBranches {
  list(deploymentId: string, options?: CallOptions): AsyncIterable<Branch>;
  /** Idempotent. PlatformResponse 400 for the production branch and personal branches, 404 for an unknown one. */
  setStaging(
    deploymentId: string,
    branch: { branchName: string } | { branchId: string },
    enabled: boolean,
    options?: CallOptions,
  ): Promise<Branch>;
}

const ENVIRONMENTS = '/api/v1/deployments/{deploymentId}/environments';
const TOKENS = `${ENVIRONMENTS}/{environmentId}/tokens-for-meta-sync`;
const BRANCHES = '/build/api/v1/deployments/{deploymentId}/branches';
const STAGING = `${BRANCHES}/staging-environment`;

/**
 * Returns the credentials of one protocol from either published form: an object by name, or a list of typed
 * entries.
 */
function credentialsOf(credentials: unknown, type: 'rest' | 'sql'): Record<string, unknown> {
  const found: unknown = Array.isArray(credentials)
    ? credentials.find((entry) => isRecord(entry) && entry['type'] === type)
    : isRecord(credentials)
      ? credentials[type]
      : undefined;
  return isRecord(found) ? found : {};
}

const readEnvironment: Reader<Environment> = (body, refuse) => {
  const members = identified(body, 'environment', refuse);
  const { url } = credentialsOf(members.all['api_credentials'], 'rest');
  const { host, port } = credentialsOf(members.all['api_credentials'], 'sql');
  const isSql = typeof host === 'string' && typeof port === 'number';
  return {
    id: members.id,
    name: members.optionalText('name') ?? members.optionalText('branch') ?? members.id,
    type: members.text('type') as EnvironmentType,
    ...optionalMember('restUrl', typeof url === 'string' ? url : undefined),
    ...optionalMember('sql', isSql ? { host, port } : undefined),
  };
};

const readMetaToken: Reader<MetaToken> = (body, refuse) => {
  const data = isRecord(body) ? body['data'] : undefined;
  const { token, created_at, expires_at } = isRecord(data) ? data : {};
  if (typeof token !== 'string' || token === '' || typeof expires_at !== 'string') {
    throw refuse('no metadata token with an expiry');
  }
  return { token, createdAt: typeof created_at === 'string' ? created_at : '', expiresAt: expires_at };
};

const readBranch: Reader<Branch> = (body, refuse) => {
  const members = identified(body, 'branch', refuse);
  return {
    id: members.id,
    name: members.text('name'),
    ...optionalMember('parentBranch', members.optionalText('parentBranch')),
    ...optionalMember('lastHash', members.optionalText('lastHash')),
    isStagingEnvironmentEnabled: members.isTrue('isStagingEnvironmentEnabled'),
  };
};

/** Reads environments over `send`; every function throws what `send` throws. */
export function createEnvironments(send: Send): PlatformEnvironments {
  return {
    list: (deploymentId, { type } = {}, options) =>
      listByOffset(
        send,
        {
          route: ENVIRONMENTS,
          params: { deploymentId },
          query: { type },
          read: readEnvironment,
          member: 'environments',
        },
        options,
      ),
    createMetaToken: (at, { securityContext, expiresInSeconds = 3600 }, options) =>
      send(
        {
          family: 'rest',
          method: 'POST',
          route: TOKENS,
          params: at,
          body: { security_context: securityContext, expires_in: expiresInSeconds },
          read: readMetaToken,
        },
        options,
      ),
  };
}

/** Reads branches over `send`; every function throws what `send` throws. */
export function createBranches(send: Send): PlatformBranches {
  return {
    list: (deploymentId, options) =>
      listByOffset(send, { route: BRANCHES, params: { deploymentId }, read: readBranch }, options),
    async setStaging(deploymentId, branch, enabled, options) {
      const call = { method: 'PUT', route: STAGING, correlationId: options?.correlationId };
      const named = 'branchId' in branch ? { branchId: toWireId('branchId', branch.branchId, call) } : branch;
      const read: Reader<Branch> = (body, refuse) =>
        readBranch(isRecord(body) ? body['data'] : undefined, refuse);
      const body = { enabled, ...named };
      return send(
        { family: 'rest', method: 'PUT', route: STAGING, params: { deploymentId }, body, read },
        options,
      );
    },
  };
}
