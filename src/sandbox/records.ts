// What the sandbox remembers, one type per thing. Records never change; a change puts a new record.
import type { AuthenticationMethod } from './deployment-authentication.ts';
import type { JsonObject } from './json.ts';

export type AttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';
export type AttributeValue = string | number | boolean | readonly string[] | readonly number[];

export interface AttributeDefinition {
  readonly id: number;
  readonly name: string;
  readonly type: AttributeType;
  readonly displayName: string | null;
  readonly description: string | null;
  /** Text whatever the type (contract 3.1). */
  readonly defaultValue: string | null;
}

export interface EmailEntry {
  readonly value: string;
  readonly type?: string;
  readonly primary?: boolean;
}

export interface Alias {
  readonly id: number;
  readonly username: string;
  readonly source: 'ldap' | 'saml' | 'scim' | 'manual';
  readonly createdAtMs: number;
}

/** One person: the SCIM resource and the console user are two views of this record. */
export interface UserRecord {
  readonly id: number;
  readonly uuid: string;
  readonly userName: string;
  readonly email: string;
  readonly emails: readonly EmailEntry[];
  readonly externalId: string | null;
  readonly displayName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly firstName: string | null;
  readonly title: string | null;
  readonly isAdmin: boolean;
  readonly isDeactivated: boolean;
  /** Role names without Admin, which is `isAdmin`. */
  readonly roles: ReadonlySet<string>;
  readonly permissions: ReadonlySet<string>;
  readonly aliases: readonly Alias[];
  readonly settings: JsonObject | null;
  /** Stored attribute values by definition id. */
  readonly values: ReadonlyMap<number, AttributeValue>;
  /** First name, username and e-mail in lower case, made when stored: the user search scans it (contract 3.3). */
  readonly searchText: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface GroupRecord {
  readonly id: number;
  readonly uuid: string;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Role {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly isBuiltIn: boolean;
  readonly policies: readonly JsonObject[];
}

/** An API key or an OAuth access token; `deployments` null = reaches all. */
export interface Credential {
  readonly kind: 'apiKey' | 'oauthToken';
  readonly name: string;
  readonly secret: string;
  readonly ownerId: number;
  readonly deployments: ReadonlySet<string> | null;
  readonly expiresAtMs: number | null;
}

export interface Branch {
  readonly id: number;
  readonly name: string;
  readonly kind: 'production' | 'shared' | 'personal';
  /** userName of whose personal branch it is. */
  readonly owner: string | null;
  /** The staging environment stays active even while nobody views the branch (contract 4.4). */
  readonly isStagingEnabled: boolean;
  readonly lastHash: string;
}

/** The software that a deployment runs (contract 4.5). */
export interface DeploymentRelease {
  readonly channel: string;
  /** Bare version, `1.2.3`. */
  readonly version: string;
  /** The version was pinned on purpose and does not follow its channel. */
  readonly isHeld: boolean;
}

export interface Deployment {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly apiSecret: string;
  readonly agents: readonly string[];
  /** Whether chat takes tokens of this deployment. */
  readonly tokenAuthentication: boolean;
  /** How its tokens are checked; absent = by the API secret. */
  readonly authentication?: AuthenticationMethod;
  readonly branches: readonly Branch[];
  readonly release: DeploymentRelease;
  /** Further settings, merged by `PUT /deployments/{id}` and given back as they came. */
  readonly templateVariables: JsonObject;
}

/** A published version of the deployment software; the account lists it once it is a head or was run (contract 4.5). */
export interface Release {
  readonly id: number;
  readonly channel: string;
  readonly version: string;
  readonly wasRun: boolean;
}

export interface AuditEvent {
  readonly timestamp: string;
  readonly userEmail: string;
  readonly eventName: string;
  readonly deploymentName: string;
  readonly ipAddress: string;
  readonly attributes: JsonObject;
}
