// Exports the whole platform client as `scim-bridge/platform`, for other programs. The bridge itself uses
// client.ts and does not load this file.
import { createAccountWrites, type AccountWrites } from './account-writes.ts';
import { createAuditLog, type PlatformAuditLog } from './audit-log.ts';
import { createProvisioning, type PlatformClient } from './client.ts';
import { toTransportOptions, type PlatformClientOptions } from './connect.ts';
import { createDeployments, type PlatformDeployments } from './deployments.ts';
import {
  createBranches,
  createEnvironments,
  type PlatformBranches,
  type PlatformEnvironments,
} from './environments.ts';
import { createResources, type PlatformResources } from './resources.ts';
import { createRoles, createUserGroups, type PlatformRoles, type PlatformUserGroups } from './roles.ts';
import { createScimDiscovery, type PlatformDiscovery } from './scim-discovery.ts';
import { checkPositive } from './settings.ts';
import { createStreams } from './streams.ts';
import { createTransport } from './transport.ts';

export { createChatClient } from './chat.ts';
export type { AskOptions, ChatClient, ChatOptions, Question } from './chat.ts';
export { finalAnswer } from './chat-records.ts';
export type { ChatRecord, ChatState, SessionSettings, ToolCall } from './chat-records.ts';
export type { PlatformClientOptions } from './connect.ts';
export { createCoreDataClient } from './core-data.ts';
export type { CoreDataClient, CoreDataOptions, QueryOptions, SqlOptions } from './core-data.ts';
export type * from './core-data-records.ts';
export type { AuditFilter, AuditRow, PlatformAuditLog } from './audit-log.ts';
export type * from './account-writes.ts';
export type { PlatformAccounts } from './accounts.ts';
export type * from './dashboards.ts';
export type * from './deployments.ts';
export type * from './environments.ts';
export * from './errors.ts';
export type { ListPage, Reader, Refuse } from './readers.ts';
export * from './refusals.ts';
export type { CallOptions, PlatformCall } from './request.ts';
export type * from './resources.ts';
export type * from './roles.ts';
export type * from './scim-discovery.ts';
export type { ServiceOptions, TokenSource } from './service.ts';
export type * from './wire.ts';
export type * from './workspace.ts';

export interface WholePlatformOptions extends PlatformClientOptions {
  /** Longest pause within a stream, milliseconds; default 120,000. */
  idleTimeoutMs?: number;
}

/** Every call throws PlatformError when it fails. No call is retried. Core Data and chat have separate clients. */
export interface WholePlatform extends PlatformClient {
  accounts: PlatformClient['accounts'] & AccountWrites;
  roles: PlatformRoles;
  userGroups: PlatformUserGroups;
  discovery: PlatformDiscovery;
  deployments: PlatformDeployments;
  environments: PlatformEnvironments;
  branches: PlatformBranches;
  auditLog: PlatformAuditLog;
  /** Operations without a method of their own, by method and path. */
  resources: PlatformResources;
}

/**
 * Creates the client of one tenant; it connects on the first call. Throws PlatformConfiguration when the
 * address is not https (or allowed loopback) or contains credentials, a query or a fragment, or when a token or a number is
 * invalid.
 */
export function createPlatformClient(options: WholePlatformOptions): WholePlatform {
  const wire = toTransportOptions(options);
  const idleTimeoutMs = checkPositive('idleTimeoutMs', options.idleTimeoutMs ?? 120_000);
  const transport = createTransport(wire);
  const { send } = transport;
  const streams = createStreams({ ...wire, idleTimeoutMs });
  const provisioning = createProvisioning(send);
  return {
    ...provisioning,
    accounts: { ...provisioning.accounts, ...createAccountWrites(send) },
    roles: createRoles(send),
    userGroups: createUserGroups(send),
    discovery: createScimDiscovery(send),
    deployments: createDeployments(send),
    environments: createEnvironments(send),
    branches: createBranches(send),
    auditLog: createAuditLog(streams.stream),
    resources: createResources(send),
    async close() {
      await Promise.all([transport.close(), streams.close()]);
    },
  };
}
