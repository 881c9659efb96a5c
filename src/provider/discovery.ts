// Answers the discovery endpoints (RFC 7644 §4) from the schemas that the bridge enforces.
import {
  listResponse,
  MAX_BULK_OPERATIONS,
  notFound,
  resourceTypeDocuments,
  schemaDocuments,
  serviceProviderConfig,
} from '../scim/index.ts';
import type { Answer, ProviderDeps } from './context.ts';
import { LIST_LIMITS } from './search.ts';

export function createDiscovery(
  { userType, groupType, eventUris }: ProviderDeps,
  /** Largest accepted body, in bytes. */
  maxPayloadSize: number,
) {
  const bulk = { maxOperations: MAX_BULK_OPERATIONS, maxPayloadSize };
  const types = [userType, groupType];
  const ok = (document: object): Answer => ({ status: 200, text: JSON.stringify(document) });
  const list = (documents: object[]): Answer =>
    ok(listResponse(documents, { totalResults: documents.length, startIndex: 1 }));

  /** Answers with the document of this id in any letter case (RFC 7644 §3.10: URNs). @throws 404 without one */
  function one(documents: Record<string, unknown>[], id: string): Answer {
    const found = documents.find((document) => String(document.id).toLowerCase() === id.toLowerCase());
    if (!found) throw notFound(`${JSON.stringify(id.slice(0, 200))} not found.`);
    return ok(found);
  }

  return {
    config: (baseUrl: string): Answer =>
      ok(
        serviceProviderConfig({
          baseUrl,
          bulk,
          maxResults: LIST_LIMITS.maxCount,
          eventUris,
          pagination: { defaultPageSize: LIST_LIMITS.defaultCount, maxPageSize: LIST_LIMITS.maxCount },
        }),
      ),
    resourceTypes: (baseUrl: string): Answer => list(resourceTypeDocuments(types, baseUrl)),
    resourceType: (baseUrl: string, id: string): Answer => one(resourceTypeDocuments(types, baseUrl), id),
    schemas: (baseUrl: string): Answer => list(schemaDocuments(types, baseUrl)),
    schema: (baseUrl: string, id: string): Answer => one(schemaDocuments(types, baseUrl), id),
  };
}
