// Defines the names of schemas and messages (RFC 7643 §10.2 and §10.3, RFC 7644 §8.2).

export const USER_URN = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_URN = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE_USER_URN = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** Extension schema of the platform's user attributes. */
export const USER_ATTRIBUTE_URN = 'urn:cube:params:1.0:UserAttribute';

export const SERVICE_PROVIDER_CONFIG_URN = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
export const RESOURCE_TYPE_URN = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
export const SCHEMA_URN = 'urn:ietf:params:scim:schemas:core:2.0:Schema';

export const PATCH_OP_URN = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const LIST_RESPONSE_URN = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const SEARCH_REQUEST_URN = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
export const ERROR_URN = 'urn:ietf:params:scim:api:messages:2.0:Error';
