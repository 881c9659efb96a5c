// Defines the SCIM schema and message URNs.
export const SCIM_USER_URN = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const SCIM_GROUP_URN = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const LIST_URN = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const PATCH_URN = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const SCIM_ERROR_URN = 'urn:ietf:params:scim:api:messages:2.0:Error';
/** The platform's user-attribute extension (contract 2.4). */
export const EXTENSION_URN = 'urn:cube:params:1.0:UserAttribute';
