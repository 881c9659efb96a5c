// Reads and writes the desired state of one connection: the users and groups of its identity provider.
import { toGroupNames, type DirectoryOptions, type GroupName } from './changes.ts';
import { createGroupWrites } from './group-writes.ts';
import { createReading } from './reading.ts';
import { createNameSearch } from './search.ts';
import { fold, isSound, parseStored, type Kind, type StoredRecord } from '../records.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { createUserWrites } from './user-writes.ts';

export interface UserWithGroups {
  record: StoredRecord;
  groups: GroupName[];
}

/** `many`: the group has more members than the caller takes. */
type GroupMembers =
  | {
      kind: 'listed';
      /** Ids of users. */
      users: string[];
      /** Member values without a user in the directory. */
      unresolved: string[];
    }
  | { kind: 'many'; count: number };

/** The stored fact that a resource was deleted. */
export interface Tombstone {
  kind: Kind;
  /** Last version of the record. */
  version: number;
  /** Unix milliseconds. */
  deletedAt: number;
}

/** Size of one portion of users with their groups. */
const USERS_BYTES = 4 * 1024 * 1024;

/** Indexes of memberships, which may find many resources; every other index finds few. */
const OF_MEMBERSHIPS = ['User.groups.value', 'Group.members.value'];

export type Directory = ReturnType<typeof createDirectory>;

export function createDirectory(deps: StoreDeps, options: DirectoryOptions) {
  const { redis, scripts, keys } = deps;
  const reading = createReading(deps);
  const records = (kind: Kind): string => keys.key(kind === 'User' ? 'users' : 'groups');

  /** Returns the record, also a damaged one; undefined when there is none. */
  async function get(kind: Kind, id: string): Promise<StoredRecord | undefined> {
    const stored = await redis.hget(records(kind), id);
    return stored === null ? undefined : parseStored(id, stored);
  }

  /** Returns the records in the given order, including damaged ones; unknown ids are left out. */
  async function getMany(kind: Kind, ids: string[]): Promise<StoredRecord[]> {
    if (ids.length === 0) return [];
    const stored = await redis.hmget(records(kind), ...ids);
    return stored.flatMap((text, index) => (text === null ? [] : [parseStored(ids[index] ?? '', text)]));
  }

  const ids = async (family: string, field: string): Promise<string[]> =>
    (await redis.hget(keys.key(family), field))?.split(',') ?? [];

  /** Returns the ids under a value in two indexes. */
  const idsInEither = async (one: string, other: string, field: string): Promise<string[]> => [
    ...new Set((await Promise.all([ids(one, field), ids(other, field)])).flat()),
  ];

  /** By kind and attribute: returns the ids that an index has under a value. */
  const indexes: Record<string, ((value: string) => Promise<string[]>) | undefined> = {
    'User.id': (id) => Promise.resolve([id]),
    'Group.id': (id) => Promise.resolve([id]),
    'User.username': (name) => ids('userNames', fold(name)),
    // An email address that equals the userName is only in the index of userNames.
    'User.emails.value': (address) => idsInEither('userNames', 'emails', fold(address)),
    'Group.displayname': (name) => ids('displayNames', fold(name)),
    'User.externalid': (value) => idsInEither('externalIds:User', 'sharedExternalIds:User', value),
    'Group.externalid': (value) => ids('externalIds:Group', value),
    'User.groups.value': (group) => redis.smembers(keys.key('members', group)),
    'Group.members.value': async (member) => {
      const [joined, waiting] = await Promise.all([
        ids('groupsOf', member),
        redis.smembers(keys.key('references', member)),
      ]);
      return [...new Set([...joined, ...waiting.map((each) => each.slice(0, each.indexOf(' ')))])];
    },
  };

  /**
   * Returns ids of resources that may have the value, from an index; undefined when the attribute has no index. An index
   * may ignore letter case, and that of userNames serves email addresses too, so the caller compares the values.
   * `attribute` is a lower-case SCIM path such as `username`, `externalid`, `emails.value`, `displayname`.
   */
  const lookup = async (kind: Kind, attribute: string, value: string): Promise<string[] | undefined> =>
    indexes[`${kind}.${attribute}`]?.(value);

  /** Returns whether the attribute has a selective index. */
  const findsFew = (kind: Kind, attribute: string): boolean => {
    const index = `${kind}.${attribute}`;
    return index in indexes && !OF_MEMBERSHIPS.includes(index);
  };

  /** Reads users with their groups, of `ids` at most `bytes`; `record` is undefined for an unknown id, and with `groupsOnly`. */
  const readUsers = async (
    by: { ids: string[]; groupsOnly?: boolean; bytes?: number } | UniqueIndex,
  ): Promise<ReadUser[]> =>
    toUsers(await scripts.ask('read_users', keys.base, by), 'ids' in by ? by.ids : undefined);

  const onlyStored = (users: ReadUser[]): UserWithGroups[] =>
    users.filter((user): user is UserWithGroups => user.record !== undefined);

  /** Returns users with their groups in one round trip, including damaged records; unknown ids are left out. */
  const usersOf = async (ids: string[]): Promise<UserWithGroups[]> => onlyStored(await readUsers({ ids }));

  /** Yields users with their groups in portions of at most USERS_BYTES, or of one larger user; unknown ids are left out. */
  async function* usersIn(ids: string[]): AsyncGenerator<UserWithGroups[]> {
    for (let at = 0; at < ids.length;) {
      const users = await readUsers({ ids: ids.slice(at), bytes: USERS_BYTES });
      at += users.length;
      yield onlyStored(users);
    }
  }

  /** Returns whether an externalId identifies one user: the profile makes it unique, and no two users share it already. */
  const identifies = async (externalId: string): Promise<boolean> =>
    options.uniqueExternalIds === true &&
    ((await lookup('User', 'externalid', externalId)) ?? []).length <= 1;

  /**
   * Returns the users with a value of a unique attribute: at most one, except for shared externalIds. Undefined: the
   * attribute has no unique index.
   */
  async function holderOf(attribute: string, value: string): Promise<UserWithGroups[] | undefined> {
    const index = uniqueIndex(attribute, value);
    if (!index) return undefined;
    // Stored names have no lone surrogates, so such a value matches no user.
    if (/\p{Surrogate}/u.test(value)) return [];
    return onlyStored(await readUsers(index)).filter(({ record }) => isSound(record));
  }

  /** Returns the groups of each user, in the order of `ids`. */
  async function groupsOf(ids: string[]): Promise<GroupName[][]> {
    if (ids.length === 0) return [];
    return (await readUsers({ ids, groupsOnly: true })).map(({ groups }) => groups);
  }

  /** Returns the members of a group: ids of users, and member values without a user. */
  async function membersOf(group: string): Promise<{ users: string[]; unresolved: string[] }> {
    const [users, unresolved] = await Promise.all([
      redis.smembers(keys.key('members', group)),
      redis.hkeys(keys.key('unresolved', group)),
    ]);
    return { users, unresolved };
  }

  /** Returns the members of a group, or only their count when there are more than `most`. */
  async function membersUpTo(group: string, most: number): Promise<GroupMembers> {
    const reply = await scripts.run('read_members', keys.base, { group, most });
    const [kind, first, unresolved] = reply as ['many', number] | ['listed', string[], string[]];
    return kind === 'many' ? { kind, count: first } : { kind, users: first, unresolved };
  }

  /** Returns the tombstone of a deleted resource; undefined when the id was never deleted. */
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
    ...reading,
    /** One step of a search by a part of a name (search.ts). */
    search: createNameSearch(deps, reading.portion).step,
    /** Whether security events are emitted. */
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

/**
 * Parses the reply of read_users.lua. Three lines for each user: `<id> <groups>`, the head of the record, the text of the record.
 * @param ids the requested ids, which the reply then leaves out and has in this order; undefined for a lookup by index
 */
function toUsers(lines: string, ids: string[] | undefined): ReadUser[] {
  const users: ReadUser[] = [];
  for (let at = 0; at < lines.length;) {
    const space = lines.indexOf(' ', at);
    const head = lines.indexOf('\n', space) + 1;
    const text = lines.indexOf('\n', head) + 1;
    // The last line has no line break; the end counts as one.
    const next = lines.indexOf('\n', text) + 1 || lines.length + 1;
    const id = ids?.[users.length] ?? lines.slice(at, space);
    users.push({
      // The head is empty for an unknown id, and if only the groups were read.
      record: text === head + 1 ? undefined : parseStored(id, lines.slice(head, next - 1)),
      groups: toGroupNames(lines.slice(space + 1, head - 1)),
    });
    at = next;
  }
  return users;
}

/** An index of a unique user attribute, and the value to look up. */
interface UniqueIndex {
  family: string;
  /** In the form of the index: folded for userNames. */
  value: string;
  /** Index of users that share the value. */
  lookup?: string;
}

/** Returns the index for an `eq` filter on a unique user attribute; undefined for other attributes. */
function uniqueIndex(attribute: string, value: string): UniqueIndex | undefined {
  if (attribute === 'username') return { family: 'userNames', value: fold(value) };
  if (attribute === 'externalid')
    return { family: 'externalIds:User', value, lookup: 'sharedExternalIds:User' };
  return undefined;
}
