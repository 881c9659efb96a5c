// The door of the platform client: SCIM users and groups, console users, user attributes and their values.
import { systemClock, type Clock } from '../support/clock.ts';
import { createAccounts, type PlatformAccounts } from './accounts.ts';
import { createGroups, type PlatformGroups } from './groups.ts';
import { createRedactor } from './redact.ts';
import type { CallOptions, PlatformCall } from './request.ts';
import { checkPositive, checkToken, parseTenantAddress } from './settings.ts';
import { createTransport } from './transport.ts';
import {
  createAttributes,
  createValues,
  type PlatformAttributes,
  type PlatformValues,
} from './user-attributes.ts';
import { createUsers, type PlatformUsers } from './users.ts';

export type { CallOptions, PlatformCall };
export type { WalkOptions } from './pages.ts';
export type { ListPage } from './readers.ts';
export type { ListRange } from './users.ts';

export interface PlatformClientOptions {
  /** Tenant base address: https, or plain http to a loopback address with `allowLoopbackHttp`. */
  url: string;
  /** Platform API key, sent as Bearer. */
  token: string;
  /** Token for SCIM; default `token`. */
  scimToken?: string;
  allowLoopbackHttp?: boolean;
  /** For one whole request including the body of the answer, milliseconds; default 15,000. */
  timeoutMs?: number;
  /** Most connections at the same time; default 8. */
  connections?: number;
  /** Awaited before every request, outside its timeout: the shared rate budget. What it throws goes through. */
  admit?: (signal?: AbortSignal) => Promise<void>;
  /** Told of every finished request; must not throw. */
  onCall?: (call: PlatformCall) => void;
  /** Default: the system's clock. */
  clock?: Clock;
}

/** Every call throws PlatformError (errors.ts) when it fails, and never retries. */
export interface PlatformClient {
  users: PlatformUsers;
  groups: PlatformGroups;
  accounts: PlatformAccounts;
  attributes: PlatformAttributes;
  values: PlatformValues;
  /** Lets running calls finish, then closes the connections; may be called twice. */
  close(): Promise<void>;
}

/**
 * Creates the client of one tenant; connects on the first call. Throws PlatformConfiguration when the address
 * is not https (or allowed loopback), holds credentials, or when a token or a number cannot be used.
 */
export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  const address = parseTenantAddress(options.url, options.allowLoopbackHttp ?? false);
  const rest = checkToken('token', options.token);
  const scim = options.scimToken === undefined ? rest : checkToken('scimToken', options.scimToken);
  const transport = createTransport({
    address,
    tokens: { scim, rest },
    timeoutMs: checkPositive('timeoutMs', options.timeoutMs ?? 15_000),
    connections: checkPositive('connections', options.connections ?? 8),
    redact: createRedactor([rest, scim]),
    clock: options.clock ?? systemClock,
    admit: options.admit,
    onCall: options.onCall,
  });
  return {
    users: createUsers(transport.send),
    groups: createGroups(transport.send),
    accounts: createAccounts(transport.send),
    attributes: createAttributes(transport.send),
    values: createValues(transport.send),
    close: () => transport.close(),
  };
}
