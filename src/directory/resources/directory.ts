// Desired state of one connection: what its identity provider wants, kept in Redis.
import type { Redis } from 'ioredis';
import { toGroupNames, type DirectoryOptions, type GroupName } from './changes.ts';
import { createGroupWrites } from './group-writes.ts';
import type { Keyspace } from '../keys.ts';
import { createReading } from './reading.ts';
import { fold, isSound, parseStored, type Kind, type StoredRecord } from '../records.ts';
import type { Scripts } from '../redis/scripts.ts';
import { createUserWrites } from './user-writes.ts';

export interface UserWithGroups {
  record: StoredRecord;
  groups: GroupName[];
}

export type GroupMembers =
  | {
      kind: 'listed';
      /** Ids. */
      users: string[];
      /** Values whose user is not there yet. */
      unresolved: string[];
    }
  | { kind: 'many'; count: number };

export interface Tombstone {
  kind: Kind;
  version: number;
  deletedAt: number;
}

/** One portion of users with their groups. */
const USERS_BYTES = 4 * 1024 * 1024;

const SELECTIVE = new Set([
  ...['User.id', 'User.username', 'User.emails.value', 'User.externalid'],
  ...['Group.id', 'Group.displayname', 'Group.externalid'],
]);

export type Directory = ReturnType<typeof createDirectory>;

export function createDirectory(
  deps: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: DirectoryOptions,
) {
  const { redis, scripts, keys } = deps;
  const records = (kind: Kind): string => keys.key(kind === 'User' ? 'users' : 'groups');

  /** A damaged record is answered too: it says so. */
  async function get(kind: Kind, id: string): Promise<StoredRecord | undefined> {
    const stored = await redis.hget(records(kind), id);
    return stored === null ? undefined : parseStored(id, stored);
  }

  /** Records in the given order, damaged ones too; ids that are gone are left out. */
  async function getMany(kind: Kind, ids: string[]): Promise<StoredRecord[]> {
    if (ids.length === 0) return [];
    const stored = await redis.hmget(records(kind), ...ids);
    return stored.flatMap((text, index) => (text === null ? [] : [parseStored(ids[index] ?? '', text)]));
  }

  /**
   * Ids of resources that may have the value, from an index; undefined where no index exists for the attribute.
   * `attribute` is a lower-case SCIM path such as `username`, `externalid`, `emails.value`, `displayname`.
   */
  async function lookup(kind: Kind, attribute: string, value: string): Promise<string[] | undefined> {
    const ids = async (family: string, field: string): Promise<string[]> =>
      (await redis.hget(keys.key(family), field))?.split(',') ?? [];
    switch (`${kind}.${attribute}`) {
      case 'User.id':
      case 'Group.id':
        return [value];
      case 'User.username':
        return ids('userNames', fold(value));
      case 'User.emails.value': {
        // A userName that is an address as well is in its own index only.
        const [named, others] = await Promise.all([
          ids('userNames', fold(value)),
          ids('emails', fold(value)),
        ]);
        return [...new Set([...named, ...others])];
      }
      case 'Group.displayname':
        return ids('displayNames', fold(value));
      case 'User.externalid': {
        const [first, others] = await Promise.all([
          ids('externalIds:User', value),
          ids('sharedExternalIds:User', value),
        ]);
        return [...first, ...others];
      }
      case 'Group.externalid':
        return ids('externalIds:Group', value);
      case 'User.groups.value':
        return redis.smembers(keys.key('members', value));
      case 'Group.members.value': {
        const [joined, waiting] = await Promise.all([
          ids('groupsOf', value),
          redis.smembers(keys.key('references', value)),
        ]);
        return [...new Set([...joined, ...waiting.map((each) => each.slice(0, each.indexOf(' ')))])];
      }
      default:
        return undefined;
    }
  }

  /** Whether `lookup` has an index for the attribute, in which few resources have the same value. */
  const findsFew = (kind: Kind, attribute: string): boolean => SELECTIVE.has(`${kind}.${attribute}`);

  const readUsers = async (by: { ids: string[]; groupsOnly?: boolean } | UniqueIndex): Promise<ReadUser[]> =>
    toUsers(await scripts.ask('read_users', keys.base, by), 'ids' in by ? by.ids : undefined);

  const withGroups = async (by: { ids: string[] } | UniqueIndex): Promise<UserWithGroups[]> =>
    (await readUsers(by)).filter((user): user is UserWithGroups => user.record !== undefined);

  /** Users with the groups they are in, damaged ones too, in one round trip; ids that are gone are left out. */
  const usersOf = (ids: string[]): Promise<UserWithGroups[]> => withGroups({ ids });

  /** The same in portions of at most USERS_BYTES; one user alone may have more. */
  async function* usersIn(ids: string[]): AsyncGenerator<UserWithGroups[]> {
    for (let at = 0; at < ids.length;) {
      const asked = ids.slice(at);
      const users = toUsers(
        await scripts.ask('read_users', keys.base, { ids: asked, bytes: USERS_BYTES }),
        asked,
      );
      at += users.length;
      yield users.filter((user): user is UserWithGroups => user.record !== undefined);
    }
  }

  /** Whether an externalId alone identifies a user: it is unique under the profile, and no two users have it from before. */
  const identifies = async (externalId: string): Promise<boolean> =>
    options.uniqueExternalIds === true &&
    ((await lookup('User', 'externalid', externalId)) ?? []).length <= 1;

  /** Ids of the users who hold a value: at most one, except for externalIds that a provider lets users share. */
  async function holderOf(attribute: string, value: string): Promise<UserWithGroups[] | undefined> {
    const index = uniqueIndex(attribute, value);
    // No stored name holds a lone surrogate, and JSON cannot carry one to the script.
    if (!index || /\p{Surrogate}/u.test(value)) return index && [];
    return (await withGroups(index)).filter(({ record }) => isSound(record));
  }

  /** The groups of each user, in the order of `ids`. */
  async function groupsOf(ids: string[]): Promise<GroupName[][]> {
    if (ids.length === 0) return [];
    return (await readUsers({ ids, groupsOnly: true })).map(({ groups }) => groups);
  }

  /** Member values of a group: ids of users, then values whose user is not there yet. */
  async function membersOf(group: string): Promise<{ users: string[]; unresolved: string[] }> {
    const [users, unresolved] = await Promise.all([
      redis.smembers(keys.key('members', group)),
      redis.hkeys(keys.key('unresolved', group)),
    ]);
    return { users, unresolved };
  }

  /** The same, or how many there are where they are more than `most`. */
  async function membersUpTo(group: string, most: number): Promise<GroupMembers> {
    const reply = await scripts.run('read_members', keys.base, { group, most });
    const [kind, first, unresolved] = reply as ['many', number] | ['listed', string[], string[]];
    return kind === 'many' ? { kind, count: first } : { kind, users: first, unresolved };
  }

  /** The tombstone of this id, with the time of deletion (Unix milliseconds); undefined for ids that were never deleted. */
  async function tombstone(id: string): Promise<Tombstone | undefined> {
    const found = await redis.hget(keys.key('tombstones'), id);
    return found === null ? undefined : (JSON.parse(found) as Tombstone);
  }

  const count = (kind: Kind): Promise<number> => redis.hlen(records(kind));

  return {
    ...createUserWrites(deps, options),
    ...createGroupWrites(deps, options, {
      versionOf: async (group) => (await get('Group', group))?.version,
      membersOf: async (group) => Object.values(await membersOf(group)).flat(),
    }),
    ...createReading(deps),
    /** Whether somebody is told of changes. */
    tellsEvents: options.events !== undefined,
    get,
    getMany,
    lookup,
    findsFew,
    identifies,
    usersOf,
    usersIn,
    holderOf,
    groupsOf,
    membersOf,
    membersUpTo,
    tombstone,
    count,
  };
}

interface ReadUser {
  record: StoredRecord | undefined;
  groups: GroupName[];
}

/** @param ids as they were asked for; absent where an index was */
function toUsers(lines: string, ids: string[] | undefined): ReadUser[] {
  const users: ReadUser[] = [];
  for (let at = 0; at < lines.length;) {
    const space = lines.indexOf(' ', at);
    const head = lines.indexOf('\n', space) + 1;
    const text = lines.indexOf('\n', head) + 1;
    const next = lines.indexOf('\n', text) + 1 || lines.length + 1;
    const id = ids?.[users.length] ?? lines.slice(at, space);
    users.push({
      record: text === head + 1 ? undefined : parseStored(id, lines.slice(head, next - 1)),
      groups: toGroupNames(lines.slice(space + 1, head - 1)),
    });
    at = next;
  }
  return users;
}

interface UniqueIndex {
  family: string;
  value: string;
  /** Where those are who share the value. */
  lookup?: string;
}

/** Attributes of users whose indexes alone decide an equality. */
function uniqueIndex(attribute: string, value: string): UniqueIndex | undefined {
  if (attribute === 'username') return { family: 'userNames', value: fold(value) };
  if (attribute === 'externalid')
    return { family: 'externalIds:User', value, lookup: 'sharedExternalIds:User' };
  return undefined;
}
