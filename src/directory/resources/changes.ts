// Defines the changes that the directory stores, and their outcomes.
import {
  attributeOf,
  type GroupName,
  type IndexedResource,
  type Priority,
  toGroupNames,
} from '../records.ts';

export interface DirectoryOptions {
  /** Names of the targets at which changes leave marks. */
  targets: string[];
  /** Whether mapping rules read the groups of users: then a change of members or of a group's name marks the users too. */
  rulesReadGroups: boolean;
  /**
   * Security events to emit; undefined: none (lua/events.lua). `mostPending`: largest number of stored events. `externalIds`:
   * whether events contain them.
   */
  events?: { mostPending: number; externalIds: boolean } | undefined;
  /** Whether externalIds of users are unique, as under the profile `okta`. */
  uniqueExternalIds?: boolean | undefined;
}

/**
 * The outcome of a write. `taken` names the SCIM attribute whose value another resource has, and the id of that resource.
 * `stale`: the stored version is not the required one. `missing`: the resource is not stored.
 */
export type PutOutcome =
  | {
      kind: 'stored' | 'unchanged';
      version: number;
      /** Unix milliseconds. */
      created: number;
      /** Unix milliseconds. */
      lastModified: number;
      /** Groups of a user. */
      groups: GroupName[];
    }
  | { kind: 'taken'; attribute: string; holder: string }
  | { kind: 'stale' }
  | { kind: 'missing' };

/**
 * `text`: the stored text after the change. `absent`: an attribute has no value to replace, or the record is damaged; nothing was
 * changed.
 */
export type ReplaceOutcome = (PutOutcome & { text: string }) | { kind: 'absent' };

export type RemoveOutcome = { kind: 'removed' } | { kind: 'stale' } | { kind: 'missing' };

export type Method = 'put' | 'patch';

/** A new resource. The id of a user is unused; the id of a group may belong to a deleted group. */
export interface Creation {
  id: string;
  resource: IndexedResource;
  /** Canonical JSON of `resource`. */
  text: string;
  /** Unix milliseconds for meta.created and meta.lastModified. */
  now: number;
  /** Correlation id of the push. */
  request: string;
  /** Whether another user has the same externalId, and this user may have it too. */
  shared?: boolean;
}

/** A replacement of a resource. */
export interface Change extends Creation {
  /** Required version; undefined: no version check; 0 for a group: the group must not exist. */
  expected: number | undefined;
  /** Priority of the mark of a group; default: `new` for a new group, else `edit`. A script chooses that of a user. */
  priority?: Priority;
  /** Method of the request, for security events. */
  method?: Method;
}

/** New values for attributes with a single text or boolean, each of which has a value in the stored user already. */
export interface Replacement {
  id: string;
  /** By attribute name. */
  values: ReadonlyMap<string, string | boolean>;
  /** Unix milliseconds. */
  now: number;
  /** Correlation id of the push. */
  request: string;
}

/** A deletion of a resource. */
export interface Removal {
  id: string;
  /** Required version; undefined: no version check. */
  expected: number | undefined;
  /** Unix milliseconds. */
  now: number;
  /** Correlation id of the push. */
  request: string;
}

/** One change of a member set. `values` come from the provider: user ids, externalIds or userNames. */
export interface MemberStep {
  kind: 'add' | 'remove' | 'replace';
  values: string[];
}

/** Changes of the member set of a group. The `steps` are made in their order. */
export interface MemberChange {
  /** Id of the group. */
  id: string;
  /** Unix milliseconds. */
  now: number;
  /** Correlation id of the push. */
  request: string;
  steps: MemberStep[];
}

/**
 * Parses the reply of a put script: `stored` or `unchanged version created modified groups`, `taken family holder`, `stale`, or
 * `missing`.
 */
export function toPutOutcome(reply: string): PutOutcome {
  const [tag = '', ...values] = reply.split(' ', 4);
  switch (tag) {
    case 'stored':
    case 'unchanged': {
      const [version = 0, created = 0, lastModified = 0] = values.map(Number);
      // The groups follow the first four words.
      const groups = toGroupNames(reply.slice([tag, ...values, ''].join(' ').length));
      return { kind: tag, version, created, lastModified, groups };
    }
    case 'taken': {
      const [family = '', holder = ''] = values;
      return { kind: 'taken', attribute: attributeOf(family), holder };
    }
    case 'stale':
    case 'missing':
      return { kind: tag };
    default:
      throw new Error(`Unknown reply of a put script: ${tag}`);
  }
}
