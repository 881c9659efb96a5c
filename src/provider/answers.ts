// Stored record → answer text. Without a projection nothing is parsed: the stored JSON is spliced.
import type { GroupName } from '../directory/resources/changes.ts';
import type { StoredRecord } from '../directory/records.ts';
import { project, weakVersion, type Projection, type Resource, type ResourceType } from '../scim/index.ts';

export interface Members {
  users: string[];
  unresolved: string[];
}

export const locationOf = (type: ResourceType, id: string, baseUrl: string): string =>
  `${baseUrl}${type.endpoint}/${id}`;

/** `extra` is what is kept outside the record: a user's groups or a group's members, as JSON with its key. */
function splice(type: ResourceType, record: StoredRecord, baseUrl: string, extra: string): string {
  const created = new Date(record.created).toISOString();
  const lastModified = new Date(record.lastModified).toISOString();
  const location = JSON.stringify(locationOf(type, record.id, baseUrl));
  const version = JSON.stringify(weakVersion(record.version));
  const meta = `{"resourceType":"${type.name}","created":"${created}","lastModified":"${lastModified}","location":${location},"version":${version}}`;
  return `{"id":"${record.id}",${record.text.slice(1, -1)}${extra},"meta":${meta}}`;
}

function projected(type: ResourceType, text: string, projection: Projection | undefined): string {
  if (!projection && !type.hides) return text;
  return JSON.stringify(project(type, JSON.parse(text) as Resource, projection));
}

const groupsJson = (groups: GroupName[], baseUrl: string): string =>
  groups.length === 0
    ? ''
    : `,"groups":${JSON.stringify(
        groups.map(({ id, displayName }) => ({
          value: id,
          $ref: `${baseUrl}/Groups/${id}`,
          display: displayName,
          type: 'direct',
        })),
      )}`;

/** Identity providers expect `members` on every group, empty or not (authentik skips additions without it). */
const membersJson = ({ users, unresolved }: Members, baseUrl: string): string =>
  `,"members":[${[
    ...users.map(memberJson(JSON.stringify(`${baseUrl}/Users/`).slice(0, -1))),
    ...unresolved.map((value) => `{"value":${JSON.stringify(value)}}`),
  ].join(',')}]`;

/** Ids are letters and digits. Groups have many members, and text that is put together takes less memory than objects. */
const memberJson =
  (refStart: string) =>
  (id: string): string =>
    `{"value":"${id}","$ref":${refStart}${id}","type":"User"}`;

export function userText(
  type: ResourceType,
  record: StoredRecord,
  groups: GroupName[],
  baseUrl: string,
  projection?: Projection,
): string {
  return projected(type, splice(type, record, baseUrl, groupsJson(groups, baseUrl)), projection);
}

/** @param members undefined when the answer does not show them */
export function groupText(
  type: ResourceType,
  record: StoredRecord,
  members: Members | undefined,
  baseUrl: string,
  projection?: Projection,
): string {
  const extra = members ? membersJson(members, baseUrl) : '';
  return projected(type, splice(type, record, baseUrl, extra), projection);
}
