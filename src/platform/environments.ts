// Reads environments and branches of a deployment, and creates metadata tokens (contract 4.2 to 4.4).
import { isRecord, textOrEmpty, textsIn, under, type Reader } from './readers.ts';
import { identified } from './fields.ts';
import { callsOf, toWireId, type CallOptions, type Send } from './request.ts';
import { listRest } from './rest-list.ts';

export type EnvironmentType = 'production' | 'staging' | 'development';

export interface Environment {
  id: string;
  name: string;
  type: EnvironmentType;
  /** Base address of the data API. */
  restUrl?: string;
  /** Address of the SQL API. */
  sql?: { host: string; port: number };
}

export interface MetaToken {
  /** Gives access to metadata, not to rows. It is a secret and must not be logged. */
  token: string;
  /** ISO 8601; `''` when the platform does not say it. */
  createdAt: string;
  /** ISO 8601. */
  expiresAt: string;
}

export interface Branch {
  id: string;
  name: string;
  parentBranch?: string;
  /** Hash of the newest commit. */
  lastHash?: string;
  isStagingEnvironmentEnabled: boolean;
}

const ENVIRONMENTS = '/api/v1/deployments/{deploymentId}/environments';
const TOKENS = `${ENVIRONMENTS}/{environmentId}/tokens-for-meta-sync`;
const BRANCHES = '/build/api/v1/deployments/{deploymentId}/branches';
const STAGING = `${BRANCHES}/staging-environment`;

/**
 * Returns the credentials of one protocol, or `{}`. The vendor's document (contract 4.2) has two forms: an object with one property
 * for each protocol, or a list of entries with a `type`.
 */
function credentialsOf(credentials: unknown, type: 'rest' | 'sql'): Record<string, unknown> {
  let found: unknown;
  if (Array.isArray(credentials)) {
    found = credentials.find((entry) => isRecord(entry) && entry['type'] === type);
  } else if (isRecord(credentials)) {
    found = credentials[type];
  }
  return isRecord(found) ? found : {};
}

const readEnvironment: Reader<Environment> = (body, refuse) => {
  const fields = identified(body, 'environment', refuse);
  const { url } = credentialsOf(fields.all['api_credentials'], 'rest');
  const { host, port } = credentialsOf(fields.all['api_credentials'], 'sql');
  return {
    id: fields.id,
    // In the form that the vendor published, an environment has no name, and may have a branch (contract 4.2).
    name: fields.optionalText('name') ?? fields.optionalText('branch') ?? fields.id,
    type: fields.text('type') as EnvironmentType,
    ...(typeof url === 'string' ? { restUrl: url } : {}),
    ...(typeof host === 'string' && typeof port === 'number' ? { sql: { host, port } } : {}),
  };
};

const readMetaToken: Reader<MetaToken> = (body, refuse) => {
  const data = isRecord(body) ? body['data'] : undefined;
  const { token, created_at, expires_at } = isRecord(data) ? data : {};
  if (typeof token !== 'string' || token === '' || typeof expires_at !== 'string') {
    throw refuse('no metadata token with an expiry');
  }
  return { token, createdAt: textOrEmpty(created_at), expiresAt: expires_at };
};

const readBranch: Reader<Branch> = (body, refuse) => {
  const fields = identified(body, 'branch', refuse);
  return {
    id: fields.id,
    name: fields.text('name'),
    ...textsIn(fields.all, ['parentBranch', 'lastHash']),
    isStagingEnvironmentEnabled: fields.isTrue('isStagingEnvironmentEnabled'),
  };
};

export type PlatformEnvironments = ReturnType<typeof createEnvironments>;
export type PlatformBranches = ReturnType<typeof createBranches>;

/** Reads environments over `send`; every function throws PlatformError (errors.ts). */
export function createEnvironments(send: Send) {
  return {
    /** Yields the environments of a deployment. */
    list: (deploymentId: string, { type }: { type?: EnvironmentType } = {}, options?: CallOptions) =>
      listRest(
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
    /**
     * Creates a token that sees the metadata with the rights of `securityContext`. The default lifetime is one
     * hour, because some tenants allow no more (contract 4.3). Renew the token at `expiresAt`.
     */
    createMetaToken: (
      at: { deploymentId: string; environmentId: string },
      {
        securityContext,
        expiresInSeconds = 3600,
      }: { securityContext: Record<string, unknown>; expiresInSeconds?: number },
      options?: CallOptions,
    ) =>
      callsOf(send, 'rest')(
        'POST',
        TOKENS,
        {
          params: at,
          body: { security_context: securityContext, expires_in: expiresInSeconds },
          read: readMetaToken,
        },
        options,
      ),
  };
}

/** Reads branches over `send`; every function throws PlatformError (errors.ts). */
export function createBranches(send: Send) {
  return {
    /** Yields the branches of a deployment. */
    list: (deploymentId: string, options?: CallOptions) =>
      listRest(send, { route: BRANCHES, params: { deploymentId }, read: readBranch }, options),
    /**
     * Switches the staging environment of a branch on or off. Idempotent. PlatformResponse 400 for the production branch and
     * personal branches, 404 for an unknown branch.
     */
    async setStaging(
      deploymentId: string,
      branch: { branchName: string } | { branchId: string },
      enabled: boolean,
      options?: CallOptions,
    ): Promise<Branch> {
      const call = { method: 'PUT', route: STAGING, correlationId: options?.correlationId };
      const which = 'branchId' in branch ? { branchId: toWireId('branchId', branch.branchId, call) } : branch;
      const request = {
        params: { deploymentId },
        body: { enabled, ...which },
        read: under('data', readBranch),
      };
      return callsOf(send, 'rest')('PUT', STAGING, request, options);
    },
  };
}
