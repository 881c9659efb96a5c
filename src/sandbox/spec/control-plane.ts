// Defines the schemas of the control plane (contract 4.1 to 4.6, 4.9, 10).
import { META_TOKEN_DEFAULT_SECONDS } from '../settings.ts';
import {
  each,
  anyObject,
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
  type SpecSchema,
} from './parts.ts';

/**
 * A page in both forms: `data` with `pagination` by offset, and `items` with `pageInfo` by cursor (contract 4.0). The two forms
 * describe the same object by different properties, so each has a schema of its own.
 */
const paged = (data: SpecSchema, items: SpecSchema): SpecSchema =>
  record(['data', 'pagination', 'items', 'pageInfo'], {
    data,
    pagination: ref('Pagination'),
    items,
    pageInfo: ref('PageInfo'),
  });
/** Settings of a deployment, which a PUT may change. */
const settings = {
  ...each(textSchema, 'name', 'releaseChannel', 'releaseChannelVersion'),
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
  // An entry of `data` in DeploymentsList.
  DeploymentListItem: record(['id', 'name', 'created_at'], {
    id: textSchema,
    name: textSchema,
    created_at: momentSchema,
  }),
  // An entry of `items` in DeploymentsList, and the answer to the calls of one deployment.
  Deployment: record(['id', 'name'], {
    id: integer,
    created_at: momentSchema,
    ...each(textSchema, 'deploymentUrl', 'creationStep', 'deployBranchName'),
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
  // An entry of `data` in EnvironmentsList.
  Environment: record(['id', 'name', 'type', 'api_credentials'], {
    id: textSchema,
    name: textSchema,
    type: ref('EnvironmentType'),
    api_credentials: record(['rest', 'sql'], {
      rest: record(['url'], { url: textSchema }),
      sql: record(['host', 'port'], { host: textSchema, port: integer }),
    }),
  }),
  // An entry of `items` in EnvironmentsList.
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
    expires_in: { type: 'number', minimum: 1, default: META_TOKEN_DEFAULT_SECONDS, description: 'Seconds.' },
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
      ...each(textSchema, 'releaseChannelVersion', 'version', 'releaseChannel'),
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
    ...each(textSchema, 'name', 'parentBranch', 'lastHash'),
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
