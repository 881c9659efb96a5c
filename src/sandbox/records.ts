// Defines the records of the sandbox. Records are immutable; a change stores a new record.
import type { AuthenticationMethod } from './deployment-authentication.ts';
import type { SandboxJsonObject } from './json.ts';

export type SandboxAttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';
export type StoredAttributeValue = string | number | boolean | readonly string[] | readonly number[];

export interface AttributeDefinition {
  readonly id: number;
  readonly name: string;
  readonly type: SandboxAttributeType;
  readonly displayName: string | null;
  readonly description: string | null;
  /** Default as text, for all types (contract 3.1). */
  readonly defaultValue: string | null;
}

export interface EmailEntry {
  readonly value: string;
  readonly type?: string;
  readonly primary?: boolean;
}

/** A further name that identifies the user, with the source of that name (contract 3.3). */
export interface Alias {
  readonly id: number;
  readonly username: string;
  readonly source: 'ldap' | 'saml' | 'scim' | 'manual';
  readonly createdAtMs: number;
}

/** One user; the SCIM resource and the console user are two views of this record. */
export interface UserRecord {
  readonly id: number;
  /** Id in SCIM, unless the setting `scimIdStyle` is numeric. */
  readonly uuid: string;
  readonly userName: string;
  /** E-mail of the console user, '' for none; SCIM has `emails`. */
  readonly email: string;
  readonly emails: readonly EmailEntry[];
  readonly externalId: string | null;
  readonly displayName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  /** Name of the console user; SCIM has the three names above. */
  readonly firstName: string | null;
  readonly title: string | null;
  readonly isAdmin: boolean;
  readonly isDeactivated: boolean;
  /** Role names without Admin, which is `isAdmin`. */
  readonly roles: ReadonlySet<string>;
  /** Tenant-wide permissions beside the roles, such as `AuditLogManage`. */
  readonly permissions: ReadonlySet<string>;
  readonly aliases: readonly Alias[];
  /** Settings of the console, such as `theme` (users/me.ts); null = never set. */
  readonly settings: SandboxJsonObject | null;
  /** Stored attribute values by definition id. */
  readonly values: ReadonlyMap<number, StoredAttributeValue>;
  /** First name, username and e-mail in lower case, built when stored; the user search scans it (contract 3.3). */
  readonly searchText: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface GroupRecord {
  readonly id: number;
  /** Id in SCIM, unless the setting `scimIdStyle` is numeric. */
  readonly uuid: string;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A role of the tenant, built-in or custom. `policies` grant actions on resources; built-in roles have none here. */
export interface TenantRole {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly isBuiltIn: boolean;
  readonly policies: readonly SandboxJsonObject[];
}

/** An API key or an OAuth access token. `deployments` null = access to all, `expiresAtMs` null = never. */
export interface Credential {
  readonly kind: 'apiKey' | 'oauthToken';
  readonly name: string;
  readonly secret: string;
  readonly ownerId: number;
  readonly deployments: ReadonlySet<string> | null;
  readonly expiresAtMs: number | null;
}

export interface BranchRecord {
  readonly id: number;
  readonly name: string;
  readonly kind: 'production' | 'shared' | 'personal';
  /** userName of the owner of a personal branch; null for other branches. */
  readonly owner: string | null;
  /** Keeps the staging environment active even when no user views the branch (contract 4.4). */
  readonly isStagingEnabled: boolean;
  /** 40 hex digits in place of the commit hash; the sandbox has no Git repository. */
  readonly lastHash: string;
}

/** Software version of a deployment (contract 4.5). */
export interface DeploymentRelease {
  readonly channel: string;
  /** Version without image, `1.2.3`. */
  readonly version: string;
  /** True for a pinned version, which does not follow its channel. */
  readonly isHeld: boolean;
}

export interface DeploymentRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** HMAC secret of the deployment's tokens. */
  readonly apiSecret: string;
  /** Ids of the chat agents. */
  readonly agents: readonly string[];
  /** Whether chat accepts tokens of this deployment. */
  readonly tokenAuthentication: boolean;
  /** Method that verifies tokens of this deployment; absent = the API secret. */
  readonly authentication?: AuthenticationMethod;
  readonly branches: readonly BranchRecord[];
  readonly release: DeploymentRelease;
  /** Further settings, which the sandbox stores and does not interpret. `PUT /deployments/{id}` merges them by property. */
  readonly templateVariables: SandboxJsonObject;
}

/**
 * A published version of the deployment software. The tenant lists it when it is the newest of a channel or
 * was run (contract 4.5).
 */
export interface Release {
  readonly id: number;
  readonly channel: string;
  readonly version: string;
  readonly wasRun: boolean;
}

export interface AuditRecord {
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly userEmail: string;
  readonly eventName: string;
  /** Empty for an event of the tenant as a whole. */
  readonly deploymentName: string;
  readonly ipAddress: string;
  readonly attributes: SandboxJsonObject;
}
