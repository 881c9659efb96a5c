// Parses the body of POST /Bulk (RFC 7644 §3.7).
import {
  invalidSyntax,
  invalidValue,
  methodNotAllowed,
  notFound,
  payloadTooLarge,
  type ScimError,
} from './errors.ts';
import { MAX_PATCH_OPERATIONS } from './patch/operation.ts';
import type { Profile } from './profiles.ts';
import { isObject, member, messageOf, operationsOf, type JsonObject } from './json.ts';

export const BULK_REQUEST_URN = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
export const BULK_RESPONSE_URN = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

/** Announced as `bulk.maxOperations`. authentik uses the number as limit of PATCH operations too, so both are equal. */
export const MAX_BULK_OPERATIONS = MAX_PATCH_OPERATIONS;

export interface BulkOperation {
  /** Method as the client wrote it; each result repeats it. */
  readonly method: string;
  readonly bulkId: string | undefined;
  /** Parsed `path`; `id` may be `bulkId:…`. Undefined when the path names no endpoint. */
  readonly target: { readonly endpoint: 'Users' | 'Groups'; readonly id: string | undefined } | undefined;
  /** Expected version, in the form of an If-Match header. */
  readonly version: string | undefined;
  readonly data: unknown;
  /** The first error in the operation; undefined: none. An operation with an error is not run. */
  readonly fault: ScimError | undefined;
}

interface BulkRequest {
  /** Number of errors after which no operation starts; Infinity when the client set no limit. */
  readonly failOnErrors: number;
  readonly operations: readonly BulkOperation[];
}

/**
 * `/Users`, `/Users/<id>`, and the same for `/Groups`. Length and characters of an id are limited as in the URL of a request.
 */
const PATH = /^\/(Users|Groups)(?:\/([^/?#\p{Surrogate}]{1,1000}))?\/?$/u;

function text(body: JsonObject, name: string, position: number): string | undefined {
  const value = member(body, name) ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw invalidSyntax(`Operation ${position}: "${name}" must be text.`);
}

/** Returns the first error in the fields of an operation; undefined: none. */
function faultOf(method: string, target: BulkOperation['target'], bulkId: string | undefined) {
  if (!['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
    return invalidSyntax('"method" must be POST, PUT, PATCH or DELETE.');
  if (!target)
    return notFound(
      '"path" must be "/Users" or "/Groups", with an id for an existing resource: "/Users/<id>".',
    );
  if ((method === 'POST') !== (target.id === undefined))
    return methodNotAllowed(target.id === undefined ? ['POST'] : ['PUT', 'PATCH', 'DELETE']);
  if (method === 'POST' && !bulkId) return invalidValue('A POST needs a "bulkId".');
  return undefined;
}

function toOperation(raw: unknown, position: number): BulkOperation {
  if (!isObject(raw)) throw invalidSyntax(`Operation ${position} must be an object.`);
  const method = text(raw, 'method', position);
  if (method === undefined) throw invalidSyntax(`Operation ${position}: "method" is missing.`);
  const bulkId = text(raw, 'bulkId', position);
  const [, endpoint, id] = PATH.exec(text(raw, 'path', position) ?? '') ?? [];
  const target: BulkOperation['target'] =
    endpoint === 'Users' || endpoint === 'Groups' ? { endpoint, id } : undefined;
  const version = text(raw, 'version', position);
  return {
    method,
    bulkId,
    target,
    version,
    data: member(raw, 'data'),
    fault: faultOf(method, target, bulkId),
  };
}

function failOnErrorsOf(body: JsonObject, profile: Profile): number {
  const raw = member(body, 'failOnErrors') ?? Infinity;
  const isNumeral = typeof raw === 'string' && /^\d{1,9}$/.test(raw) && profile.allows('string-numbers');
  const limit = isNumeral ? Number(raw) : raw;
  if (limit === Infinity || (Number.isSafeInteger(limit) && Number(limit) > 0)) return Number(limit);
  throw invalidValue('"failOnErrors" must be a whole number above 0.');
}

/**
 * Returns the operations of a BulkRequest. An error in one operation becomes its `fault`; an error in the message is thrown.
 * @throws 400 invalidSyntax (no BulkRequest, an operation of the wrong form), 400 invalidValue (failOnErrors, a bulkId
 * used twice, no operations), 413 for more than MAX_BULK_OPERATIONS (RFC 7644 §3.7.4).
 */
export function parseBulkRequest(body: unknown, profile: Profile): BulkRequest {
  const message = messageOf(body, BULK_REQUEST_URN, profile);
  const listed = operationsOf(message, profile, MAX_BULK_OPERATIONS, () =>
    payloadTooLarge(`A bulk request may hold at most ${MAX_BULK_OPERATIONS} operations (maxOperations).`),
  );
  const failOnErrors = failOnErrorsOf(message, profile);
  const operations = listed.map((raw, index) => toOperation(raw, index + 1));
  const seen = new Set<string>();
  for (const { bulkId } of operations) {
    if (bulkId === undefined) continue;
    if (seen.has(bulkId)) throw invalidValue(`bulkId ${JSON.stringify(bulkId.slice(0, 100))} is used twice.`);
    seen.add(bulkId);
  }
  return { failOnErrors, operations };
}
