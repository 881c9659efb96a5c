// Defines the types of the platform's requests and answers as its API documents them, for the client and for the
// sandbox. The platform may send more properties, and may send ids as numbers or text (readers.ts).

/** Id on the wire: SCIM ids are text; REST ids are integers in answers and text in requests. */
export type WireId = string | number;

/** The record `T` after reading, with its id as text. */
export type WithTextId<T extends { id: WireId }> = Omit<T, 'id'> & { id: string };

// SCIM (RFC 7643, 7644; /api/scim/v2)

export interface WireMeta {
  resourceType?: string;
  created?: string;
  lastModified?: string;
  location?: string;
  version?: string;
}

export interface WireName {
  givenName?: string;
  familyName?: string;
  formatted?: string;
}

export interface WireEmail {
  value: string;
  type?: string;
  primary?: boolean;
}

export interface WireMember {
  /** SCIM id of a user. */
  value: string;
  display?: string;
  type?: string;
}

/**
 * Body that creates or replaces a user; null clears an attribute of the extension. The extension accepts single texts and
 * numbers only.
 */
export interface WireUserInput {
  schemas?: string[];
  externalId?: string;
  userName: string;
  displayName?: string;
  name?: WireName;
  emails?: WireEmail[];
  active?: boolean;
  'urn:cube:params:1.0:UserAttribute'?: Record<string, string | number | null>;
}

/**
 * User resource in answers. `id` is opaque; it may differ from the id of the console user. Without `active` the answer does not
 * show whether the account is active.
 */
export interface WireUser extends WireUserInput {
  id: string;
  groups?: { value: string; display?: string }[];
  meta?: WireMeta;
}

export interface WireGroupInput {
  schemas?: string[];
  externalId?: string;
  displayName: string;
  members?: WireMember[];
}

/** Group resource in answers. `members` is absent when it was excluded, and may be absent when it is empty. */
export interface WireGroup extends WireGroupInput {
  id: string;
  meta?: WireMeta;
}

/** One operation of a SCIM PATCH (RFC 7644 §3.5.2); `op` is sent in lower case. */
export interface PlatformPatchOperation {
  op: 'add' | 'replace' | 'remove';
  path?: string;
  value?: unknown;
}

export interface WirePatch {
  schemas: string[];
  Operations: PlatformPatchOperation[];
}

// REST (/api/v1)

/** A further name under which a user signs in. */
export interface WireUserAlias {
  id: WireId;
  userId: WireId;
  username: string;
  source: 'ldap' | 'saml' | 'scim' | 'manual';
}

export interface WireConsoleUser {
  id: WireId;
  email: string;
  username: string;
  isAdmin: boolean;
  firstName?: string | null;
  externalId?: string | null;
  /** Id of the user at the SAML identity provider. */
  samlId?: string | null;
  isDeactivated?: boolean | null;
  defaultRoles?: string[] | null;
  aliases?: WireUserAlias[] | null;
}

/** A console user after reading: the account that attribute values belong to. */
export type ConsoleUser = WithTextId<WireConsoleUser>;

export type UserAttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';

export interface UserAttributeInput {
  name: string;
  type: UserAttributeType;
  displayName?: string | null;
  description?: string | null;
  /** Text for every type. A default widens access for users without a value (contract 12.9). */
  defaultValue?: string | null;
}

export interface WireUserAttribute extends UserAttributeInput {
  id: WireId;
}

/** An attribute definition after reading. */
export type UserAttribute = WithTextId<WireUserAttribute>;

/** Null means unset; an empty text or list is a value. */
export type AttributeValue = string | number | boolean | string[] | number[] | null;

/** Body of POST /api/v1/user-attribute-values: both ids are sent as text. */
export interface WireAttributeValueInput {
  userId: string;
  userAttributeId: string;
  value: AttributeValue;
}

export interface WireUserAttributeValue {
  userId: WireId;
  userAttributeId: WireId;
  name: string;
  type: UserAttributeType;
  displayName?: string | null;
  description?: string | null;
  value?: AttributeValue;
  /** The effective value: the stored one, else the default. */
  formattedValue?: AttributeValue;
}

/** A stored attribute value after reading: both ids are text. */
export type UserAttributeValue = Omit<WireUserAttributeValue, 'userId' | 'userAttributeId'> & {
  userId: string;
  userAttributeId: string;
};
