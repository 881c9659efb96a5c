// Serves ServiceProviderConfig, ResourceTypes and Schemas (RFC 7643 §5 to §7, contract 2.1).
import { pathText, type Call, type HandlerReply } from '../call.ts';
import { own, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { sandboxSchemaDocuments } from './schemas.ts';
import { EXTENSION_URN, SCIM_GROUP_URN, LIST_URN, SCIM_USER_URN } from './urns.ts';

const TYPE_URN = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const CONFIG_URN = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';

/** Returns all documents as a list, or the document that the path names (404 when unknown). */
function answerDocuments(call: Call, documents: readonly SandboxJsonObject[]): HandlerReply {
  // The route of the list has no `{id}`, for which pathText returns ''.
  const id = pathText(call, 'id');
  if (id === '') {
    const total = documents.length;
    const page = { totalResults: total, startIndex: 1, itemsPerPage: total };
    return { status: 200, body: { schemas: [LIST_URN], ...page, Resources: documents } };
  }
  const document = documents.find((candidate) => own(candidate, 'id') === id);
  if (!document) throw new SandboxProblem(404, `${id} not found`);
  return { status: 200, body: document };
}

/** Handles `GET /ServiceProviderConfig`. */
export function readDiscovery(call: Call): HandlerReply {
  return {
    status: 200,
    body: {
      schemas: [CONFIG_URN],
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: call.settings.pageCap },
      changePassword: { supported: false },
      sort: { supported: false },
      etag: { supported: false },
      authenticationSchemes: [
        {
          type: 'oauthbearertoken',
          name: 'Bearer',
          description: 'API key sent as Authorization: Bearer <key>',
        },
      ],
      meta: {
        resourceType: 'ServiceProviderConfig',
        location: `${call.platformUrl}/api/scim/v2/ServiceProviderConfig`,
      },
    },
  };
}

/** Handles `GET /ResourceTypes` and `/ResourceTypes/{id}`. */
export function readResourceTypes(call: Call): HandlerReply {
  const toType = (
    name: 'User' | 'Group',
    schema: string,
    schemaExtensions: SandboxJsonObject[],
  ): SandboxJsonObject => ({
    schemas: [TYPE_URN],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    schemaExtensions,
    meta: { resourceType: 'ResourceType', location: `${call.platformUrl}/api/scim/v2/ResourceTypes/${name}` },
  });
  return answerDocuments(call, [
    toType('User', SCIM_USER_URN, [{ schema: EXTENSION_URN, required: false }]),
    toType('Group', SCIM_GROUP_URN, []),
  ]);
}

/** Handles `GET /Schemas` and `/Schemas/{urn}`. */
export function readSchemas(call: Call): HandlerReply {
  return answerDocuments(call, sandboxSchemaDocuments(call.state, call.platformUrl));
}
