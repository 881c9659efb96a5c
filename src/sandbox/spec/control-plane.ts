// Describes the control plane (contract 4.1 to 4.6, 4.9, 10): operations and schemas.
import {
  anyObject,
  OFFSET_AND_CURSOR,
  CURSOR,
  flagSchema,
  integer,
  listSchema,
  momentSchema,
  nullableTexts,
  oneOfWords,
  orNull,
  record,
  ref,
  textSchema,
  type OperationLine,
  type SpecSchema,
} from './parts.ts';

const DEPLOYMENT = '/api/v1/deployments/{deploymentId}';
const BUILD = '/build/api/v1/deployments/{deploymentId}';

export const CONTROL_PLANE_LINES: readonly OperationLine[] = [
  [
    'get /api/v1/deployments',
    'listDeployments',
    'Deployments that the caller can access',
    { query: OFFSET_AND_CURSOR, answer: 'DeploymentsList' },
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
    { query: ['environmentType', ...OFFSET_AND_CURSOR], answer: 'EnvironmentsList' },
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

/** A page in both forms: `data` with `pagination` by offset, and `items` with `pageInfo` by cursor (contract 4.0). */
const paged = (data: SpecSchema, items: SpecSchema): SpecSchema =>
  record(['data', 'pagination', 'items', 'pageInfo'], {
    data,
    pagination: ref('Pagination'),
    items,
    pageInfo: ref('PageInfo'),
  });
const settings = {
  name: textSchema,
  releaseChannel: textSchema,
  releaseChannelVersion: textSchema,
  releaseChannelVersionHold: flagSchema,
  templateVariables: anyObject,
};

export const CONTROL_PLANE_SCHEMAS: Readonly<Record<string, SpecSchema>> = {
  Pagination: record(['offset', 'limit', 'total'], { offset: integer, limit: integer, total: integer }),
  PageInfo: record(['hasNextPage', 'hasPreviousPage'], {
    hasNextPage: flagSchema,
    hasPreviousPage: flagSchema,
    ...nullableTexts('startCursor', 'endCursor'),
  }),
  DeploymentListItem: record(['id', 'name', 'created_at'], {
    id: textSchema,
    name: textSchema,
    created_at: momentSchema,
  }),
  Deployment: record(['id', 'name'], {
    id: integer,
    created_at: momentSchema,
    deploymentUrl: textSchema,
    creationStep: textSchema,
    deployBranchName: textSchema,
    ...settings,
  }),
  DeploymentUpdate: record(
    [],
    Object.fromEntries(Object.entries(settings).map(([name, schema]) => [name, orNull(schema)])),
  ),
  NewDeployment: record(['name'], {
    name: textSchema,
    ...nullableTexts('cloudProvider', 'region', 'targetPlatform', 'creationStep'),
  }),
  DeploymentsList: paged(
    record(['deployments'], { deployments: listSchema(ref('DeploymentListItem')) }),
    listSchema(ref('Deployment')),
  ),
  EnvironmentType: oneOfWords('production', 'staging', 'development'),
  Environment: record(['id', 'name', 'type', 'api_credentials'], {
    id: textSchema,
    name: textSchema,
    type: ref('EnvironmentType'),
    api_credentials: record(['rest', 'sql'], {
      rest: record(['url'], { url: textSchema }),
      sql: record(['host', 'port'], { host: textSchema, port: integer }),
    }),
  }),
  EnvironmentItem: record(['id', 'type', 'api_credentials'], {
    id: textSchema,
    name: textSchema,
    type: ref('EnvironmentType'),
    ...nullableTexts('branch', 'user'),
    api_credentials: listSchema(record(['type'], { type: oneOfWords('rest', 'sql'), version: integer })),
  }),
  EnvironmentsList: paged(
    record(['environments'], { environments: listSchema(ref('Environment')) }),
    listSchema(ref('EnvironmentItem')),
  ),
  MetaSyncTokenInput: record(['security_context'], {
    security_context: anyObject,
    expires_in: { type: 'number', minimum: 1, default: 86_400, description: 'Seconds.' },
  }),
  MetaSyncToken: record(['data'], {
    data: record(['token', 'created_at', 'expires_at'], {
      token: textSchema,
      created_at: momentSchema,
      expires_at: momentSchema,
    }),
  }),
  DeploymentVersion: record(
    ['releaseChannelVersion', 'version', 'releaseChannel', 'isLatestInChannel', 'isCurrent'],
    {
      releaseChannelVersion: textSchema,
      version: textSchema,
      releaseChannel: textSchema,
      isLatestInChannel: flagSchema,
      isCurrent: flagSchema,
    },
  ),
  DeploymentVersions: record(['data'], {
    data: listSchema(ref('DeploymentVersion')),
    items: listSchema(ref('DeploymentVersion')),
    pageInfo: ref('PageInfo'),
  }),
  Branch: record(['id', 'name', 'parentBranch', 'lastHash', 'isStagingEnvironmentEnabled'], {
    id: integer,
    name: textSchema,
    parentBranch: textSchema,
    lastHash: textSchema,
    isStagingEnvironmentEnabled: flagSchema,
  }),
  BranchReply: record(['data'], { data: ref('Branch') }),
  BranchesList: record(['data', 'items'], {
    data: listSchema(ref('Branch')),
    items: listSchema(ref('Branch')),
    pageInfo: ref('PageInfo'),
  }),
  StagingEnvironmentInput: {
    ...record(['enabled'], {
      enabled: flagSchema,
      branchName: orNull(textSchema),
      branchId: orNull(integer),
    }),
    description: 'Exactly one of branchName and branchId.',
  },
  Variables: record(['items'], {
    items: listSchema(record(['name', 'value'], { name: textSchema, value: textSchema })),
  }),
  TenantSettings: record([], { auditLogEnabled: flagSchema, hasSupportAccess: flagSchema }),
};
