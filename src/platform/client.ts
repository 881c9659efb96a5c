// Creates the client that the bridge uses: SCIM users and groups, console users, user attributes and their
// values, and the workspace. library.ts adds the rest of the API for other programs.
import { createAccounts, type PlatformAccounts } from './accounts.ts';
import { toTransportOptions, type PlatformClientOptions } from './connect.ts';
import type { CallOptions, PlatformCall, Send, TraceCall } from './request.ts';
import {
  createGroupCalls,
  createUserCalls,
  type PlatformGroups,
  type PlatformUsers,
} from './scim-resources.ts';
import { createTransport } from './transport.ts';
import {
  createAttributes,
  createValues,
  type PlatformAttributes,
  type PlatformValues,
} from './user-attributes.ts';
import { createWorkspace, type PlatformWorkspace } from './workspace.ts';

export type { CallOptions, PlatformCall, PlatformClientOptions, TraceCall };

/** Every call throws PlatformError (errors.ts) when it fails. No call is retried. */
export interface PlatformClient {
  /** SCIM users. */
  users: PlatformUsers;
  /** SCIM groups. */
  groups: PlatformGroups;
  /** Console users: the people of `users` with the numeric ids that attribute values refer to. */
  accounts: PlatformAccounts;
  /** Definitions of user attributes. */
  attributes: PlatformAttributes;
  /** Values of user attributes. */
  values: PlatformValues;
  workspace: PlatformWorkspace;
  /** Waits for running calls, then closes the connections; may be called twice. */
  close(): Promise<void>;
}

/** Creates the client over an existing transport, which its owner closes. */
export function createProvisioning(send: Send): Omit<PlatformClient, 'close'> {
  return {
    users: createUserCalls(send),
    groups: createGroupCalls(send),
    accounts: createAccounts(send),
    attributes: createAttributes(send),
    values: createValues(send),
    workspace: createWorkspace(send),
  };
}

/**
 * Creates the client of one tenant; it connects on the first call. Throws PlatformConfiguration when the
 * address is not https (or allowed loopback) or contains credentials, a query or a fragment, or when a token or a numeric
 * option is invalid.
 */
export function connectPlatform(options: PlatformClientOptions): PlatformClient {
  const transport = createTransport(toTransportOptions(options));
  return { ...createProvisioning(transport.send), close: () => transport.close() };
}
