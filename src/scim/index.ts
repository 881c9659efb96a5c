// Exports the SCIM protocol (RFC 7643, RFC 7644) as pure functions; other folders import only this file.
export type { Schema } from './attributes.ts';
export { parseCursor, toCursor } from './cursor.ts';
export * from './errors.ts';
export { equalityOf, evaluateFilter, requiredValues } from './filter/evaluate.ts';
export { comparisonsIn, evaluateInSteps, selectInSteps } from './filter/evaluate-in-steps.ts';
export type { Filter } from './filter/filter.ts';
export { foldCase } from './json.ts';
export { parseFilter } from './filter/parser.ts';
export {
  listResponse,
  listResponseText,
  parseListQuery,
  parseSearchRequest,
  readQuery,
  type ListPosition,
  type ListQuery,
} from './list-response.ts';
export { scanBody } from './json.ts';
export { checkLengths, checkMemberLengths, type LengthLimits } from './validate.ts';
export { applyPatch } from './patch/apply.ts';
export { Comparisons } from './patch/comparisons.ts';
export { plainValues, type PlainValues } from './patch/plain-values.ts';
export { membersOf, splitMembers } from './patch/members.ts';
export type { PatchMemberStep, PatchOperation } from './patch/operation.ts';
export { parsePatch } from './patch/parse.ts';
export { keepImmutable, withActive } from './immutable.ts';
export { parsePath } from './path.ts';
export {
  deviations,
  hasUniqueExternalIds,
  profileOf,
  suggestProfile,
  type DeviationName,
  type Profile,
  type ProfileName,
} from './profiles.ts';
export { parseProjection, project, wants, type Projection } from './project.ts';
export { readPath } from './read-path.ts';
export {
  createResourceType,
  groupResourceType,
  userResourceType,
  type Resource,
  type ResourceType,
} from './resource-type.ts';
export { resourceTypeDocuments, schemaDocuments, serviceProviderConfig } from './schemas/discovery.ts';
export type { CustomSchema } from './schemas/custom.ts';
export type { UserAttributeDefinition } from './schemas/user-attribute.ts';
export { compareKeys, parseSort, type Sort, type SortKey } from './sort.ts';
export { spanningType } from './spanning-type.ts';
export * from './urns.ts';
export { parseResource } from './validate.ts';
export { planBulk, type BulkStep } from './bulk-plan.ts';
export { referencesIn, replaceReferences } from './bulk-references.ts';
export {
  BULK_RESPONSE_URN,
  MAX_BULK_OPERATIONS,
  parseBulkRequest,
  type BulkOperation,
} from './bulk-request.ts';
