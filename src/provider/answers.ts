// Converts stored records to answers, and outcomes of the directory to SCIM errors. The stored JSON text is a part of the answer as
// it is (`splice`). It is parsed only for a projection, or if the schema has attributes that are returned on request only.
import type { Method, PutOutcome, RemoveOutcome } from '../directory/resources/changes.ts';
import type { GroupName, Kind, StoredRecord } from '../directory/records.ts';
import {
  notFound,
  preconditionFailed,
  project,
  type Projection,
  type Resource,
  type ResourceType,
  ScimError,
  unavailable,
  uniqueness,
} from '../scim/index.ts';
import { isoTime } from '../support/sources.ts';
import type { RequestContext } from './context.ts';

/** Members of a group: ids of users, and member values that are the id of no user. */
export interface GroupMemberValues {
  users: string[];
  unresolved: string[];
}

export const locationOf = (type: ResourceType, id: string, baseUrl: string): string =>
  `${baseUrl}${type.endpoint}/${id}`;

/**
 * Adds `id`, `meta` and `extra` to the stored text. `extra` is the JSON text of a user's groups or a group's members, such as
 * `,"members":[]`, or empty.
 */
function splice(type: ResourceType, record: StoredRecord, baseUrl: string, extra: string): string {
  const created = isoTime(record.created);
  const isNew = record.lastModified === record.created;
  const lastModified = isNew ? created : isoTime(record.lastModified);
  const location = JSON.stringify(locationOf(type, record.id, baseUrl));
  const meta = `{"resourceType":"${type.name}","created":"${created}","lastModified":"${lastModified}","location":${location},"version":"W/\\"${record.version}\\""}`;
  return `{"id":"${record.id}",${record.text.slice(1, -1)}${extra},"meta":${meta}}`;
}

/** Applies the projection to the text of an answer. Without one it removes attributes with `returned: request` (RFC 7643 §7). */
function projected(type: ResourceType, text: string, projection: Projection | undefined): string {
  if (!projection && !type.hasRequestOnly) return text;
  return JSON.stringify(project(type, JSON.parse(text) as Resource, projection));
}

/** Returns the groups of a user as `extra` of `splice`. */
function groupsJson(groups: GroupName[], baseUrl: string): string {
  if (groups.length === 0) return '';
  const values = groups.map(({ id, displayName }) => ({
    value: id,
    $ref: `${baseUrl}/Groups/${id}`,
    display: displayName,
    type: 'direct',
  }));
  return `,"groups":${JSON.stringify(values)}`;
}

/**
 * Returns the members of a group as `extra` of `splice`. Identity providers expect `members` on every group, empty or not
 * (authentik skips additions without it).
 */
function membersJson({ users, unresolved }: GroupMemberValues, baseUrl: string): string {
  const address = JSON.stringify(`${baseUrl}/Users/`).slice(1, -1);
  // Concatenated text takes less memory than an object for each member. Ids are letters and digits and need no escaping.
  const members = [
    ...users.map((id) => `{"value":"${id}","$ref":"${address}${id}","type":"User"}`),
    ...unresolved.map((value) => `{"value":${JSON.stringify(value)}}`),
  ];
  return `,"members":[${members.join(',')}]`;
}

/** Returns the JSON text of a user in an answer. */
export function userText(
  type: ResourceType,
  record: StoredRecord,
  groups: GroupName[],
  baseUrl: string,
  projection?: Projection,
): string {
  return projected(type, splice(type, record, baseUrl, groupsJson(groups, baseUrl)), projection);
}

/** Returns the JSON text of a group in an answer. @param members undefined when the answer does not show them */
export function groupText(
  type: ResourceType,
  record: StoredRecord,
  members: GroupMemberValues | undefined,
  baseUrl: string,
  projection?: Projection,
): string {
  const extra = members ? membersJson(members, baseUrl) : '';
  return projected(type, splice(type, record, baseUrl, extra), projection);
}

/** Number of attempts of a write. An attempt fails when another write changed the version after its read. */
export const WRITE_ATTEMPTS = 100;

/** Creates the 404 for a resource. The message has the first 100 characters of the id. */
export const missing = (kind: Kind, id: string): Error =>
  notFound(`${kind} ${JSON.stringify(id.slice(0, 100))} not found.`);

/** Returns the stored text of a record. @throws 500 when the record is damaged */
export function soundText(kind: Kind, { id, text, damaged }: StoredRecord): string {
  if (!damaged) return text;
  throw new ScimError(
    500,
    `The stored ${kind} ${id} is damaged: send the whole resource with PUT to replace it.`,
  );
}

/**
 * Returns the stored resource before a PUT or PATCH. For a PUT a damaged resource counts as empty, because the PUT replaces it.
 * @throws 500 when the record is damaged and the method is PATCH
 */
export const resourceBefore = (kind: Kind, record: StoredRecord, method: Method): Resource =>
  record.damaged && method === 'put' ? { schemas: [] } : (JSON.parse(soundText(kind, record)) as Resource);

/** The state of a resource after a write. Times are Unix milliseconds. */
export interface StoredVersion {
  version: number;
  created: number;
  lastModified: number;
  groups: GroupName[];
}

/** Stands for the state after a removal, which stores nothing. Its answer shows no state. */
const REMOVED: StoredVersion = { version: 0, created: 0, lastModified: 0, groups: [] };

/**
 * Converts the outcome of a write.
 * @returns the stored state; undefined when the write must be repeated
 * @throws 404 missing, 409 uniqueness
 */
export function toStored(
  kind: Kind,
  id: string,
  outcome: PutOutcome | RemoveOutcome,
): StoredVersion | undefined {
  switch (outcome.kind) {
    case 'stored':
    case 'unchanged': {
      const { version, created, lastModified, groups } = outcome;
      return { version, created, lastModified, groups };
    }
    case 'removed':
      return REMOVED;
    case 'taken':
      throw uniqueness(`Another ${kind} has the same ${outcome.attribute}.`);
    case 'missing':
      throw missing(kind, id);
    case 'stale':
      return undefined;
    default:
      return never(outcome);
  }
}

/** Checks If-Match against the version of the record (RFC 7644 §3.14). @throws 412 for another version */
export function requireMatch(record: StoredRecord, { ifMatch }: RequestContext): void {
  if (ifMatch !== undefined && !matches(ifMatch, weakVersion(record.version))) {
    throw preconditionFailed(`The resource is at version ${weakVersion(record.version)}: read it again.`);
  }
}

/** Creates the 503, to be retried after 1 s, for too many concurrent writers of one resource; nothing was changed. */
export const contended = (): Error => unavailable('Too many parallel changes of this resource.', 1);

/** Marks a switch as exhaustive: the compiler refuses it when a case is missing. */
function never(value: never): never {
  throw new Error(`Unexpected case: ${JSON.stringify(value)}`);
}

/** Returns the ETag of a version. */
export function weakVersion(version: number): string {
  return `W/"${version}"`;
}

/**
 * Returns whether an `If-Match` or `If-None-Match` header names this version, by weak comparison, or is `*`. Returns
 * false without a header.
 */
export function matches(header: string | undefined, version: string): boolean {
  if (header === undefined) return false;
  const opaque = toOpaque(version);
  return header.split(',').some((item) => item.trim() === '*' || toOpaque(item) === opaque);
}

/** Returns the opaque part of an ETag: `5` for `W/"5"`. */
function toOpaque(tag: string): string {
  return tag
    .trim()
    .replace(/^W\//i, '')
    .replace(/^"(.*)"$/s, '$1');
}
