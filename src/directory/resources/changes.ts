// Describes the changes that the directory takes, and their outcomes.
import { attributeOf, type IndexedResource, type Lane } from '../records.ts';

export interface DirectoryOptions {
  /** Names of the targets that must become equal to this connection. */
  targets: string[];
  /** Whether a mapped attribute or a scope depends on memberships, so that users change with their groups. */
  groupsMatter: boolean;
  /** The security events that receivers get; undefined = none (lua/telling.lua). */
  events?: { mostPending: number; externalIds: boolean } | undefined;
  /** An externalId means one person (profile `okta`); else several may have it. */
  uniqueExternalIds?: boolean | undefined;
}

export interface GroupName {
  id: string;
  displayName: string;
}

/** The outcome of a write. `taken` names the SCIM attribute whose value another resource holds. */
export type PutOutcome =
  | {
      kind: 'stored' | 'unchanged';
      version: number;
      created: number;
      lastModified: number;
      groups: GroupName[];
    }
  | { kind: 'taken'; attribute: string; holder: string }
  | { kind: 'stale' }
  | { kind: 'missing' };

/** `text` as it is stored now; `absent`: one of the attributes has no value that could be replaced. */
export type ReplaceOutcome = (PutOutcome & { text: string }) | { kind: 'absent' };

export type RemoveOutcome = { kind: 'removed' } | { kind: 'stale' } | { kind: 'missing' };

export type Method = 'put' | 'patch';

/** A resource that is new. The id of a user was made for it just now; a group's may have been used before. */
export interface Creation {
  id: string;
  resource: IndexedResource;
  /** Canonical JSON of `resource`. */
  text: string;
  /** Unix milliseconds for meta.created and meta.lastModified. */
  now: number;
  /** Correlation id of the push. */
  request: string;
  /** A user may have the externalId of another one. */
  shared?: boolean;
}

/** A resource as it shall be. */
export interface Change extends Creation {
  /** The version that must be there; undefined: whatever is there; 0, of a group: none. */
  expected: number | undefined;
  /** Of a group; absent: a new one is `new`, another `edit`. */
  lane?: Lane;
  /** How the client changed it, for security events; a creation tells itself. */
  method?: Method;
}

/** A user with other values for some plain attributes of the core schema, which it has already. */
export interface Replacement {
  id: string;
  values: ReadonlyMap<string, string | boolean>;
  now: number;
  request: string;
}

export interface Removal {
  id: string;
  /** The version that must be there; undefined: whatever is there. */
  expected: number | undefined;
  now: number;
  request: string;
}

/** One change of a member set; `values` are what the provider sent: user ids, or externalIds or userNames. */
export interface MemberStep {
  kind: 'add' | 'remove' | 'replace';
  values: string[];
}

export interface MemberChange {
  id: string;
  now: number;
  request: string;
  steps: MemberStep[];
}

/** JSON `[id, displayName, id, displayName, ...]` or nothing → groups in order of ids. */
export function toGroupNames(json: string): GroupName[] {
  if (json === '') return [];
  const pairs = JSON.parse(json) as string[];
  const groups: GroupName[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    groups.push({ id: pairs[index] ?? '', displayName: pairs[index + 1] ?? '' });
  }
  return groups.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** `tag value value value rest` */
export function toPutOutcome(reply: string): PutOutcome {
  const [tag = '', first = '', second = '', third = ''] = reply.split(' ', 4);
  switch (tag) {
    case 'stored':
    case 'unchanged':
      return {
        kind: tag,
        version: Number(first),
        created: Number(second),
        lastModified: Number(third),
        groups: toGroupNames(reply.slice(tag.length + first.length + second.length + third.length + 4)),
      };
    case 'taken':
      return { kind: 'taken', attribute: attributeOf(first), holder: second };
    case 'stale':
    case 'missing':
      return { kind: tag };
    default:
      throw new Error(`Unknown reply of a put script: ${tag}`);
  }
}
