// The operations of the control plane (contract 4.1 to 4.6, 10).
import { BOTH, CURSOR, type OperationLine } from './operation-text.ts';

const DEPLOYMENT = '/api/v1/deployments/{deploymentId}';
const BUILD = '/build/api/v1/deployments/{deploymentId}';

export const CONTROL_PLANE_LINES: readonly OperationLine[] = [
  [
    'get /api/v1/deployments',
    'listDeployments',
    'Deployments that the caller can reach',
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
