// Describes the control plane (contract 4.1 to 4.6, 10): operations and schemas.
import {
  anyObject,
  BOTH,
  CURSOR,
  flag,
  integer,
  listOf,
  moment,
  nullableTexts,
  oneOfWords,
  orNull,
  record,
  ref,
  text,
  type OperationLine,
  type Schema,
} from './parts.ts';

const DEPLOYMENT = '/api/v1/deployments/{deploymentId}';
const BUILD = '/build/api/v1/deployments/{deploymentId}';

export const CONTROL_PLANE_LINES: readonly OperationLine[] = [
  [
    'get /api/v1/deployments',
    'listDeployments',
    'Deployments that the caller can access',
    { query: BOTH, answer: 'DeploymentsList' },
  ],
  [
    'post /build/api/v1/deployments',
    'createDeployment',
    'Create a deployment',
    { body: 'NewDeployment', answer: 'Deployment' },
  ],
  [`get ${DEPLOYMENT}`, 'readDeployment', 'One deployment', { answer: 'Deployment' }],
  [
    `put ${DEPLOYMENT}`,
    'updateDeployment',
    'Change settings, among them the version',
    { body: 'DeploymentUpdate', answer: 'Deployment' },
  ],
  [
    `get ${DEPLOYMENT}/versions`,
    'listDeploymentVersions',
    'Versions that the deployment can be switched to',
    { query: CURSOR, answer: 'DeploymentVersions' },
  ],
  [
    `get ${DEPLOYMENT}/environments`,
    'listEnvironments',
    'Environments of a deployment',
    { query: ['environmentType', ...BOTH], answer: 'EnvironmentsList' },
  ],
  [
    `post ${DEPLOYMENT}/environments/{environmentId}/tokens-for-meta-sync`,
    'createMetaSyncToken',
    'A token that reads metadata and nothing else',
    { body: 'MetaSyncTokenInput', answer: 'MetaSyncToken' },
  ],
  [
    `get ${BUILD}/branches`,
    'listBranches',
    'Branches of the data model',
    { query: CURSOR, answer: 'BranchesList' },
  ],
  [
    `put ${BUILD}/branches/staging-environment`,
    'setStagingEnvironment',
    'Keep the staging environment of a shared branch active, or not',
    { body: 'StagingEnvironmentInput', answer: 'BranchReply' },
  ],
  [
    'get /api/v1/audit-logs/export',
    'exportAuditLog',
    'The audit log as a CSV attachment',
    { query: ['start', 'end', 'search', 'eventName', 'userEmail'], media: 'text/csv' },
  ],
  [`get ${DEPLOYMENT}/env-vars`, 'listVariables', 'Environment variables', { answer: 'Variables' }],
  [
    `put ${DEPLOYMENT}/env-vars`,
    'putVariables',
    'Set environment variables',
    { body: 'Variables', answer: 'Variables' },
  ],
  [
    'get /api/v1/tenant/settings',
    'readTenantSettings',
    'Settings of the tenant',
    { answer: 'TenantSettings' },
  ],
  [
    'put /api/v1/tenant/settings',
    'putTenantSettings',
    'Change settings of the tenant',
    { body: 'TenantSettings', answer: 'TenantSettings' },
  ],
  ['get /api/v1/spec', 'readSpec', 'This document'],
];

const paged = (data: Schema, items: Schema): Schema =>
  record(['data', 'pagination', 'items', 'pageInfo'], {
    data,
    pagination: ref('Pagination'),
    items,
    pageInfo: ref('PageInfo'),
  });
const settings = {
  name: text,
  releaseChannel: text,
  releaseChannelVersion: text,
  releaseChannelVersionHold: flag,
  templateVariables: anyObject,
};

export const CONTROL_PLANE_SCHEMAS: Readonly<Record<string, Schema>> = {
  Pagination: record(['offset', 'limit', 'total'], { offset: integer, limit: integer, total: integer }),
  PageInfo: record(['hasNextPage', 'hasPreviousPage'], {
    hasNextPage: flag,
    hasPreviousPage: flag,
    ...nullableTexts('startCursor', 'endCursor'),
  }),
  DeploymentListItem: record(['id', 'name', 'created_at'], { id: text, name: text, created_at: moment }),
  Deployment: record(['id', 'name'], {
    id: integer,
    created_at: moment,
    deploymentUrl: text,
    creationStep: text,
    deployBranchName: text,
    ...settings,
  }),
  DeploymentUpdate: record(
    [],
    Object.fromEntries(Object.entries(settings).map(([name, schema]) => [name, orNull(schema)])),
  ),
  NewDeployment: record(['name'], {
    name: text,
    ...nullableTexts('cloudProvider', 'region', 'targetPlatform', 'creationStep'),
  }),
  DeploymentsList: paged(
    record(['deployments'], { deployments: listOf(ref('DeploymentListItem')) }),
    listOf(ref('Deployment')),
  ),
  EnvironmentType: oneOfWords('production', 'staging', 'development'),
  Environment: record(['id', 'name', 'type', 'api_credentials'], {
    id: text,
    name: text,
    type: ref('EnvironmentType'),
    api_credentials: record(['rest', 'sql'], {
      rest: record(['url'], { url: text }),
      sql: record(['host', 'port'], { host: text, port: integer }),
    }),
  }),
  EnvironmentItem: record(['id', 'type', 'api_credentials'], {
    id: text,
    name: text,
    type: ref('EnvironmentType'),
    ...nullableTexts('branch', 'user'),
    api_credentials: listOf(record(['type'], { type: oneOfWords('rest', 'sql'), version: integer })),
  }),
  EnvironmentsList: paged(
    record(['environments'], { environments: listOf(ref('Environment')) }),
    listOf(ref('EnvironmentItem')),
  ),
  MetaSyncTokenInput: record(['security_context'], {
    security_context: anyObject,
    expires_in: { type: 'number', minimum: 1, default: 86_400, description: 'Seconds.' },
  }),
  MetaSyncToken: record(['data'], {
    data: record(['token', 'created_at', 'expires_at'], {
      token: text,
      created_at: moment,
      expires_at: moment,
    }),
  }),
  DeploymentVersion: record(
    ['releaseChannelVersion', 'version', 'releaseChannel', 'isLatestInChannel', 'isCurrent'],
    {
      releaseChannelVersion: text,
      version: text,
      releaseChannel: text,
      isLatestInChannel: flag,
      isCurrent: flag,
    },
  ),
  DeploymentVersions: record(['data'], {
    data: listOf(ref('DeploymentVersion')),
    items: listOf(ref('DeploymentVersion')),
    pageInfo: ref('PageInfo'),
  }),
  Branch: record(['id', 'name', 'parentBranch', 'lastHash', 'isStagingEnvironmentEnabled'], {
    id: integer,
    name: text,
    parentBranch: text,
    lastHash: text,
    isStagingEnvironmentEnabled: flag,
  }),
  BranchReply: record(['data'], { data: ref('Branch') }),
  BranchesList: record(['data', 'items'], {
    data: listOf(ref('Branch')),
    items: listOf(ref('Branch')),
    pageInfo: ref('PageInfo'),
  }),
  StagingEnvironmentInput: {
    ...record(['enabled'], { enabled: flag, branchName: orNull(text), branchId: orNull(integer) }),
    description: 'Exactly one of branchName and branchId.',
  },
  Variables: record(['items'], { items: listOf(record(['name', 'value'], { name: text, value: text })) }),
  TenantSettings: record([], { auditLogEnabled: flag, hasSupportAccess: flag }),
};
