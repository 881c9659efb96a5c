// Reads and writes the desired state of one connection: the users and groups of its identity provider. Here are the reads of
// single records, of members, and of ids by the indexes. user-reads.ts reads users with their groups, reading.ts whole lists,
// search.ts by a part of a name; user-writes.ts and group-writes.ts store changes.
import type { DirectoryOptions } from './changes.ts';
import { createGroupWrites } from './group-writes.ts';
import { createReading, IDS_AT_ONCE } from './reading.ts';
import { createNameSearch } from './search.ts';
import { fold, parseStored, type Kind, type StoredRecord } from '../records.ts';
import { readInPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { createUserReads } from './user-reads.ts';
import { createUserWrites } from './user-writes.ts';

/** Counts in place of the members of a group, which are more, or longer, than the caller takes. */
export interface ManyMembers {
  kind: 'many';
  /** Number of users. */
  users: number;
  /** Number of member values without a user. */
  unresolved: number;
  /** Bytes of the unresolved values as JSON text, estimated from a sample. */
  bytes: number;
}

type GroupMembers =
  | {
      kind: 'listed';
      /** Ids of users. */
      users: string[];
      /** Member values without a user in the directory. */
      unresolved: string[];
    }
  | ManyMembers;

/** The stored fact that a resource was deleted. */
export interface Tombstone {
  kind: Kind;
  /** Last version of the record. */
  version: number;
  /** Unix milliseconds. */
  deletedAt: number;
}

/** Indexes of memberships, which may find many resources. */
const OF_MEMBERSHIPS = ['User.groups.value', 'Group.members.value'];
/** Characters of the joined ids of about 100 users: an index that has more of them under a value finds many. */
const FEW_IDS = 2100;

/** Bytes for each member that the caller takes: if the member values without a user have more in total, only counts are read. */
const MEMBER_BYTES = 256;

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
    const stored = await readInPortions(ids, IDS_AT_ONCE, (portion) =>
      redis.hmget(records(kind), ...portion),
    );
    return stored.flatMap((text, index) => (text === null ? [] : [parseStored(ids[index] ?? '', text)]));
  }

  /** Returns those of the ids that have a record, without reading the records. */
  const existing = (kind: Kind, ids: string[]): Promise<string[]> =>
    readInPortions(ids, IDS_AT_ONCE, async (portion) => {
      const places = await redis.zmscore(keys.key('order', kind), ...portion);
      return portion.filter((_id, index) => places[index] !== null);
    });

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

  /** Returns whether the attribute has an index that finds few resources with the value. Many users may share some values. */
  async function findsFew(kind: Kind, attribute: string, value: string): Promise<boolean> {
    const index = `${kind}.${attribute}`;
    if (!(index in indexes) || OF_MEMBERSHIPS.includes(index)) return false;
    if (index === 'User.emails.value')
      return (await redis.hstrlen(keys.key('emails'), fold(value))) <= FEW_IDS;
    if (index === 'User.externalid')
      return (await redis.hstrlen(keys.key('sharedExternalIds:User'), value)) <= FEW_IDS;
    return true;
  }

  /** Returns whether an externalId identifies one user: the profile makes it unique, and no two users share it already. */
  const identifies = async (externalId: string): Promise<boolean> =>
    options.uniqueExternalIds === true &&
    ((await lookup('User', 'externalid', externalId)) ?? []).length <= 1;

  /** Returns the members of a group: ids of users, and member values without a user. */
  async function membersOf(group: string): Promise<{ users: string[]; unresolved: string[] }> {
    const [users, unresolved] = await Promise.all([
      redis.smembers(keys.key('members', group)),
      redis.hkeys(keys.key('unresolved', group)),
    ]);
    return { users, unresolved };
  }

  /** Returns the members of a group, or only their number when there are more than `most`, or their values are long. */
  async function membersUpTo(group: string, most: number): Promise<GroupMembers> {
    const reply = await scripts.run('read_members', keys.base, { group, most, bytes: most * MEMBER_BYTES });
    if (reply[0] === 'many') {
      const [, users, unresolved, bytes] = reply as [string, number, number, number];
      return { kind: 'many', users, unresolved, bytes };
    }
    const [, users, unresolved] = reply as unknown as [string, string[], string[]];
    return { kind: 'listed', users, unresolved };
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
    ...createUserReads(deps),
    /** One step of a search by a part of a name (search.ts). */
    search: createNameSearch(deps, reading.portion).step,
    /** Whether security events are emitted. */
    tellsEvents: options.events !== undefined,
    get,
    getMany,
    existing,
    lookup,
    findsFew,
    identifies,
    membersOf,
    membersUpTo,
    tombstone,
    count,
  };
}
